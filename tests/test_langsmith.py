"""LangSmith gets traces where its variables ask for them, without texts where these say so; else nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.collector import Collector
from tests.openai_server import OpenAIServer, Say

CANARY = "Zanzibar"
TALK = f"""
import tempfile
from pathlib import Path
from langchain_core.messages import HumanMessage
from langchain_core.tracers.langchain import wait_for_all_tracers
from langgraph.checkpoint.memory import InMemorySaver
from taskloom.agent.graph import Context, build_graph, default_services
from taskloom.agent.settings import Settings
from tests.scripted import services

def turns(graph, *said):
    for text in said:
        config = {{"configurable": {{"thread_id": "trip"}}}}
        context = Context(user_id="{CANARY} user")
        for _ in graph.stream({{"messages": [HumanMessage(text)]}}, config, context=context,
                              stream_mode=["messages", "values", "custom"]):
            pass

given = Settings(model="small", reader="model", replies="model", memory=False)
turns(build_graph(default_services(given), checkpointer=InMemorySaver()), "Plan a trip to {CANARY}")
turns(build_graph(services(), checkpointer=InMemorySaver()), "task {CANARY}", "crash {CANARY}")
wait_for_all_tracers()
"""
ON = {"LANGSMITH_TRACING": "true"}
HIDDEN = {**ON, "LANGSMITH_HIDE_INPUTS": "true", "LANGSMITH_HIDE_OUTPUTS": "true"}


@pytest.mark.parametrize("given", [{}, ON, HIDDEN], ids=["off", "on", "hidden"])
def test_only_what_is_asked_for_leaves(tmp_path: Path, given: dict[str, str]) -> None:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("LANGSMITH_", "LANGCHAIN_"))
    }
    answer = Say(f'{{"steps": [{{"act": "chat", "value": "{CANARY}"}}]}}')
    with Collector() as smith, OpenAIServer([answer]) as model:
        environment = {
            **kept, "OPENAI_BASE_URL": model.url, "TASKLOOM_HOME": str(tmp_path), "LANGSMITH_API_KEY": "any",
            "LANGSMITH_ENDPOINT": smith.url, "LANGSMITH_DISABLE_RUN_COMPRESSION": "true", **given,
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", TALK], capture_output=True, text=True, env=environment,
            cwd=Path(__file__).parent.parent, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert len(model.requests) > 0
        sent = smith.everything()
    assert (b"decompose" in sent) == bool(given)
    assert (CANARY.encode() in sent) == (given == ON)
