"""The catalogue of answers: what is said to a question, one entry each, with examples that are tests.

The files in `agent/replying` decide which answer fits and what its fields hold; what is said stands here.
"""

from __future__ import annotations

from .reply import Reply

# ---- nothing is known ---------------------------------------------------------------------------

EMPTY_PLAN = Reply("There is nothing in the plan yet.").shows("There is nothing in the plan yet.")
NOTHING_ABOUT = Reply("I have nothing about {about}.").shows(
    'I have nothing about "the ferry".', about='"the ferry"'
)
NOTHING_ABOUT_YET = Reply("I have nothing about {about} yet.").shows(
    'I have nothing about "the ferry" yet.', about='"the ferry"'
)
KNOWN = Reply("What I know of: {tasks}.").shows("What I know of: trip and party.", tasks=["trip", "party"])
KNOWN_WITH = Reply("What I know of: {tasks}, with {parts}.").shows(
    "What I know of: trip, with date and place.", tasks="trip", parts=["date", "place"]
)
NOTHING_BUT = Reply("I have nothing on that. What I know of: {tasks}.").shows(
    "I have nothing on that. What I know of: trip.", tasks=["trip"]
)
CANNOT_TELL = Reply("That I can't tell you: I only know what is in your plans.").shows(
    "That I can't tell you: I only know what is in your plans."
)
NO_RECORD = Reply("I have no record of {about}.").shows("I have no record of that.", about="that")

# ---- what the plan holds ------------------------------------------------------------------------

NOBODY_HAS = Reply("Nobody has {tasks} yet.").shows("Nobody has the soup yet.", tasks=["the soup"])
NO_SLOT = Reply("I have no {slot} for {tasks} yet.").shows(
    "I have no date for the trip yet.", slot="date", tasks=["the trip"]
)
MEMBERS_ARE = Reply("the {kind}{of_whole} are {members:20}").shows(
    "The guests of the party are Ann and Bo.", kind="guests", of_whole=" of the party", members=["Ann", "Bo"]
)
THAT_IS = Reply("that is {members:20}").shows("That is Ann and Friday.", members=["Ann", "Friday"])
ARE_IN = Reply("{tasks:20} are in {whole}").shows(
    "The milk and the tea are in the cart.", tasks=["the milk", "the tea"], whole="the cart"
)
RESPONSIBLE = Reply("{people} is responsible for {task}").shows(
    "Ann is responsible for the soup.", people=["Ann"], task="the soup"
)
RESPONSIBLE_ARE = Reply("{people} are responsible for {task}").shows(
    "You are responsible for the soup.", people=["you"], task="the soup"
)
NOTHING_IN = Reply("There is nothing in {wholes} yet.").shows(
    "There is nothing in the cart yet.", wholes=["the cart"]
)
THERE_ARE = Reply("There are {count}:").shows("There are 12:", count=12)
IN_ALL = Reply("{count} in all:").shows("12 in all:", count=12)
HEADING = Reply("{heading} ({count}):").shows("Still open (12):", heading="Still open", count=12)
UNDER_HEADING = Reply("{heading}: {text}").shows(
    "Trip: place Rome, date Friday.", heading="trip", text="place Rome, date Friday"
)
LISTED = Reply("{heading}: {entries:8}.").shows(
    "Still open: soup and salad.", heading="Still open", entries=["soup", "salad"]
)
NONE = Reply("None.").shows("None.")
NONE_ABOUT = Reply("None: I have nothing about {about}.").shows(
    'None: I have nothing about "tags".', about='"tags"'
)
COUNTED = Reply("{count}: {entries:8}.").shows("2: Ann and Bo.", count=2, entries=["Ann", "Bo"])

TOTAL = Reply("{total} in all: {entries:12}.").shows(
    "340 euros in all: cake 40 euros and band 300.",
    total="340 euros", entries=["cake 40 euros", "band 300"],
)  # fmt: skip

PRODUCT = Reply("{total} in all: {each} times {count}.").shows(
    "£180 in all: price £15 a ton times 12.", total="£180", each="price £15 a ton", count="12"
)
DIFFERENCE = Reply("{difference} is the difference: {entries}.").shows(
    "£60 is the difference: sales £100 and purchases £40.",
    difference="£60", entries=["sales £100", "purchases £40"],
)  # fmt: skip
NOT_SURE = Reply("I am not sure how {asked} that is.").shows(
    "I am not sure how many seats that is.", asked="many seats"
)
NOT_SURE_BUT = Reply("I am not sure how {asked} that is: what I know is {numbers:8}.").shows(
    "I am not sure how many seats that is: what I know is tables 6 and guests 40.",
    asked="many seats", numbers=["tables 6", "guests 40"],
)  # fmt: skip

NOT_SURE_THERE_ARE = Reply(
    "I am not sure how {asked} that is: there are {count} of what I have there, {entries:12}."
).shows(
    "I am not sure how many views that is: there are 2 of what I have there, patio and hall.",
    asked="many views", count=2, entries=["patio", "hall"],
)  # fmt: skip

# ---- how far it is ------------------------------------------------------------------------------

NOTHING_LEFT = Reply("Nothing is left to do.").shows("Nothing is left to do.")
NOTHING_NEXT = Reply("There is nothing to do next.").shows("There is nothing to do next.")
NEXT = Reply("Next: {task}.").shows("Next: soup.", task="soup")
ALSO_NEXT = Reply("You could also go on with {tasks:8}.").shows(
    "You could also go on with salad.", tasks=["salad"]
)
NEEDS = Reply("{task} {task:needs} {needed:20}").shows(
    "The soup needs the pot (open).", task="the soup", needed=["the pot (open)"]
)
NEEDS_NOTHING_ELSE = Reply("{task} {task:needs} nothing else").shows(
    "The soup needs nothing else.", task="the soup"
)
WAITS = Reply("{task} {task:waits} for {others:8}").shows(
    "The varnish waits for the pump.", task="the varnish", others=["the pump"]
)
STILL_WAITS = Reply("It still waits for {others:8}.").shows(
    "It still waits for the pump.", others=["the pump"]
)
WAITS_NO_MORE = Reply("It no longer waits for anything.").shows("It no longer waits for anything.")
NOTHING_DEPENDS = Reply("Nothing depends on {task}.").shows("Nothing depends on the soup.", task="the soup")
DEPEND = Reply("{tasks:20} {tasks:depends} on {task}").shows(
    "The soup and the salad depend on the pot.", tasks=["the soup", "the salad"], task="the pot"
)
NOTHING_IN_STATE = Reply("Nothing {is_so}.").shows("Nothing is done yet.", is_so="is done yet")
STATE = Reply("{opening}{task} {task:is} {state}").shows(
    "Yes, the soup is done (red).", opening="Yes, ", task="the soup", state="done (red)"
)
UP_TO_DATE = Reply("{task} {task:is} up to date{value}").shows(
    "The flights are up to date.", task="the flights", value=""
)
OUT_OF_DATE = Reply("{task} {task:is} out of date{value}: {causes} changed in turn {turn}").shows(
    "The flights are out of date (10:40): the date changed in turn 2.",
    task="the flights", value=" (10:40)", causes=["the date"], turn=2,
)  # fmt: skip

# ---- what was, and why --------------------------------------------------------------------------

STATES = Reply("{task}: {states}").shows(
    "The place: it was Rome (turn 1), now it is Bergen (since turn 2).",
    task="the place", states="it was Rome (turn 1), now it is Bergen (since turn 2)",
)  # fmt: skip
CHANGED = Reply("{task} changed {times}: {states}").shows(
    "The place changed once: it was Rome (turn 1), now it is Bergen (since turn 2).",
    task="the place", times="once", states="it was Rome (turn 1), now it is Bergen (since turn 2)",
)  # fmt: skip
NEVER_CHANGED = Reply("{task} {task:is} {value} and has not been changed").shows(
    "The place is Rome and has not been changed.", task="the place", value="Rome"
)
NO_VALUE_BEFORE = Reply("{task} had no other value before").shows(
    "The place had no other value before.", task="the place"
)
IT_WAS = Reply("it was {former}; now it is {now}").shows(
    "It was Rome (from turn 1); now it is Bergen.", former="Rome (from turn 1)", now="Bergen"
)
WAS = Reply("{task} {task:was} {former}; now it is {now}").shows(
    "The place was Rome (turn 1); now it is Bergen.", task="the place", former="Rome (turn 1)", now="Bergen"
)
BEFORE_TURN = Reply("before turn {turn} it was {former}; now it is {now}").shows(
    "Before turn 5 it was the solar panel; now it is the battery.",
    turn=5,
    former=["the solar panel"],
    now="the battery",
)
GROUP_UNCHANGED = Reply("it has not been changed: {now:20}").shows(
    "It has not been changed: Ann and Bo.", now=["Ann", "Bo"]
)
GROUP_WAS = Reply("at first (turn {turn}) it was {first:20}").shows(
    "At first (turn 1) it was Ann.", turn=1, first=["Ann"]
)
GROUP_WAS_NOW = Reply("at first (turn {turn}) it was {first:20}; now it is {now:20}").shows(
    "At first (turn 1) it was Ann; now it is Ann and Bo.", turn=1, first=["Ann"], now=["Ann", "Bo"]
)
SO_SINCE = Reply("{task} {task:has} been {value} since turn {turn}, and {task:was} not set before").shows(
    "The place has been Rome since turn 2, and was not set before.", task="the place", value="Rome", turn=2
)
YOU_SAID = Reply("in turn {turn} {cause}").shows(
    'In turn 2 you said: "make it Rome".', turn=2, cause='you said: "make it Rome"'
)
BECAUSE = Reply("Because in turn {turn} {cause}.").shows(
    'Because in turn 2 you said: "make it Rome".', turn=2, cause='you said: "make it Rome"'
)
NO_REASON = Reply("You did not say why.").shows("You did not say why.")
NO_REASON_BUT = Reply("You did not say why: in turn {turn} {cause}.").shows(
    'You did not say why: in turn 2 you said: "make it Rome".', turn=2, cause='you said: "make it Rome"'
)
SINCE_TURN = Reply("It has been so since turn {turn}.").shows("It has been so since turn 2.", turn=2)
IT_IS_NOW = Reply("it is {now} now; before that, it was {former}").shows(
    "It is fennel now; before that, it was celery.", now="fennel", former="celery"
)
IS_NOW = Reply("{task} {task:is} {now} now; before that, it {task:was} {former}").shows(
    "The place is Rome now; before that, it was Bergen.", task="the place", now="Rome", former="Bergen"
)
WAS_SPLIT = Reply("{task} was split in turn {turn}: {parts}").shows(
    "The meeting was split in turn 3: morning and evening.",
    task="the meeting",
    turn=3,
    parts="morning and evening",
)
ONE_NOW = Reply("It is one {task} now.").shows("It is one meeting now.", task="meeting")
ONE_NOW_WITH = Reply("It is one {task} now: {contents}.").shows(
    "It is one meeting now: date Friday.", task="meeting", contents="date Friday"
)
SPLIT_AND_MERGED = Reply(
    "It was split into {count} in turn {split} and merged again in turn {merged}."
).shows("It was split into 2 in turn 3 and merged again in turn 4.", count=2, split=3, merged=4)

# ---- whether a claim holds ----------------------------------------------------------------------

NOT_FROM_THE_START = Reply("No, not from the start: {claimed} came in turn {turn}").shows(
    "No, not from the start: fennel came in turn 6.", claimed="fennel", turn=6
)
NOT_FROM_THE_START_BUT = Reply(
    "No, not from the start: {claimed} came in turn {turn}; before that it was {former}"
).shows(
    "No, not from the start: fennel came in turn 6; before that it was celery.",
    claimed="fennel", turn=6, former=["celery"],
)  # fmt: skip
YES = Reply("Yes, {fact}{since}", "Yes, that's right: {fact}{since}").shows(
    "Yes, the date is Friday (since turn 1).", fact="the date is Friday", since=" (since turn 1)"
)
IT_IS = Reply("It is: {fact}{since}").shows("It is: the date is Friday.", fact="the date is Friday", since="")
IT_ONCE_WAS = Reply("{fact}{said}").shows(
    'Celery was in the soup from turn 2; in turn 6 it was replaced with fennel (you said: "use fennel").',
    fact="celery was in the soup from turn 2; in turn 6 it was replaced with fennel",
    said=' (you said: "use fennel")',
)
WAS_ONCE = Reply("Yes, {fact}", "Yes: {fact}").shows(
    "Yes, celery was in the soup.", fact="celery was in the soup"
)
NO_LONGER = Reply("Not any more: {fact}").shows(
    "Not any more: it was Rome; since then it is Bergen.", fact="it was Rome; since then it is Bergen"
)
RIGHT_NO_RECORD = Reply("Right, there is no record of {claimed}{end}").shows(
    "Right, there is no record of celery in the soup; there is fennel.",
    claimed="celery in the soup",
    end="; there is fennel",
)
NEVER_THERE = Reply("No, {claimed} was never {there}").shows(
    "No, celery was never in the cake.", claimed="celery", there="in the cake"
)
NEVER_THERE_BUT = Reply("No, {claimed} was never {there}: {now}").shows(
    "No, Rome was never the start: it is Bergen.", claimed="Rome", there="the start", now="it is Bergen"
)
NO_RECORD_OF = Reply("No, I have no record of {claimed}").shows(
    "No, I have no record of Sunday as the date.", claimed="Sunday as the date"
)
NO_RECORD_BUT = Reply("No, I have no record of {claimed}: {now}").shows(
    "No, I have no record of Sunday as the date: it is Saturday.",
    claimed="Sunday as the date",
    now="it is Saturday",
)
NO_RECORD_BUT_SAID = Reply(
    "No, I have no record of {claimed}: {now}; you mentioned it in turn {turn}: {words}"
).shows(
    'No, I have no record of Sunday: it is Saturday; you mentioned it in turn 2: "not Sunday".',
    claimed="Sunday", now="it is Saturday", turn=2, words='"not Sunday"',
)  # fmt: skip
ONLY_MENTIONED = Reply("{claimed} is not in the plan, but you mentioned it in turn {turn}: {words}").shows(
    'Celery is not in the plan, but you mentioned it in turn 2: "I like celery".',
    claimed="celery", turn=2, words='"I like celery"',
)  # fmt: skip
YOU_DID = Reply("You did{when}{said}").shows(
    'You did in turn 3: "drop the soup".', when=" in turn 3", said=': "drop the soup"'
)
YES_YOU_DID = Reply("Yes, you did{when}{said}").shows("Yes, you did in turn 3.", when=" in turn 3", said="")
RIGHT_YOU_DID_NOT = Reply("Right, there is no record of that{instead}").shows(
    "Right, there is no record of that; it is Rome.", instead="; it is Rome"
)
YOU_DID_NOT = Reply("No, there is no record of that{instead}").shows(
    "No, there is no record of that (celery in the soup).", instead=" (celery in the soup)"
)
