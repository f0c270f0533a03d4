"""The graph with its threads in PostgreSQL: `pip install 'taskloom[postgres]'`, then DATABASE_URL=postgresql://..."""

import os

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.postgres import PostgresSaver

from taskloom.agent.graph import build_graph, default_services
from taskloom.agent.state import Context


def main(url: str, *said: str) -> list[str]:
    """What is replied to each line; each is a process of its own as far as the database is concerned."""
    replies = []
    for line in said:
        with PostgresSaver.from_conn_string(url) as saver:
            saver.setup()
            taskloom = build_graph(default_services(), checkpointer=saver)
            result = taskloom.invoke(
                {"messages": [HumanMessage(line)]},
                {"configurable": {"thread_id": "trip"}},
                context=Context(user_id="ann"),
            )
            replies.append(result["turn"].reply)
    return replies


if __name__ == "__main__":
    lines = ("Plan a trip to Rome on June 10th", "When is the trip?")
    print(*main(os.environ["DATABASE_URL"], *lines), sep="\n")
