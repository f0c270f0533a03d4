"""A deep agent and a sub-agent that keep one plan: `pip install deepagents`, then MODEL=openai:gpt-5.5."""

import os
from typing import Any

from deepagents import SubAgent, create_deep_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from taskloom.agent.parts.middleware import TaskMemoryMiddleware


def main(model: Any, *said: str) -> list[Any]:
    """Say something to a new agent, line by line, and give the todo list that comes of it."""
    scout = SubAgent(
        name="scout",
        description="Finds things out. Name the task that its work belongs to by its id.",
        system_prompt="Find out what you are asked, with a plan of your own.",
        middleware=[TaskMemoryMiddleware()],
    )
    agent = create_deep_agent(
        model=model, middleware=[TaskMemoryMiddleware()], subagents=[scout], checkpointer=InMemorySaver()
    )
    result: dict[str, Any] = {}
    for line in said:
        result = agent.invoke({"messages": [HumanMessage(line)]}, {"configurable": {"thread_id": "trip"}})
        print(result["messages"][-1].text)
    return list(result["todos"])


if __name__ == "__main__":
    for todo in main(os.environ["MODEL"], "Plan a dinner for six on Friday.", "What is next?"):
        print(todo["id"], todo["status"], todo["content"])
