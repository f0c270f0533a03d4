"""The catalogue of clarifying questions: what is asked of a request in doubt, with examples that are tests.

The files in `agent/grounding` decide what is in doubt and what its options are; what is asked stands here.
"""

from __future__ import annotations

from .reply import Reply

# ---- which task, which slot ----------------------------------------------------------------------

NOT_FOUND = Reply("I do not find “{words}” in the plan. What do you mean?").shows(
    "I do not find “the ferry” in the plan. What do you mean?", words="the ferry"
)
AN_ERRAND = Reply("I do not find “{words}” in the plan. Is it something to do, to cancel that?").shows(
    "I do not find “the internet” in the plan. Is it something to do, to cancel that?", words="the internet"
)
NOT_FOUND_IN = Reply("I do not find “{words}” in {task}. What should go?").shows(
    "I do not find “celery” in the soup. What should go?", words="celery", task="the soup"
)
NOT_FOUND_TO_REPLACE = Reply("I do not find “{old}” in the plan. What should {new} take the place of?").shows(
    "I do not find “celery” in the plan. What should fennel take the place of?", old="celery", new="fennel"
)
NOT_FOUND_TO_CHANGE = Reply("I do not find “{words}” in the plan. What should change?").shows(
    "I do not find “dinner” in the plan. What should change?", words="dinner"
)
NOT_FOUND_TO_KEEP = Reply("What should stay: “{words}”?").shows(
    "What should stay: “the hall”?", words="the hall"
)
NO_SUCH_SLOT = Reply("There is no {slot} for {task}. What do you mean?").shows(
    "There is no date for the trip. What do you mean?", slot="date", task="the trip"
)
WHICH_ONE = Reply("Which one do you mean by “{words}”?").shows(
    "Which one do you mean by “the talk”?", words="the talk"
)
WHICH_OF_KIND = Reply("Which {slot} do you mean?").shows("Which date do you mean?", slot="date")
OF_WHICH_TASK = Reply("Which task is “{slot}” of?").shows("Which task is “date” of?", slot="date")
WHAT_BY_THAT = Reply("What do you mean by that?").shows("What do you mean by that?")
WHAT_DO_YOU_MEAN = Reply("What do you mean: {words}?").shows(
    "What do you mean: the other one?", words="the other one"
)

# ---- what a value is for -------------------------------------------------------------------------

WHAT_FOR = Reply("What is {values} for?").shows("What is Ann and Friday for?", values=["Ann", "Friday"])
WHAT_FOR_IN = Reply("What is {value} for {task}?").shows(
    "What is Friday for the trip?", value="Friday", task="the trip"
)
WHAT_SHOULD_BE = Reply("What should be {value}?").shows("What should be Friday?", value="Friday")
ADDED_TO_WHAT = Reply("What should {values} be added to?").shows(
    "What should milk and tea be added to?", values=["milk", "tea"]
)
ONLY_IN_WHICH = Reply("Which list should hold only that?").shows("Which list should hold only that?")
HOW_MANY_MORE = Reply("How many more {things}?").shows("How many more lids?", things="lids")
EXACT_AMOUNT = Reply("What is {value} {sign} {amount} exactly?").shows(
    "What is noon plus a bit exactly?", value="noon", sign="plus", amount="a bit"
)
WHAT_CHANGES = Reply("What of {task} should change?").shows(
    "What of the trip should change?", task="the trip"
)

# ---- what comes before what, and who does it -----------------------------------------------------

WAITS_FOR_WHAT = Reply("What should wait for what?").shows("What should wait for what?")
WAITS_FOR_NOTHING = Reply("{task} waits for nothing. What should it not wait for?").shows(
    "Soup waits for nothing. What should it not wait for?", task="soup"
)
WHO_DOES = Reply("Who should do {task}?").shows("Who should do the soup?", task="the soup")

# ---- what goes back ------------------------------------------------------------------------------

UNDO_THAT_TURN = Reply(
    "I have changed nothing since turn {turn}. Shall I take back what was changed then?"
).shows("I have changed nothing since turn 3. Shall I take back what was changed then?", turn=3)
NOTHING_TO_REDO = Reply("Nothing was undone, so there is nothing to redo. What should I change?").shows(
    "Nothing was undone, so there is nothing to redo. What should I change?"
)
WHAT_AGAIN = Reply("What should be {value} again?").shows("What should be Rome again?", value="Rome")
WHAT_GOES_BACK = Reply("What should go back to what it was?").shows("What should go back to what it was?")
NEVER_WAS = Reply("{task} never was {value}. Shall I set it to {value}?").shows(
    "The place never was Rome. Shall I set it to Rome?", task="the place", value="Rome"
)
NEVER_WAS_BUT = Reply(
    "{task} never was {value}. It was {former:6} before. Shall I set it to {value}?"
).shows(
    "The place never was Rome. It was Bergen and Oslo before. Shall I set it to Rome?",
    task="the place", value="Rome", former=["Bergen", "Oslo"],
)  # fmt: skip
