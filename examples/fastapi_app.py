"""Taskloom behind FastAPI: `pip install fastapi uvicorn`, then `uvicorn fastapi_app:app` in this folder."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPBearer
from pydantic import BaseModel

from taskloom.agent.graph.runs import ForeignThreadError
from taskloom.agent.state import Context
from taskloom.agent.threads import Taskloom

KEYS = {"key-of-ann": "ann", "key-of-bob": "bob"}  # yours are kept elsewhere


class Said(BaseModel):
    text: str


@asynccontextmanager
async def opened(app: FastAPI) -> AsyncIterator[None]:
    with Taskloom.open() as app.state.taskloom:
        yield


app = FastAPI(lifespan=opened)


@app.post("/threads/{thread}")
def talk(thread: str, said: Said, key: Annotated[object, Depends(HTTPBearer())]) -> str:
    if (user := KEYS.get(key.credentials)) is None:  # type: ignore[attr-defined]
        raise HTTPException(401)
    try:
        return app.state.taskloom.talk(said.text, thread=thread, context=Context(user_id=user)).reply
    except ForeignThreadError as error:
        raise HTTPException(404) from error
