"""A graph of your own that uses Taskloom's long-term memory of a user as its LangGraph store."""

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from taskloom.agent.graph import default_services
from taskloom.agent.parts.store import UserStore


class Desk(TypedDict, total=False):
    facts: list[str]
    question: str
    found: list[str]


def answer(desk: Desk, runtime: Runtime) -> Desk:
    facts = (*runtime.store.namespace, "facts")
    for number, text in enumerate(desk["facts"]):
        runtime.store.put(facts, f"desk-{number}", {"text": text})
    found = runtime.store.search(facts, query=desk["question"], limit=1)
    return {"found": [item.value["text"] for item in found]}


def main(user: str, facts: list[str], question: str) -> list[str]:
    """Remember facts of a user, and what is found then."""
    memory = default_services().memory
    try:
        graph = StateGraph(Desk).add_node(answer).add_edge(START, "answer")
        desk = graph.compile(store=UserStore(memory, user=user))
        return desk.invoke({"facts": facts, "question": question})["found"]
    finally:
        memory.close()


if __name__ == "__main__":
    told = ["Mia is allergic to nuts.", "Ben lives in Oslo."]
    print(*main("ann", told, "What can Mia not eat?"), sep="\n")
