"""An agent of LangChain that keeps a plan: `pip install 'taskloom[agents]'`, then MODEL=openai:gpt-5.5."""

import os
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from taskloom.agent.parts.middleware import TaskMemoryMiddleware


def main(model: Any, *said: str) -> list[Any]:
    """Say something to a new agent, line by line, and give the todo list that comes of it."""
    # services=default_services() (taskloom.agent.graph) has the plan follow what the user says, too.
    agent = create_agent(model, middleware=[TaskMemoryMiddleware(budget=600)], checkpointer=InMemorySaver())
    result: dict[str, Any] = {}
    for line in said:
        result = agent.invoke({"messages": [HumanMessage(line)]}, {"configurable": {"thread_id": "trip"}})
        print(result["messages"][-1].text)
    return list(result["todos"])


if __name__ == "__main__":
    for todo in main(os.environ["MODEL"], "Plan a dinner for six on Friday.", "What is next?"):
        print(todo["id"], todo["status"], todo["content"])
