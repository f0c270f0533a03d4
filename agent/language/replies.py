"""The catalogue of replies: one entry for each, with examples that are tests. Reword a reply here.

The files in `agent/replying` decide which reply fits and what its fields hold; what is said stands here.
"""

from __future__ import annotations

from .reply import Reply

# ---- what was done ------------------------------------------------------------------------------

ADDED = Reply("Added {tasks}.", "Noted {tasks}.").shows(
    "Added the soup and the salad.", tasks=["the soup", "the salad"]
)
ADDED_TO = Reply("Added {tasks} to {whole}.").shows(
    "Added Alice to the party.", tasks=["Alice"], whole="the party"
)
ADDED_WITH = Reply("Noted {task}: {contents}.", "Added {task}: {contents}.").shows(
    "Added the trip: destination Rome.", task="the trip", contents="destination Rome"
)
ADDED_SEVERAL = Reply("Noted: {entries}.").shows(
    "Noted: date Friday and place Rome.", entries=["date Friday", "place Rome"]
)
EXCHANGED = Reply("It is now {new} instead of {former}.").shows(
    "It is now the bus instead of train.", new="the bus", former="train"
)
RENAMED = Reply("It is now {task} (it was called {former}).").shows(
    "It is now the trip (it was called journey).", task="the trip", former="journey"
)
NOTED_AGAIN = Reply("{task}: noted again").shows("The soup: noted again.", task="the soup")
CHANGED_SEVERAL = Reply("Changed: {entries}.").shows(
    "Changed: date Friday (was Monday) and time 7 PM.", entries=["date Friday (was Monday)", "time 7 PM"]
)
REPLACED = Reply("Replaced {old} with {new}.").shows(
    "Replaced celery with fennel.", old="celery", new="fennel"
)
REPLACED_IN = Reply("Replaced {old} with {new} in {places}.").shows(
    "Replaced celery with fennel in the soup.", old="celery", new="fennel", places=["the soup"]
)
REPLACED_AWAY = Reply("Replaced {old}.").shows("Replaced celery.", old="celery")
REMOVED = Reply("Removed {tasks}.").shows("Removed the rope and the map.", tasks=["the rope", "the map"])
REMOVED_WHOLE = Reply("Removed {task} with {parts}.").shows(
    "Removed the menu with its one part.", task="the menu", parts="its one part"
)
CANCELLED = Reply("Cancelled {task} with {parts}.").shows(
    "Cancelled the trip with its 3 parts.", task="the trip", parts="its 3 parts"
)
PUT_ON_HOLD = Reply("Put {tasks} on hold.").shows("Put the trip on hold.", tasks=["the trip"])
PUT_WHOLE_ON_HOLD = Reply("Put {task} with {parts} on hold.").shows(
    "Put the trip with its 3 parts on hold.", task="the trip", parts="its 3 parts"
)
STAYS = Reply("{task} {noun:is} in the plan").shows("The rope is in the plan.", task="the rope", noun="rope")
STAYS_OUT = Reply("{task} {noun:is} out of the plan").shows(
    "The rope is out of the plan.", task="the rope", noun="rope"
)
OUT_AGAIN = Reply("{task} {noun:is} out of the plan again").shows(
    "The rope (blue) is out of the plan again.", task="the rope (blue)", noun="rope"
)
BACK = Reply("{tasks} {tasks:is} back in the plan").shows(
    "The rope and the map are back in the plan.", tasks=["the rope", "the map"]
)
BACK_ONE = Reply("{task} {noun:is} back in the plan").shows(
    "The rope is back in the plan.", task="the rope", noun="rope"
)
BACK_WITH = Reply("{task} {noun:is} back in the plan: {contents}").shows(
    "The trip is back in the plan: destination Rome.",
    task="the trip",
    noun="trip",
    contents="destination Rome",
)
OUT = Reply("{tasks} {tasks:is} out of the plan").shows("The rope is out of the plan.", tasks=["the rope"])
UNDONE = Reply("Undid that.").shows("Undid that.")
REDONE = Reply("Did that again.").shows("Did that again.")
AS_BEFORE = Reply("{count} tasks are as before: {entries}.").shows(
    "4 tasks are as before: date, time, place and host.", count=4, entries=["date", "time", "place", "host"]
)
SHARED = Reply("{tasks} {tasks:is} used in {whole} too").shows(
    "The celery is used in the salad too.", tasks=["the celery"], whole="the salad"
)
DEPENDS_NOW = Reply("{task} now {task:depends} on {needed}").shows(
    "The varnish now depends on the pump.", task="the varnish", needed=["the pump"]
)
DEPENDS_NO_LONGER = Reply("{task} no longer {task:depends} on {needed}").shows(
    "The walls no longer depend on the paint.", task="the walls", needed="the paint"
)
DONE = Reply("Marked {tasks} as done.", "Done: {tasks}.").shows("Done: the soup.", tasks=["the soup"])
CONFIRMED = Reply("Confirmed: {entries}.").shows(
    "Confirmed: place Rome and date Friday.", entries=["place Rome", "date Friday"]
)
DECLINED = Reply("All right, not {value}.").shows("All right, not $200.", value="$200")
DECLINED_FOR = Reply("All right, not {value} for {task}.").shows(
    "All right, not $200 for the budget.", value="$200", task="the budget"
)
DECLINED_SEVERAL = Reply("All right, without {entries}.").shows(
    "All right, without date Friday and time 7 PM.", entries=["date Friday", "time 7 PM"]
)
TAKEN_BACK = Reply("All right, I took that back for {task}.").shows(
    "All right, I took that back for the budget.", task="the budget"
)
SPLIT = Reply("Split {task}.").shows("Split the meeting.", task="the meeting")
SPLIT_INTO = Reply("Split {task} into {count} parts: {parts}.").shows(
    "Split the meeting into 2 parts: 1) morning: Ann; 2) evening: Bo.",
    task="the meeting", count=2, parts="1) morning: Ann; 2) evening: Bo",
)  # fmt: skip
MERGED = Reply("{task} {task:is} one again").shows("The meeting is one again.", task="the meeting")
MERGED_WITH = Reply("{task} {task:is} one again: {contents}").shows(
    "The meeting is one again: date Friday.", task="the meeting", contents="date Friday"
)
MORE_CHANGES = Reply("{changes} {changes:is} noted, too").shows(
    "3 more changes are noted, too.", changes="3 more changes"
)
LIST_NOW = Reply("Now in {whole}: {members}.").shows(
    "Now in the cart: milk and tea.", whole="the cart", members=["milk", "tea"]
)
LIST_EMPTY = Reply("Nothing is left in {whole}.").shows("Nothing is left in the cart.", whole="the cart")

# ---- what was not done, and what follows --------------------------------------------------------

REFUSED = Reply("I left that as it is: {why}", "Nothing changed there: {why}").shows(
    "Nothing changed there: there is nothing to undo.", why="there is nothing to undo"
)
REFUSED_BLANK = Reply("I did not get what that should be, so I left it as it is.").shows(
    "I did not get what that should be, so I left it as it is."
)
REFUSED_SIGNS = Reply("That has characters in it that I cannot keep, so I left it as it is.").shows(
    "That has characters in it that I cannot keep, so I left it as it is."
)
REFUSED_UNCLEAR = Reply("I could not do that, so I left it as it is. Could you say it in other words?").shows(
    "I could not do that, so I left it as it is. Could you say it in other words?"
)
MORE_REFUSED = Reply("{changes} {changes:was} not made either").shows(
    "One more change was not made either.", changes="one more change"
)
MAY_NEED_A_LOOK = Reply("{tasks} {tasks:depends} on {cause}; you may want to check {them}").shows(
    "The varnish depends on the pump; you may want to check it.",
    tasks=["the varnish"], cause="the pump", them="it",
)  # fmt: skip
CAN_GO_ON = Reply("You can go on with {tasks} now.").shows(
    "You can go on with the varnish now.", tasks=["the varnish"]
)

# ---- tools --------------------------------------------------------------------------------------

TOOL_GAVE = Reply("{lost}{title}: {result}").shows(
    "Flights: 10:40 to Rome.", lost="", title="flights", result="10:40 to Rome"
)
TOOL_FAILED = Reply("{lost}{tool} failed: {why}").shows(
    "Before I was interrupted: book seat failed: the time was up.",
    lost="Before I was interrupted: ", tool="book seat", why="the time was up",
)  # fmt: skip
TOOL_NOT_RUN = Reply("I did not {tool}: {why}").shows(
    "I did not book seat: you did not approve it.", tool="book seat", why="you did not approve it"
)
TOOL_UNKNOWN = Reply("{tool} ({title}): {why}").shows(
    "Book seat (seat): it was interrupted.",
    tool="book seat",
    title="seat",
    why="it was interrupted",
)

# ---- what is proposed and asked -----------------------------------------------------------------

SUGGESTED = Reply("{opening}: {entries:20}. Shall I keep these?").shows(
    "I suggest: place Rome and date Friday. Shall I keep these?",
    opening="I suggest", entries=["place Rome", "date Friday"],
)  # fmt: skip
SUGGESTED_ONE = Reply("{opening}: {entries:20}. Shall I keep that?").shows(
    "As earlier today, I suggest: place Rome. Shall I keep that?",
    opening="As earlier today, I suggest", entries=["place Rome"],
)  # fmt: skip
KEEP_THE_REST = Reply("Shall I keep the rest: {entries:20}?").shows(
    "Shall I keep the rest: place Rome?", entries=["place Rome"]
)
EARLIER = Reply("In an earlier session, {line}.").shows(
    "In an earlier session, the trip was to Rome.", line="the trip was to Rome"
)

# ---- small talk ---------------------------------------------------------------------------------

ALL_RIGHT = Reply("All right.").shows("All right.")
GOODBYE = Reply("Goodbye! Your tasks stay as they are.", "See you! I keep your tasks as they are.").shows(
    "Goodbye! Your tasks stay as they are."
)
WELCOME = Reply("You're welcome!", "You're welcome! Tell me when something changes.").shows("You're welcome!")
HELLO = Reply("Hello! What would you like to plan?", "Hello! What can I note for you?").shows(
    "Hello! What can I note for you?"
)
NOT_MY_PART = Reply("Nothing in your plan answers that; I only keep track of your tasks.").shows(
    "Nothing in your plan answers that; I only keep track of your tasks."
)
FINE = Reply("Fine, thank you! What can I note for you?").shows("Fine, thank you! What can I note for you?")
NOTHING_ON_YOUR_QUESTION = Reply("{line} I have nothing on your question.").shows(
    "You're welcome! I have nothing on your question.", line="You're welcome!"
)
NOTHING_ON_THAT = Reply("I have nothing on that.").shows("I have nothing on that.")
REMEMBERED = Reply("I will remember that.", "Noted, I will remember that.").shows("I will remember that.")
SO_ALREADY = Reply("That is how I have it already.").shows("That is how I have it already.")
NOTHING_CHANGED = Reply("All right. Your tasks are as they were.", "Okay. I changed nothing.").shows(
    "Okay. I changed nothing."
)
WHAT_TO_CHANGE = Reply(
    "I am not sure what you would like me to note or change. Could you put it in other words?"
).shows("I am not sure what you would like me to note or change. Could you put it in other words?")
