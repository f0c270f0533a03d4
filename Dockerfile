# The API on Aegra, an open server of LangGraph's protocol; compose.yaml has what it needs beside it.
FROM python:3.12-slim

WORKDIR /taskloom
COPY . .
RUN pip install --no-cache-dir -c constraints.txt '.[server,postgres,web]' aegra-cli==0.11.0 \
    && useradd --create-home taskloom && mkdir /data && chown taskloom /data

USER taskloom
# Of the C library's pools of memory, of which each thread may have one: what one lets go of another cannot use.
ENV TASKLOOM_HOME=/data MALLOC_ARENA_MAX=2
CMD ["aegra", "serve", "--host", "0.0.0.0", "--port", "2026", "-c", "aegra.json"]
