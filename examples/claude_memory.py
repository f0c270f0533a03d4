"""Claude's memory tool on files of Taskloom: `pip install 'taskloom[claude]'`, and a key of Anthropic's."""

import os

from anthropic import Anthropic

from taskloom.agent.parts.claude import ClaudeMemoryTool
from taskloom.agent.parts.kept_folder import kept_folder
from taskloom.agent.threads import Taskloom
from taskloom.agent.turn.state import Context


def main(client: Anthropic, model: str, said: str) -> str:
    """What Claude says to something, with the plan and the memory of a user at hand as files."""
    with Taskloom.open() as opened:
        opened.talk("Plan a trip to Rome on June 10th", thread="trip", context=Context(user_id="ann"))
        tool = ClaudeMemoryTool(kept_folder(opened, user="ann", thread="trip"))
        runner = client.beta.messages.tool_runner(
            model=model, max_tokens=1024, tools=[tool], messages=[{"role": "user", "content": said}]
        )
        return "".join(block.text for block in runner.until_done().content if block.type == "text")


if __name__ == "__main__":
    print(main(Anthropic(), os.environ["MODEL"], "When is my trip? Note that I like aisle seats."))
