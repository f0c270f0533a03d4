"""Words of English: verbs by what they ask for, slots by what they mean. Data only."""

from __future__ import annotations

import re
from functools import lru_cache
from threading import Lock

import snowballstemmer

_STEMMER, _STEMMING = snowballstemmer.stemmer("english"), Lock()

STOP = frozenset(
    """a an the this that these those my our your his her its their some any all both each every of to in on at
    for from with by as is are was were be been it i we you he she they me us him them and or but so do does did
    have has had will would should can could may might must shall not no yes please just now then there here about
    into out up down off over again still also too very really already one ones thing things what which who whom
    when where why how if than only much many s re ve ll d t m""".split()
)

# Slots that mean the same, by the word that names them here. The first of each row is the usual name.
SLOT_GROUPS: dict[str, tuple[str, ...]] = {
    "date": ("date", "day", "when", "departure date", "start date", "delivery date", "pickup date", "weekday"),
    "deadline": ("deadline", "due", "due date", "due by"),
    "time": ("time", "hour", "start time", "o'clock", "kickoff", "slot"),
    "start": ("start", "origin", "departure", "departing", "depart", "starting point", "from", "leaving",
              "departure city", "start city", "starting", "starting city", "departure point", "flying from"),
    "destination": ("destination", "to", "going", "arrival", "arrival city", "headed", "heading", "flying to"),
    "place": ("place", "venue", "where", "room", "at", "spot", "site"),
    "location": ("location", "city", "town"),
    "people": ("people", "participant", "participants", "attendee", "attendees", "guest", "guests", "who",
               "invitee", "invitees", "members", "member"),
    "assignee": ("assignee", "owner", "responsible", "in charge", "who"),
    "budget": ("budget", "amount", "cost", "price", "spending limit", "limit", "deposit", "rent", "fee"),
    "email": ("email", "e-mail", "mail", "email address", "e-mail address", "mail address"),
    "phone": ("phone", "telephone", "phone number", "telephone number", "mobile", "mobile number", "cell", "cell number",
              "number"),
    "name": ("name", "full name", "called", "title"),
    "address": ("address", "street address", "home address", "live", "mailing address"),
    "duration": ("duration", "length", "how long"),
    "hotel": ("hotel", "accommodation", "lodging", "stay", "staying"),
    "transport": ("transport", "transportation", "travel by"),
}  # fmt: skip


# Nouns of which a person plans a whole: the object of "plan a ...", "help me with a ...".
EVENTS = frozenset(
    """trip travel vacation holiday journey weekend wedding party birthday meeting call standup review sync interview
    workshop session training conference event dinner lunch brunch breakfast barbecue bbq picnic reception launch
    release project campaign move renovation relocation form application registration cart order list plan schedule
    tour festival fundraiser gala hike class lesson rehearsal practice concert exhibition tournament seminar offsite
    retreat shoot newsletter playlist menu recipe garden budget appointment agenda programme program itinerary visit
    checkup check-up reservation booking report presentation course bootcamp sprint roadmap presentation homecoming
    reunion ceremony anniversary housewarming potluck dinner onboarding thesis podcast blog website app website
    redesign relaunch panel hackathon webinar audit""".split()
)

# The events of these that other tasks are part of.
PROJECTS = frozenset(
    """trip travel vacation holiday journey weekend wedding party birthday conference event launch release project campaign
    move renovation relocation tour festival fundraiser gala tournament offsite retreat shoot newsletter garden thesis
    anniversary housewarming potluck onboarding website redesign relaunch app course ceremony reunion exhibition concert
    report presentation form application registration bootcamp sprint roadmap podcast blog hackathon workshop barbecue
    catering plan cart list order menu dinner homecoming reception celebration visit""".split()
)

CONTAINERS = frozenset(
    """cart basket list order bag playlist menu agenda itinerary plan programme program schedule todo to-do lineup
    line-up queue backlog registry checklist shopping groceries toppings ingredients guests guest party meeting
    channels stops items tasks steps topics""".split()
)

# Verbs that start something to do. Anything here also marks the start of a clause.
DO = frozenset(
    """add buy get order book reserve find search look plan organize organise schedule arrange prepare make cook bake
    write draft send email mail call phone ring text message contact ask tell remind invite pack bring clean wash chop
    peel slice dice cut mix stir boil fry roast grill paint plaster sand varnish build fix repair replace install set
    create start begin open design develop implement code test deploy ship release launch review check edit proofread
    update upgrade print copy scan fill file submit sign renew apply register enroll enrol pay rent hire interview
    train practice practise learn study read watch listen visit see tour go drive fly walk run hike swim ride take
    pick collect drop deliver return water feed plant mow trim weed harvest dig move carry load unload sort donate
    sell throw host celebrate decorate redecorate renovate remodel assemble hang measure research compare choose
    decide confirm cancel post publish upload download record film shoot edit rehearse sew knit crochet forward hire cancel mount forge bind laminate cut glue
    attach solder wire connect migrate configure monitor back sweep vacuum iron fold dust scrub tidy declutter
    announce negotiate translate transcribe summarize present demo prototype sketch draw model finalize finalise
    gather provide serve pour marinate season blend whip knead proof melt simmer steam toast garnish drain rinse
    soak grate crush squeeze put include need want use work do finish complete land arrive stay give hand have keep
    pitch seal prime tile grout lay pour varnish stain tune change cover reach recruit onboard brief book-keep
    transfer deposit withdraw fundraise sponsor nominate vote elect audit deliver ensure arrange notify cater
    photograph curate compile collate distribute label ship wrap seed prune rake mulch repot fertilize erect dismantle
    treat vaccinate groom exercise stretch jog cycle lift lose gain save invest claim dispute follow sync backup
    reschedule procure source screen shortlist offer map unpack label""".split()
)

PLAN = frozenset(
    "plan organize organise schedule arrange prepare throw host start create begin set make fill build do have put "
    "hold run launch open book register apply need want write".split()
)

REMOVE = (
    r"remove|delete|drop|take\s+off|take\s+out|take\s+away|get\s+rid\s+of|lose|skip|scratch|scrap|cross\s+off|cross\s+out|"
    r"strike|eliminate|exclude|leave\s+out|leave\s+off|uninvite|un-invite|disinvite|disregard|omit|kill|ditch|cut\s+out|cut|"
    r"forget\s+about|forget|cancel|call\s+off|pull|axe|nix|discard|erase|kick\s+out|toss|do\s+without|dump|clear"
)

CHAT = frozenset(
    """thanks thank thx ty cheers hello hi hey bye goodbye lol haha hahaha great cool nice awesome wow perfect
    wonderful lovely super brilliant ok okay k sure fine alright sweet yay ugh hmm oh good excellent amazing
    gotcha understood noted morning evening""".split()
)

MOODS = frozenset(
    """tired hungry happy sad excited bored sick busy late sorry kidding joking thinking wondering feeling hoping
    looking stressed exhausted nervous glad curious confused afraid beat sleepy thirsty cold hot freezing starving
    back home done fine good okay ok sure unsure ready here aware worried talking listening typing trying
    serious crazy lucky dying loving enjoying""".split()
)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The stem of one lower-case word."""
    with _STEMMING:  # it keeps the word it works on
        return str(_STEMMER.stemWord(word))


@lru_cache(maxsize=50_000)
def content(text: str) -> frozenset[str]:
    """The stems of the words of a text that carry meaning; numbers count."""
    tokens = re.findall(r"[\w@.+-]*[\w@]", text.lower().replace("'s", "").replace("_", " ").replace("'", ""))
    found = frozenset(stem(token) for token in tokens if token not in STOP)
    if not found and len(tokens) > 1 and re.fullmatch(r"(?:[A-Z][\w']*\s*)+", text.strip()):
        return frozenset(map(stem, tokens))  # a title: 'So What'
    return found


_ENDINGS = re.compile(r"(?:ations?|i?ons?|ures?|ments?|ances?|ences?|als?|ors?|ers?|ings?|ed|es|s|e)$")


@lru_cache(maxsize=16_384)
def one_stem(name: str, other: str) -> bool:
    """Whether two words are a verb and a noun of one stem of five letters or more: 'inspects', 'inspector'."""
    one, two = (_ENDINGS.sub("", word.strip().lower()) for word in (name, other))
    return one == two and len(one) > 4 and one.isalpha()


@lru_cache(maxsize=1)
def slot_words() -> dict[str, str]:
    """The group of each word or phrase that names a slot."""
    return {phrase: group for group, phrases in reversed(SLOT_GROUPS.items()) for phrase in phrases}


def slot_group(words: str) -> str | None:
    """The group that a slot name belongs to ('departure date' gives 'date'), or None."""
    table, words = slot_words(), words.lower().replace("_", " ").strip()
    if words in table:
        return table[words]
    parts = words.split()
    for size in (2, 1):
        if len(parts) > size and (tail := " ".join(parts[-size:])) in table and tail not in _WEAK:
            return table[tail]
    return None


_WEAK = frozenset(
    "to from at who where when going stay leaving starting live called due number title slot".split()
)


@lru_cache(maxsize=16_384)
def singular(noun: str) -> str:
    """The singular of an English plural noun phrase, by its last word ('iPhone cases' gives 'iPhone case')."""
    head, _, last = noun.rpartition(" ")
    lowered = last.lower()
    irregular = {"people": "person", "children": "child", "men": "man", "women": "woman", "knives": "knife",
                 "shelves": "shelf", "loaves": "loaf", "leaves": "leaf", "mice": "mouse", "feet": "foot", "scarves": "scarf", "wolves": "wolf", "halves": "half", "calves": "calf", "wives": "wife", "lives": "life", "hooves": "hoof"}  # fmt: skip
    if lowered in irregular:
        last = irregular[lowered]
    elif lowered.endswith("ies") and len(last) > 4:
        last = last[:-3] + "y"
    elif lowered.endswith(("sses", "shes", "ches", "xes", "zes")):
        last = last[:-2]
    elif lowered.endswith("s") and not lowered.endswith(("ss", "us", "is")):
        last = last[:-1]
    return f"{head} {last}".strip()


def infinitive(verb: str) -> str:
    """What somebody does, as a thing to do: 'packs' is 'pack', 'goes' is 'go'."""
    return {"does": "do", "goes": "go", "has": "have"}.get(verb.lower()) or singular(verb)


GENERIC = frozenset(
    [
        "list",
        "it",
        "there",
        "items",
        "tasks",
        "team",
        "people",
        "plan",
        "order",
        "guest",
        "guests",
        "participants",
        "attendees",
        "toppings",
        "panel",
    ]
) | {"the list", "guest list"}

PLAN_VERB = re.compile(
    r"^(?:help (?:me|us) (?:to |with )?)?(?:plan(?:ning)?(?: for)?|organi[sz](?:e|ing)|schedul(?:e|ing)|arrang(?:e|ing)|prepar(?:e|ing)(?: for)?|throw(?:ing)?|host(?:ing)?|"
    r"set(?:ting)? up|put(?:ting)? together|creat(?:e|ing)|start(?:ing)?|mak(?:e|ing)|build(?:ing)?|fill(?:ing)?(?: out| in)?|hav(?:e|ing)|hold|launch|register for|apply(?:ing)? for|working on|"
    r"new|begin|open|do|i need|we need|going on|going|coordinate|manage|run|get(?:ting)?)\s+(?:for\s+|with\s+)?(?:the |a |an |my |our |some )?",
    re.IGNORECASE,
)


@lru_cache(maxsize=16_384)
def slot_name(words: str) -> str:
    """A short, value-free slot name from the user's words."""
    words = re.sub(r"^(?:the|my|our|your|a|an|new|current)\s+", "", words.strip().lower())
    return re.sub(r"[^\w]+", "_", re.sub(r"'s?\b", "", words)).strip("_")[:40] or "item"


def kind_name(title: str) -> str:
    """A value-free name for a root: its event noun, else 'task'."""
    bare = PLAN_VERB.sub("", title)
    head = re.split(
        r"\s+(?:for|to|in|on|at|with|from|of|about|near|by|after|before|that|who|called)\s+|[,:(]",
        bare.lower(),
        maxsplit=1,
    )[0]
    last: list[str] = re.findall(r"[a-z-]+", head)[-1:]
    for word in (*last, *map(singular, last)):
        if word in EVENTS or word in CONTAINERS:
            return word.replace("-", "_")
    return "task"
