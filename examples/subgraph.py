"""Taskloom as a node of another graph, with a thread of its own inside of the host's; needs no model."""

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from taskloom.agent.graph import build_graph, default_services


class Desk(TypedDict, total=False):
    request: str
    reply: str


def main(*said: str) -> list[str]:
    """What is replied to each line."""
    taskloom = build_graph(default_services(), checkpointer=True)

    def plan(state: Desk) -> dict[str, str]:
        return {"reply": taskloom.invoke({"messages": [HumanMessage(state["request"])]})["turn"].reply}

    builder = StateGraph(Desk)
    builder.add_node("plan", plan)
    builder.add_edge(START, "plan")
    desk = builder.compile(checkpointer=InMemorySaver())
    return [desk.invoke({"request": line}, {"configurable": {"thread_id": "7"}})["reply"] for line in said]


if __name__ == "__main__":
    print(*main("Plan a trip to Rome on June 10th", "When is the trip?"), sep="\n")
