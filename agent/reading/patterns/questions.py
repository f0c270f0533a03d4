"""Questions in English: which kind, what about, and what they suppose. Pure text.

A question is read by the first row of `_FORMS` that it fits. The named groups of a pattern say where the
words stand: `about` (the task or slot), `wh` (what is asked of it: when, who, ...), `within` (the task that
a list is of), `value` (what is supposed). Questions that suppose something ("wasn't it Boston?", "did I ever
say so?") are taken apart by `_suppose`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from taskloom.agent.language import patterns as re
from taskloom.agent.language.wording import entries
from taskloom.agent.turn.steps import Asked, Step
from taskloom.memory.operations import QuestionKind

Act = Literal["add", "remove", "update", "replace", "complete"]


def _verbose(pattern: str) -> re.Pattern[str]:
    """A pattern of the tables: blanks are for the eye, `_` is space in the text, `_?` any or none."""
    return re.compile(pattern.replace("_?", r"\s*").replace("_", r"\s+"), re.IGNORECASE | re.VERBOSE)


# ---- words ----------------------------------------------------------------------------------------

_WH = "what|when|where|who|whom|whose|why|which|how"
_NOT = "is|are|was|were|do|does|did|has|have|had|wo|would|ca|could|should"
_I = "(?:i|we|you|they|he|she|it|there|one|us)"
_BE = "(?:is|are|was|were|be|been|'s|'re|s)"
_TELL = (
    "(?:tell|show|list|read|repeat|remind|name|give|display|print|recite|see|go_over|run|walk|describe"
    "|review)"
)
_SUM = "(?:summar\\w*|recap\\w*|overview|rundown|sum_up|sum_(?:it|this|that|everything|all)_up|round_up)"
_DATA = (
    "(?:information|info|details?|data|answers?|entries|form|application|registration|booking|profile|facts)"
)
_STILL = "(?:left|remaining|outstanding|missing|open|pending|unfinished|undone|lacking|incomplete|due|to_go)"
_DONE = "(?:finished|completed?|done|ready)"
_ONCE = (
    "(?:originally|initially|previously|formerly|before|earlier|at_(?:the_)?(?:very_)?(?:first|beginning|start)"
    "|in_the_(?:first_place|beginning)|to_begin_with|first|once|the_first_time|beforehand|back_then)"
)
_OLD = "(?:very_first|first|old|previous|former|original|initial|earlier|earliest|last)"
_SOME_TIME = "(?:ever|at_any_(?:point|time)|at_some_(?:point|time)|at_one_(?:point|time)|once)"
_ALWAYS = (
    "(?:from_the_(?:very_)?(?:start|beginning|outset|first)|all_along|always|since_the_(?:start|beginning))"
)

_LEAD = _verbose(
    rf"""^(?:(?:so|and|but|also|ok|okay|h+m+|well|oh|hey|sorry|wait|actually|please
        |quick_question)\b[\s,:-]*)+(?=\S)
    |^(?:do_you_(?:still_)?(?:know|remember|recall)|any_idea|(?:just_)?tell_me(?:_again)?
    |remind_me(?:_again)?,?
       |can_you_tell_me|could_you_tell_me|let_me_know|i_wonder|you_know|say|only|do_you_have|check_again|check
       |i(?:_am|'m)_wondering|i(?:'d|_would)_like_to_know|what_i_want_to_know_is)\b[\s,:]+
       (?:(?:if|whether)_|(?=(?:{_WH}|is|are|was|were|did|do|does|only)\b))"""
)
_TRAIL = _verbose(
    r"""(?:[\s,]+(?:again|please|pls|plz|exactly|so_far|at_the_moment|right_now|currently|now|nowadays
        |today_again|then
    |anyway|nothing_else|by_the_way|btw|for_me|actually|thanks|though|these_days|latest_values_only
    |before_i_\w+
    |as_(?:it|things)_stands?(?:_now)?|as_of_now|in_(?:a|one)_(?:sentence|list)))+$"""
)
_ARTICLE = _verbose(r"""^(?:the|my|our|your|a|an|any|some|for|in|on|of|about|to|at|with|that|this|these
                |those|all)_""")
_PRONOUN = _verbose(rf"""^(?:{_I}|that|this|those|these|them|everything|anything|something|stuff|things?
                |me|her|him)$""")
_NOISE = _verbose(
    rf"""\b(?:did|do|does|is|are|was|were|be|been|being|will|would|have|has|had|shall|should|can|could
        |{_I}|again|said
    |say|saying|pick|picked|choose|chosen|chose|called|made_(?:of|from|out_of)|set|decided?|down|have_down
    |as|agreed?_on|on_for|please|now|am
    |current|currently|to|exactly|going|got|get|give|gave|given|told|tell|want|wanted|put|that|(?<!['’])s
    |(?<!['’])re|still|then
    |actually|really|supposed|meant|used|need|happening|me|what|which|ended_up|need_to|my|our|it's|there)\b"""
)

_WH_SLOT = {
    "when": "when", "until when": "until", "till when": "until", "since when": "since", "from when": "since",
    "where": "where", "who": "who", "whom": "who", "whose": "who", "with whom": "who", "what time": "time",
    "which time": "time", "time": "time", "times": "time", "what day": "date", "what date": "date",
    "which day": "date", "which date": "date", "date": "date", "day": "date", "how long": "duration",
    "from where": "start", "where from": "start", "where to": "where", "how much": "amount",
    "how many": "count", "place": "where", "which place": "where", "what place": "where",
}  # fmt: skip
"""What a question word asks for. The values are the slots of a step that asks."""

_WH_WORDS = (
    "(?:(?:until|till|since|from|at|on|by)_)?(?:when|(?:what|which)_(?:time|day|date|place))|from_where|where_from|where_to|where|whom?|whose"
    "|how_(?:much|long|many)|time|date|place"
)

# ---- what a question looks like -------------------------------------------------------------------

_ASKS = _verbose(
    rf"""^(?:
      (?:{_WH})\b(?!\w*,_) | how_come\b | what's | whats\b | whos\b
    | (?:{_NOT})n'?t\b
    | (?:is|are|was|were|did|does|has|had)\b | am_i\b | (?:do|have|had)_{_I}\b | any_(?:idea|chance|news_on)\b
    | tell_(?:me|us)\b | show(?:_me|_us)?\b | list\b(?!_\w+_as\b) | remind_me(?:_(?:what|when|where|who
    |which|how|why|of|about|again)\b|,|$)
    | {_SUM}\b | repeat\b | read_(?:me|back|it|the|my|that|out|all|every\w*)\b | let_me_(?:see|know
    |have)\b | give_me\b
    | (?:quick|full|short|brief|final|complete)?\s*(?:recap|summary|overview|rundown|status)\b | status\b
    | (?:generate|create|produce|write|make)_(?:me_)?(?:an?|the|my)?_?(?:complete|full|final|quick|short
    |whole)?_?(?:\w+_)?
      (?:summary|overview|recap|rundown) | generate_(?:an?|the|my|me)_(?:complete_|full_
      |final_)?\w*\s?\w*(?:plan|list|itinerary)
    | double[- ]?check | go_over\b | (?:walk|run|talk)_me\b | confirm_(?:what|that|the|my|all)\b
    | review_(?:what|my|the|all)\b
    | print_(?:out_)?(?:the|my)_(?:whole_|full_|current_)?(?:list|plan|summary) | where_are_we
    | check_(?:if|whether|that|what|when|who|where|again)\b | name_(?:all|every|the)\b
    | anything_(?:else|left|still|open|missing)\b | help_(?:me_)?(?:to_|with_)?(?:repeat|recap
    |summari[sz]e|review|recall|remember|list)\w*
    | (?:full|whole|entire|complete|final)_[\w' -]*\b(?:plan|list|overview|schedule|itinerary)$
    | (?:next|now_what|what_now)$
    )"""
)
_STATES_A_TIME = _verbose(r"^(?:when|where|which|who|how|what)\b[^?]*,|^(?:when|where)_(?:the|we|i|you|it)_")
_TAGGED = _verbose(
    rf"""(?:,_(?:right|correct|yes|no|ok|true|huh|or_not)|\b(?:{_NOT})n'?t_(?:it|that|he|she|they|there|we
        |i|you)
    |,_(?:is|are|was|were|did|does|do|has|have|had)_(?:it|he|she|they|there|we|i)|am_i_right
    |is_that_(?:right|correct|so|true)
    |or_is_(?:it|that)(?:_not)?|or_not)$"""
)
_BELIEVES = (
    r"i(?:_|'m_|_am_|_was_|_could_have_)?_?(?:don't_|do_not_|didn't_)?(?:pretty_|quite_|fairly_|really_|still_|always_|just_)*"
    r"(?:think|thought|believed?|bet|sworn|sure|certain|remember|recall|assumed?|positive|convinced|under_the_impression)"
)
_OPINION = _verbose(rf"^{_BELIEVES}\b")
_PAST = _verbose(
    r"""\b(?:never|ever|was|were|wasn'?t|weren'?t|had|said|did|didn'?t|used_to|originally|always|hadn'?t
        |from_the_start)\b"""
)
_FIRM = _verbose(r"^i_(?:thought|could_have_sworn|was_sure|remember|recall|assumed|believed|was_certain)\b")


def is_question(core: str, question: bool) -> bool:
    """Whether a clause asks, by its mark, its first word, or an imperative of telling."""
    if _ASKS.search(core):
        return question or not _STATES_A_TIME.search(core)
    if _TAGGED.search(core):
        return True
    if _OPINION.search(core):
        return bool(_PAST.search(core) or _FIRM.search(core))
    return question


# ---- the kinds ------------------------------------------------------------------------------------

_ITEMS = "(?:item|thing|one|task|to-?do|chore|step|part|ingredient|name|(?:\\w+_)?\\w+s|people|stuff)"

_OUTDATED = r"(?:out[_-]of[_-]date|outdated|stale|obsolete|(?:no_longer|not)_(?:right|valid|current|correct|true|up_to_date)(?:_any_?more)?)"
_NAMED_STATES = (("done", "done"), ("gone", "removed"), ("held", "inactive"), ("stale", "stale"))

_TABLE: tuple[tuple[QuestionKind, str], ...] = (
    ("value", r"^(?P<about>(?:the|my|our)_.+?)_(?:is|are|was)$"),
    # ---- what changed, and why
    ("history", r"^(?:has|have|did)_(?P<about>.+?)_(?:been_)?change[d]?(?:_.*)?$"),
    ("history", rf"""^(?:how|when)_(?:did|has|have|was|were)_(?:{_I}_)?(?:(?P<about>.+?)_)?change[d]?
        (?:_(?P<within>.+))?$"""),
    ("history", r"^(?:\w+_)*?(?:the_)?(?:history|changes)_(?:of|to|for|in)_(?P<about>.+)$"),
    ("status", r"""^(?:what(?:'s|_is)_)?(?:the_)?(?:status|state|progress)_(?:of|on|with
        |for)_(?P<about>.+)$"""),
    ("history", rf"""^(?:what|which)_(?P<about>(?:\w+_)?\w+s)_(?:did|have|had)_{_I}_(?:ever_|already_
        |all_)?(?:consider|discuss|try|look_at|talk_about|go_through)\w*\b.*"""),
    ("list", rf"""^{_TELL}(?:_me|_us|_back|_out)*_(?:everything|all_that_is|all|whatever|what_is
        |what's)_(?:that_is_|that's_|is_)?(?:used_|needed_|required_|listed_|planned_
        |included_)?(?:for|in|on)_(?P<within>.+)"""),
    ("why", r"""^(?:why|how_come|what_for|for_what_reason|what(?:'s|_is|_was)_the_reason(?:_for|_that
        |_why)?)\b(?P<about>.*)"""),
    # ---- next
    ("next", rf"""^(?:and_)?(?:what(?:'s|_is|_comes|_do_{_I}(?:_(?:need|have)_to)?_do
        |_should_{_I}_(?:do|tackle|start)|_to_do|_can_{_I}_do
        |_happens)?_(?:up_)?(?:the_)?(?:very_)?(?:next|first)(?:_(?:step|task|thing|one|up
        |on_the_list|to_do))?|what_now|now_what|next(?:_(?:step|up|task|thing|one))?(?:_to_do)?)$"""),
    ("next", rf"^where_(?:do|should|shall|can)_{_I}_(?:start|begin)"),
    ("next", rf"""^(?:what|which|where)\b.*\b(?:can|should|could|shall|do|must
        |need)_{_I}\b.*\b(?:start|begin|work_on|tackle|do|go_on|continue)(?:_with|_on
        |_to_do)?(?:_(?:next|first|now|already|right_now|with))*$(?<=next|irst|with|eady)"""),
    ("next", rf"^(?:what|which)\b.*\bcan_{_I}_(?:start|begin|tackle|work_on)\b"),
    ("next", rf"^what_do_{_I}_(?:have|need)_to_do_first"),
    # ---- what is done, what is gone
    ("status", rf"""\b(?:what|which|anything|all|only|just|everything|list|show
        |tell)\b.*\b(?P<done>finished|completed|been_done|(?:(?:is|are|was|were)(?:_already)?
        |'s)_done|did_{_I}_(?:finish|complete|do)|have_{_I}_(?:already_)?(?:done|got_done)
        |already_done)\b"""),
    ("status", rf"""^(?:what|which|who)(?:_\w+)?_(?:did|have|has|had|was|were|is|are)_(?:{_I}_
        |been_)*(?:already_)?(?P<gone>removed?|deleted?|dropp?(?:ed)?|cancel\w*|thr[oe]wn?_(?:out
        |away)|tak(?:e|en)_(?:off|out|away)|took_(?:off|out)|discard\w*|ditch\w*|scratch\w*
        |kick(?:ed)?_out|crossed?_(?:off|out)|cut|uninvited?|le(?:ave|ft)_out|get_rid_of
        |got_rid_of)\b(?:_(?:from|off|of|out_of)_(?P<within>.+))?"""),
    ("status", r"^what(?:'s|_is)_(?P<held>on_hold|paused|parked)"),
    ("status", rf"""^(?:what(?:'s|_is|_are|_has_(?:become|got))?|which(?:_\w+){{0,3}}_(?:is|are|has_become|have_become)
        |is_(?:there_)?(?:any|some)thing|are_(?:there_)?any(?:_\w+)?|does_anything_look|list_(?:everything|all|what)_(?:that_)?is)_
        (?:all_|now_|still_|already_|that_is_)*(?P<stale>{_OUTDATED})"""),
    # ---- what is left
    ("left", rf"""^(?!(?:is|was|are|isn'?t|aren'?t|wasn'?t|weren'?t|were|why|when
        |where)_(?!there\b|anything\b|any\b|the_only)).*?
                 (?:\bwhat(?:'s|_is|_are|'re)?_(?:else_is_|all_is_
                 |_is_)?(?:still_)?(?:not_(?:yet_)?\w+(?:_yet)?$|not_done|{_STILL}|to_be_done|still\b)
                 |\bwhat_remains|\bwhat_else_(?:is|do|needs?|must|should|has|have)
                 |\b(?:still|yet)_(?:{_I}_)?(?:have_to|has_to|need_to|must|to_(?!be_in\b)\w+
                 |needs?_to(?:_be)?|{_STILL})
                 |\b(?:are|is|'s|not)_(?:still_)?(?:there_)?(?:any\w*_)?(?:still_)?(?:left|open
                 |outstanding|unfinished|pending|remaining)\b
                 |^(?:is_there_)?anything_(?:else|left|still|open|missing)|\bwhat_haven'?t|\b(?:which|who
                 |what)\b.*\bhaven'?t_{_I}
                 |\bwhat_(?:do|must|should|does)_{_I}_still
                 |\bleft_to_\w+|\bstill_(?:on_my_plate|undone)|\b(?:is|are)_there_(?:anything|something
                 |things)_(?:else|left|still)
                 |\bwhat(?:_\w+)?_isn'?t_\w+(?:_yet)?$|\bto_do_list\b|\bopen_(?:tasks|items|points|to-?dos
                 |issues)\b|\bunfinished\b)
                 (?:.*?\b(?:for|in|on|with|from|of)_(?P<within>(?!(?:it|that|my_plate|my_list|this|all
                 |them|me)$)[\w'’\s-]+?)|.*)$"""),
    # ---- what rests on what
    ("dependents", r"""^what(?:_all|_else)?_(?:depends|relies|hinges|rests|is_waiting|waits
        |builds)_(?:up)?(?:on|for)_(?P<about>.+)"""),
    ("dependents", r"""^(?:what|which|who)\b.*?\b(?:affected|impacted|blocked|held_up)_(?:by|if
        |when)_(?P<about>.+?)(?:_(?:is|are|changes?|slips?|moves?|gets?)\b.*)?$"""),
    ("dependents", r"""^(?:if|when)_(?P<about>.+?)_(?:is|are|gets?|slips?|changes?|moves?|fails?
        |runs?|falls?)\b.*\bwhat_(?:does|would|will|else|is)\b.*"""),
    ("dependents", r"""^what_(?:does|would|will|do)_(?P<about>.+?)_(?:affect|block|impact|hold_up
        |unblock|influence)\b.*"""),
    ("dependents", r"""^(?:what|which)_(?:happens|changes)_if_(?P<about>.+?)_(?:is|are|changes?
        |slips?|moves?|gets?|fails?|runs?|isn't|aren't|can't|don't|doesn't|falls?)\b.*"""),
    ("dependents", r"""^(?:what|which)\s?(?:(?!time|day|date)\w+_)?(?:else_)?(?:uses?|needs?
        |requires?|contains?|includes?)_(?!to_)(?P<about>.+)"""),
    ("dependents", r"^what_(?:comes|happens|is|can_be_done|can_i_do)_after_(?P<about>.+)"),
    ("needs", rf"""^what_(?:do|does|did|will)_(?P<about>(?!{_I}_).+?)_(?:need|require|depend_on
        |rely_on|wait_(?:for|on)|rest_on|take|involve)(?:_(?:before|first|to)\b.*)?$"""),
    ("needs", r"""^what(?:'s|_is|_are)_(?P<about>.+?)_(?:waiting_(?:for|on)|blocked_by|depending_on
        |dependent_on|held_up_by)\b.*"""),
    ("needs", r"""^what_(?:needs?|has|have|must|should)_(?:to_)?(?:\w+_)*?(?:first_)?(?:before|for
        |prior_to)_(?P<about>.+)"""),
    ("needs", rf"""^what_(?:do|must|should|does|did)_{_I}_(?:still_)?(?:need|require|have_to_do|finish
        |do|get|have|want)_(?:to_\w+_)?(?:for|before)_(?P<about>.+)"""),
    ("needs", r"^what(?:'s|_is)_(?:blocking|holding_up|stopping|delaying)_(?P<about>.+)"),
    ("needs", r"^what(?:'s|_is|_are)_(?:needed|required|necessary)_(?:for|before)_(?P<about>.+)"),
    ("needs", r"^what_(?:comes|goes|happens)_(?:first_)?(?:before|ahead_of)_(?P<about>.+)"),
    ("needs", r"""^what(?:_are|'re|_is|'s)_the_(?:prerequisites?|requirements?|dependenc(?:y
        |ies))_(?:of|for)_(?P<about>.+)"""),
    # ---- summaries
    ("summary", rf"""^(?:help_(?:me_)?(?:to_|with_)?)?(?:repeat|read_back|confirm|go_over|review
        |recite|show|tell|give|check|list|recap|read)\w*_(?:me_)?(?:all_|back_|everything_)?(?:of_
        |in_)?(?:my|the|our)?\s?(?:filled[- ]in_|filled[- ]out_|full_|complete_|whole_|personal_
        |current_)?{_DATA}\b.*"""),
    ("summary", rf"(?:{_SUM})_(?:for_me_)?(?:of_|for_|about_|on_|with_)?(?P<about>.+)?"),
    ("summary", rf"(?:{_SUM})$"),
    ("summary", r"""^(?:(?:can_i_|let_me_)?(?:see|have|hear)|give_me|show_me|show|read_me|read
        |tell_me|generate|print|what(?:'s|_is)|how_does|what_does|go_over
        |confirm)?[\s]*(?:me_)?(?:the|my|our|a|an)?\s?(?:full|whole|entire|complete|final|current
        |overall)?\s?(?P<about>[\w'’ -]*?)\s?(?:plan|itinerary|situation|setup|state)\b(?:_(?:look
        |for|of|so_far|like|with)\b.*)?$"""),
    ("summary", r"""^(?:what(?:'s|_is)|show_me|give_me|tell_me)_(?:the|my|our)_(?:whole|full|entire
        |complete)_(?P<about>[\w'’ -]+)$"""),
    ("summary", r"""^(?:full|whole|entire|complete|final)_(?P<about>[\w'’ -]*?)\s?(?:plan|list
        |overview|schedule|itinerary)$"""),
    ("summary", r"""^(?:where|how)_(?:do_|are_)?(?:we|things)(?:_stand(?:ing)?)?(?:_(?:with
        |on)_(?P<about>.+))?$|^status(?:_(?:update|report))?(?:_(?:on|of|for)_.+)?$"""),
    ("summary", r"""\b(?:read|repeat|tell|give|show|list|know|say)\b.*\beverything\b(?:_(?:back
        |you_\w+|to_me|i_\w+|we_\w+|about_me))*(?:_(?:about|on|for)_(?P<about>(?!me$).+))?$"""),
    ("summary", rf"""^what_(?:do|have)_{_I}_(?:got|have|know|told|given|planned|decided|entered|noted
        |written)(?:_(?:so_far|down|noted|about_me|planned|decided|you|already))*$"""),
    ("summary", r"^what_does_(?:the|my|our)_(?P<about>.+?)_(?:say|contain|look_like|include)$"),
    ("summary", r"""^(?:what(?:'s|_is|_does)|show_me|give_me|tell_me)_(?:the|my
        |our)_(?:\w+_)?(?:programme|program|agenda|schedule|itinerary|line-?up
        |timeline)\b(?:_(?:look_like|for|of|on)\b_?(?P<about>.*))?$"""),
    ("summary", r"^(?:everything|all_of_it|(?:all|both)_(?:the|my)_details)$"),
    # ---- numbers
    ("count", r"^how_many_(?P<about>.+)"),
    ("count", r"^(?:what(?:'s|_is)_)?the_number_of_(?P<about>.+)"),
    # ---- lists
    ("list", r"""^whos?(?:'s|_is|_are|_does|_do|_has|_takes|_brings)?_(?:doing_|taking_|bringing_|on_
        |at_|in_)?(?P<wh>what|where|which\b.*|when)$"""),
    ("list", r"""^(?:what|which)(?P<about>_\w+)?(?:'s|_is|_are|'re|_all_is|_all)?_(?:all_
        |still_)?(?:go(?:es)?|went|belongs?|comes?|used)_(?:in|into|inside|on|onto|with
        |to)_(?P<within>.+)"""),
    ("list", rf"""^(?:what|which(?P<about>_\w+)?)(?:'s|_is|_are|'re|_do_{_I}_have|_have_{_I}_got
        |_would_be|_will_be|_should_be|s)?_?(?:everything_|all_)?(?:still_|currently_|now_
        |all_)*(?:used_|included_|listed_)?(?:in|on|inside|part_of)(?:side)?_(?P<within>.+)"""),
    ("list", rf"""^which_(?P<about>{_ITEMS})_(?:do|are|have|did|am|will|is|can|should)_(?:{_I}|there
        |on|in|part)\b(?:_(?:have|got|need|want|in|on|of|for|left|there|invited|booked|buying
        |making|to))*(?:_(?P<within>.+))?"""),
    ("list", rf"""^what_(?:are|'re|were)_(?:all_)?(?:the|my|our)_(?P<about>{_ITEMS})(?:_(?:of|in|on
        |for|from)_(?P<within>.+))?$"""),
    ("list", r"^what_other_(?P<about>\w+)"),
    ("list", rf"""^(?:what|which_\w+)_(?:am|are|do|did|should|will|must)_{_I}_(?P<about>planting|buying
        |packing|bringing|getting|ordering|making|cooking|serving|selling|taking|bring|pack|buy
        |order|plant|sell|make|cook|need|have|visiting|inviting|growing|baking|covering)(?:_(?:for
        |in|on|to)_(?P<within>.+))?$"""),
    ("list", rf"""^{_TELL}(?:_me|_us|_back|_out|_through)*_(?:only_|just_)?(?:the_|my_|our_)?(?:full_
        |complete_|whole_|entire_|current_|all_|every_|everything_)*(?:of_)?(?:the_|my_
        |our_)?(?P<about>{_ITEMS})(?:_back(?:_to_me)?)?(?:_(?:of|in|on|for|from|used_in
        |that_go_into|that_are_(?:on|in))_(?P<within>.+))?$"""),
    ("list", rf"""^{_TELL}(?:_me|_us|_back|_out|_through)*_(?:only_|just_)?(?:the_|my_|our_)?(?:full_
        |complete_|whole_|entire_|current_)*(?P<within>(?:[\w'’-]+_)*?(?:\w*list|cart|basket|menu
        |order|agenda|programme|program|schedule|backlog|line-?up|playlist|form|setlist
        |sheet))\b.*"""),
    ("list", rf"""^list_(?:out_)?what_{_I}(?:'m|'re|_am|_are|_have|_need|_want
        |_plan)?(?:_to)?_(?P<within>.+)"""),
)  # fmt: skip
_FORMS = tuple((kind, _verbose(pattern)) for kind, pattern in _TABLE)

_BEFORE = _verbose(
    rf"""^(?=(?:{_WH})\b|the_{_OLD}) (?!.*\b(?:do|should|must|start|begin|needs?|has|have
        |can)_(?:to_)?(?:\w+_)?(?:do|come|start|happen|be\w*)_first\b)
    (?: .*\b{_OLD}_(?:one|\w+) | .*\b{_ONCE}\b | .*\bused_to\b )"""
)
_BEFORE_WHAT = _verbose(r"\bbefore_(?P<value>.+)$")
_A_CHANGE = _verbose(
    rf"""^(?:{_I}|that|this|then|now)\b|^(?:the_|my_|our_|that_|this_)?(?:last_)?(?:swap|change|switch
        |move|update|correction|edit|split|merge|replacement)\b"""
)
_EVER = _verbose(
    rf"""^(?P<aux>was|were|is|are|has|have|had|did|does|do
        |am)(?:n'?t)?_(?P<left>.*?)\s*\b{_SOME_TIME}\b\s*(?P<right>.*)$"""
)
_EVER_FIRST = _verbose(rf"^{_SOME_TIME},?_(?P<aux>was|were|did|had|have|has)_(?P<rest>.+)$")
_DID_I = _verbose(
    r"""^(?:did|have|had|didn'?t|haven'?t|hadn'?t)_(?:i|we|you)_
    (?P<adverb>(?:ever|already|actually|really|not|at_some_point|originally|initially|at_first|once|even
    |possibly)_)*
    (?P<verb>say|said|mention(?:ed)?|ask(?:ed)?|tell|told|want(?:ed)?|plan(?:ned)?|request(?:ed)?
    |talk(?:ed)?|have|had|decided?
    |consider(?:ed)?|order(?:ed)?|include[d]?|used?|pick(?:ed)?|choose|chosen|put(?:_down)?|book(?:ed)?
    |need(?:ed)?|add(?:ed)?|remove[d]?
    |drop(?:ped)?|cancel(?:l?ed)?|invite[d]?|change[d]?|set|agree[d]?|give|gave|given|specify|specified
    |assign(?:ed)?|list(?:ed)?|replace[d]?
    |swap(?:ped)?|take|taken|deleted?|move[d]?|get|got|write|written|note[d]?|enter(?:ed)?|promise[d]?
    |schedule[d]?|pack(?:ed)?|buy|bought
    |call(?:ed)?|name[d]?|hire[d]?|send|sent|finish(?:ed)?|complete[d]?|confirm(?:ed)?
    |tick(?:ed)?)\b\s*(?P<rest>.*)$"""
)
_WAS_ON = _verbose(
    rf"""^(?:was|were)_(?P<value>(?!{_I}_)[^,]+?)_(?P<how>on|in|part_of
        |among)_(?P<within>.+?)(?:_(?P<once>{_ONCE}|{_ALWAYS}))$"""
)
_STATE = _verbose(
    r"""^(?:is|are|was|were|has|have|did|isn'?t|aren'?t|wasn'?t|weren'?t|hasn'?t|haven'?t)_(?P<about>.+?)_
    (?:been_)?(?:still_|already_|yet_|now_|all_|actually_)*
    (?P<state>done|finished|completed?|booked|paid|sent|ready|open|cancell?ed|on_hold|paused|on|off
    |pending|active|removed|deleted
    |in_the_plan|part_of_the_plan|ordered|confirmed|packed|bought|shipped|submitted|sorted|over|gone
    |outstanding|unfinished|dropped
    |still_happening|happening|still_planned|crossed_off|mowed|cleaned|fixed|painted|approved|signed
    |delivered|arranged|settled
    |up[_-]to[_-]date|out[_-]of[_-]date|outdated|stale|obsolete
    |(?P<verb>(?!(?:includ|invit|plann|schedul|call|nam|us|mov|chang|need|suppos|shar|locat|bas|assign|expect
        |allow|involv|consider|mention|list|limit|interest|relat|involv|mark|link|attach|remov|delet|unfinish)ed)
        \w{3,}ed))
    (?:_(?:already|yet|now|still))*$"""
)
_STATES = {
    "done": "done finished complete completed booked paid sent ready ordered confirmed packed bought shipped "
            "submitted sorted over mowed cleaned fixed painted approved signed delivered arranged settled",
    "open": "open pending outstanding unfinished",
    "inactive": "on hold|paused|off",
    "removed": "cancelled|canceled|removed|deleted|gone|dropped|crossed off",
    "current": "up to date|up-to-date",
    "stale": "out of date|out-of-date|outdated|stale|obsolete",
    "active": "active|on|happening|still happening|still planned|in the plan|part of the plan",
}  # fmt: skip
_STATE_OF = {
    word: f"is {state}"
    for state, row in _STATES.items()
    for word in re.split(r"\|" if "|" in row else " ", row)
}

_STILL_RIGHT = _verbose(
    r"^(?:is|are|does|do)_(?P<about>.+?)_still_(?:right|correct|valid|current|good|fine|ok|okay|true|accurate|hold|apply)$"
)
_TO_REDO = _verbose(
    r"""^(?:what|which|is_(?:there_)?anything|does_anything)\b.*\b(?:has|have|needs?|must|should|to)_
    (?:(?:i|we|you|to|be|get)_)*(?:(?:do(?:ne)?|ma(?:ke|de)|look(?:ed)?_up|search(?:ed)?|check(?:ed)?|run|book(?:ed)?)
    _(?:again|once_more|anew)|redo(?:ne)?|rerun|refresh(?:ed)?)$"""
)

_NEGATED = _verbose(rf"^(?P<aux>{_NOT})n'?t_(?P<rest>.+)$")
_TAG = _verbose(
    rf"""(?:,?_(?:right|correct|yes|no|true|huh)|,?_(?:{_NOT})n'?t_(?:it|that|he|she|they|there|we|i|you)
    |,_(?:is|are|was|were|did|does|do|has|have|had)_(?:it|he|she|they|there|we|i)|,?_am_i_right
    |,?_is_that_(?:right|correct|so|true)
    |,?_or_(?:not|is_it|am_i_wrong))$"""
)
_OPINION_OF = _verbose(rf"^{_BELIEVES}(?:_that)?_(?P<rest>.+)$")
_VERIFY = _verbose(r"""[.;,!]?_(?:can|could|would|will|please|check|right|is_that)\b.*\b(?:check|look
                |verify|confirm|right|correct|true)\b.*$""")
_YES_NO = _verbose(r"^(?:is|are|does|do|has|have|had|am|was|were|did|so_it's|so|will|would)_(?P<rest>.+)$")
_HAVE_DONE = _verbose(
    rf"""^(?:have|has|haven't|hasn't)_{_I}_(?:already_|yet_)?(?P<state>done|finished|completed|booked|paid
        |sent|packed|bought|ordered|confirmed|cleaned
    |painted|submitted|signed|shipped|arranged|mailed|washed|picked_up|collected|written
    |reserved)_(?!ever\b)(?P<about>.+?)(?:_(?:already|yet))?$"""
)
_AND_WH = _verbose(rf"^(?P<rest>.+?),?_and_(?P<wh>{_WH_WORDS})$")
_WHICH = _verbose(
    rf"""^(?P<head>(?:what|which)_(?!(?:time|day|date|is|are|do|did)\b)[\w' -]+?)_(?:are|do|did|does|will
        |have|should|would|can)_{_I}_\w+(?:_(?:on|in|at|with|to|for|up))*(?P<rest>_.+)?$"""
)
_TOLD = _verbose(rf"^{_TELL}_(?:me_|us_|about_)*(?=\S)")
_VALUE = _verbose(
    rf"""^(?P<wh>{_WH_WORDS}|how_(?:far|often|big|old)|what_(?:colou?r|size|kind|type|else)|what|which|how)
    (?:'s|_is|_are|_was|_were|'re|s(?=_))?\b\s*(?P<about>.*)$"""
)
_WHS = _verbose(rf"""^(?P<whs>(?:{_WH_WORDS})(?:_and_(?:{_WH_WORDS})|,_(?:and_)?(?:{_WH_WORDS}))+)(?:'s
                |_is|_are)?\b\s*(?P<about>.*)$""")
_ELLIPSIS = _verbose(r"^(?:and_|what_about_|how_about_|and_what_about_)?(?P<about>.+)$")
_CONFIRM_ONLY = _verbose(
    r"""^(?:(?:is|was|isn't|wasn't)_(?:that|this|it)(?:_(?:right|correct|true|so|ok|the_case))?
    |(?:can_you_|could_you_|please_)*(?:double[- ]?)?(?:check|verify|look)(?:_(?:that|it|this|again|up
    |please))*|am_i_right|correct|right)$"""
)


@dataclass(frozen=True, slots=True)
class _Read:
    """A question taken apart, before it becomes a step."""

    kind: QuestionKind
    about: str = ""
    within: str = ""
    value: str | None = None
    slot: str = ""
    act: Act | None = None
    denied: bool = False


def read_question(core: str, *, previous: str = "") -> Step:
    """A question as a step: its kind, the words it is about, and what it supposes.

    Args:
        core: the clause without lead-in and closing mark.
        previous: the question before it, for "and the hotel?".

    Returns:
        A step with `asked`. `slot` says what is asked of the target ('when', 'where', 'who', 'time', 'date',
        'until', 'since', 'duration', 'amount'; several with spaces between); it is None where that is the
        value itself. An empty target is what the talk is about.
    """
    read = _fresh(core) or _read(_plain(core), previous)
    return Step(
        text=core,
        act="ask",
        intent="check",
        target=_bare(read.about),
        within=_bare(read.within),
        slot=read.slot or None,
        asked=Asked(kind=read.kind, value=read.value, act=read.act, denied=read.denied),
    )


def _fresh(core: str) -> _Read | None:
    """'Are the flights still right?', 'what has to be looked up again?': by words that else only close a question."""
    text = " ".join(core.split()).rstrip(" ?.!")
    if found := _STILL_RIGHT.search(text):
        return _Read("status", about=found["about"], value="is current")
    return _Read("status", value="stale") if _TO_REDO.search(text) else None


def _plain(core: str) -> str:
    """A question without what only introduces or closes it."""
    text = " ".join(core.replace("’", "'").split()).rstrip(" ?.!")
    for pattern in (_LEAD, _LEAD, _TRAIL):
        rest = pattern.sub("", text)
        text = text if re.fullmatch(rf"(?:{_WH}|)(?:'s)?", rest, re.IGNORECASE) else rest
    return text


def _read(text: str, previous: str = "") -> _Read:
    """The first reading that fits."""
    if _CONFIRM_ONLY.search(text):
        return _Read("claim")
    for reader in (_ever, _opinion, _tagged, _status, _before, _tabled, _yes_no):
        if (found := reader(text)) is not None:
            return found
    return _elliptic(text, previous) or _value(text)


# ---- readers, in the order in which they are tried --------------------------------------------------


def _ever(text: str) -> _Read | None:
    """'Was it ever Boston?', 'did I say eggs?', 'was celery in the soup before?'."""
    if _HAVE_DONE.search(text):
        return None
    if found := _DID_I.search(text):
        return _did(found)
    if found := _EVER_FIRST.search(text):
        return _suppose("ever", found["rest"])
    if found := _EVER.search(text):
        right = re.sub(r"^(?:there|it|that)$", "", found["right"].strip(), flags=re.IGNORECASE)
        left = re.sub(r"^there\b\s*", "", found["left"], flags=re.IGNORECASE)
        read = _suppose("ever", left, right) if left.strip() and right else _suppose("ever", left or right)
        if (state := _STATE_OF.get(right.lower())) and left.strip():
            return _Read("status", about=left, value=state)
        act = _act_in(right) if found["aux"].lower() == "did" and _PRONOUN.search(left) else None
        return replace(read, act=act)
    if found := _WAS_ON.search(text):
        always = (
            "from the start" if re.search(_ALWAYS.replace("_", r"\s+"), found["once"], re.IGNORECASE) else ""
        )
        return _Read("ever", about=always, value=_bare(found["value"]), within=found["within"])
    return None


def _did(found: re.Match[str]) -> _Read:
    """'Did I ever ask to remove celery from the dumplings?'."""
    verb, rest = found["verb"], found["rest"]
    rest = re.sub(
        r"^(?:(?:you|us|me|that|about|anything|something|on|for|down|to|having|a|any)\s+(?:about\s+)?)*"
        r"(?:(?:we|i|you) (?:should|want|wanted|would|had|were|need)\s+)?",
        "",
        rest,
        flags=re.IGNORECASE,
    )
    for slot, motion in _MOTION[:2]:
        if (moved := motion.match(rest)) and rest[moved.end() :].strip():  # 'that we would leave from Oslo'
            return _Read("ever", value=_bare(rest[moved.end() :]), slot=slot)
    once = re.search(rf"\b(?:{_ONCE}|{_SOME_TIME})$".replace("_", r"\s+"), rest, re.IGNORECASE)
    rest = rest[: once.start()].strip(" ,") if once and once.start() else rest
    act = (
        _act_in(f"{verb} {rest}")
        if not re.match(r"(?:have|had|need|order|book)", verb, re.IGNORECASE)
        else None
    )
    entity, within = _entity_and_container(rest)
    return _Read("ever", about="", value=_bare(entity) or None, within=within, act=act)


def _opinion(text: str) -> _Read | None:
    """'I think celery was never part of the soup.'."""
    found = _OPINION_OF.search(text)
    if found is None:
        return None
    claim = _VERIFY.sub("", found["rest"])
    unsure = re.search(
        r"\b(?:don't|do not|didn't) (?:really |quite )?(?:think|believe|remember|recall)", text, re.IGNORECASE
    )
    denied = bool(unsure) or bool(re.search(r"\b(?:never|not|no)\b|n't\b", claim, re.IGNORECASE))
    return replace(
        _suppose("claim", re.sub(rf"\b{_SOME_TIME}\b".replace("_", r"\s+"), " ", claim)), denied=denied
    )


def _tagged(text: str) -> _Read | None:
    """'The party is on Friday, right?', 'it was never red, was it?'."""
    found = _TAG.search(text)
    if found is None or re.match(rf"(?:{_WH})\b", text, re.IGNORECASE) or not text[: found.start()].strip():
        return None
    claim = text[: found.start()].strip(" ,.")
    return replace(
        _suppose("claim", claim), denied=bool(re.search(r"\b(?:never|not)\b|n't\b", claim, re.IGNORECASE))
    )


def _status(text: str) -> _Read | None:
    """'Is the lawn mowed?', 'isn't dark mode still open?'."""
    if found := _HAVE_DONE.search(text):
        return _Read("status", about=found["about"], value="is done")
    found = _STATE.search(text)
    if found and re.search(
        r"^(?:everything|all(?: (?:the |my |our )?(?:tasks|things|items))?|it all)$",
        found["about"],
        re.IGNORECASE,
    ):
        return _Read("left")
    if found is None or re.match(r"(?:there|anything|any)\b", found["about"], re.IGNORECASE):
        return None
    about = re.sub(r"^(?:i|we|you)\s+", "", found["about"], flags=re.IGNORECASE)
    if found["verb"]:  # 'sanded' tells which task of the fence is meant
        return _Read("status", about=f"{about} {found['verb']}", value="is done")
    return _Read("status", about=about, value=_STATE_OF.get(" ".join(found["state"].lower().split())))


def _before(text: str) -> _Read | None:
    """'What was the budget before?', 'which book did we have before Dracula?'."""
    if (
        not _BEFORE.search(text)
        or re.search(r"\b(?:left|remaining|missing|still)\b", text, re.IGNORECASE)
        or re.match(
            r"what (?:comes|needs|has|must|goes|happens|do|should)\b.*\bbefore \w", text, re.IGNORECASE
        )
    ):
        return None
    if re.match(r"(?:why|how come)\b", text, re.IGNORECASE) or any(
        p.search(text) for k, p in _FORMS if k in ("needs", "next", "status")
    ):
        return None
    value = None
    if found := _BEFORE_WHAT.search(text):
        text = text[: found.start()]
        value = None if _A_CHANGE.search(found["value"]) else _bare(found["value"])
    topic = re.sub(rf"\b(?:{_ONCE}|{_OLD}|used to)\b".replace("_", r"\s+"), " ", text, flags=re.IGNORECASE)
    slot, topic = _asked_slot(topic)
    return _Read("before", about=_NOISE.sub(" ", topic), value=value, slot=slot)


def _tabled(text: str) -> _Read | None:
    """What one of the forms fits."""
    for kind, pattern in _FORMS:
        found = pattern.search(text)
        if found is None:
            continue
        groups = {name: words or "" for name, words in found.groupdict().items()}
        for name, state in _NAMED_STATES:
            if groups.get(name):
                return _Read("status", about=groups.get("within", ""), value=state)
        about, within = groups.get("about", ""), groups.get("within", "")
        if kind in ("left", "history"):
            return _Read(kind, about=about or within)
        if kind == "summary":
            about = (
                ""
                if re.search(r"\b(?:me|everything|all|you|it|far|things)\b", about, re.IGNORECASE)
                else about
            )
        if kind in ("count", "why"):
            about = _NOISE.sub(" ", about)
        return _Read(kind, about=about, within=within, slot="who" if groups.get("wh") else "")
    return None


def _yes_no(text: str) -> _Read | None:
    """'Isn't it Boston?', 'is Jo coming?', 'does it start at 9?'."""
    if found := _NEGATED.search(text):
        past = found["aux"].lower() in ("was", "were", "did", "had") and re.search(
            rf"\b(?:{_ONCE}|{_ALWAYS})\b".replace("_", r"\s+"), text, re.IGNORECASE
        )
        return _suppose(
            "ever" if past and not re.search(r"always|start|begin|along", past[0]) else "claim", found["rest"]
        )
    if found := _YES_NO.search(text):
        past = re.match(r"(?:was|were|did|had)\b", text, re.IGNORECASE) and re.search(
            rf"\b(?:{_ONCE})\b".replace("_", r"\s+"), text, re.IGNORECASE
        )
        return _suppose("ever" if past else "claim", found["rest"])
    return None


def _value(text: str) -> _Read:
    """'When is the wedding?', 'what's my email?'."""
    if found := _WHS.search(text):
        slots = [_slot_of(wh) for wh in entries(found["whs"])]
        return _Read(
            "value", about=_NOISE.sub(" ", found["about"]), slot=" ".join(dict.fromkeys(filter(None, slots)))
        )
    more = ""
    if found := _AND_WH.search(text):
        text, more = found["rest"], _slot_of(found["wh"])
    if found := _WHICH.search(text):
        text = found["head"] + (found["rest"] or "")
    slot, topic = _asked_slot(_TOLD.sub("", text))
    return _Read("value", about=_NOISE.sub(" ", topic), slot=f"{slot} {more}".strip())


def _elliptic(text: str, previous: str) -> _Read | None:
    """'And the hotel?': what was asked before, about something else."""
    if (
        not previous
        or _WHS.search(text)
        or _VALUE.search(text)
        or re.match(r"whats|whos", text, re.IGNORECASE)
    ):
        return None
    before, found = _read(_plain(previous)), _ELLIPSIS.search(text)
    words = re.sub(
        r"^(?:at|on|in|for|with|by)\s+", "", found["about"] if found else text, flags=re.IGNORECASE
    )
    if re.fullmatch(r"(?:now|today|currently|at the moment|right now)", words, re.IGNORECASE):
        return replace(before, kind="value" if before.kind == "before" else before.kind)
    slot = before.slot
    if asked := re.search(rf",\s*({_WH_WORDS})$".replace("_", r"\s+"), words, re.IGNORECASE):
        words, slot = words[: asked.start()], _slot_of(asked[1])
    if before.kind in ("claim", "ever"):
        return replace(before, value=_bare(words))
    if before.kind == "list" and before.within:
        return replace(before, within=words)
    return replace(before, about=words, slot=slot)


# ---- what is supposed -------------------------------------------------------------------------------

_ADVERB = _verbose(
    rf"""\b(?:still|already|actually|really|just|now|currently|supposed_to_be|meant_to_be|going_to_be
        |planned_to_be|set_to_be
    |{_ONCE}|{_ALWAYS}|never|not|ever|n't|also|only|even)\b"""
)
_IS = r"(?:is|are|was|were|be|been|has_been|had_been|'s|'re)"
_MOTION = (
    ("start", _verbose(r"\b(?:depart|leav|fly|flying|start|go|travel|set_off|com)\w*_(?:out_)?(?:of|from)_")),
    (
        "destination",
        _verbose(r"""\b(?:(?:mov|travel|fly|head|driv)\w*_(?:over_|off_)?to_
                |going_to_(?:play_)?(?:the_)?(?=(?-i:[A-Z])))"""),
    ),
    ("who", _verbose(r"\b(?:coming|joining|attending|travell?ing|invited|taking_part)$")),
)
_PREP = r"(?:at|on|in|by|with|from|to|for|into|off|of|about|under|until|around|as)"
_SPLITS = tuple(
    _verbose(pattern)
    for pattern in (
        rf"""^(?P<value>.+?)_(?:{_IS}_)?(?:an?_)?(?:part_of|among|included_in|(?:ingredient|item
            |part)_(?:of|in)|invited_to|coming_to|used_in|used_for|on_the_list_for)_(?P<within>.+)$""",
        r"""^(?P<about>.+?)_(?:have|has|had|include[sd]?|contain(?:s|ed)?|says?|said|cost|costs
            |mention(?:s|ed)?|use[sd]?|got|gets)_(?P<value>.+)$""",
        rf"""^(?P<about>.+?)_(?:{_IS}_)?(?:going_to_)?(?:be_)?(?:play|take|start|happen|go|meet|begin|live
            |come|leave|arrive|stay|run|work)s?_(?:{_PREP}_)?(?P<value>.+)$""",
        rf"""^(?P<about>.+?)_(?:{_IS}_)?(?:(?!wedding|king|ring|string|meeting|training|opening|ceiling
            |evening|morning|rating|building|clothing|during|thing|anything|something
            |everything)\w{{2,}}ing)_(?:(?:{_PREP}|up|off)_)*(?P<value>.+)$""",
        rf"""^(?P<about>.+?)_{_IS}_(?:(?:planned|scheduled|booked|set|made|called|named|assigned
            |responsible|meant|written|due|held|in_charge)_)?(?:{_PREP}_)*(?P<value>.+)$""",
        rf"""^(?P<about>.+?)_(?:planned|scheduled|booked|set|made|called|named|assigned|due
            |responsible)_(?:{_PREP}_)*(?P<value>.+)$""",
        rf"^(?P<about>.+?)_{_PREP}_(?P<value>.+)$",
    )
)  # fmt: skip
_PREDICATE = _verbose(
    rf"""^(?:(?:going_to|supposed_to|meant_to|planned|scheduled|set|booked|have|had|has|include|contain
        |need|use|used|be|called|named|assigned|responsible
    |play|say|mention|take|get|want|wanted|made|invited|included|mentioned|{_PREP}|part_of|planned_to_be
    |going)_)+"""
)
_NOWHERE = _verbose(
    r"""^(?:(?:on|in|part_of)_)?(?:there|it|the_list|my_list|our_list|list|on|in|included|mentioned
        |invited|planned|a_thing|the_plan|plan|here)$"""
)

_LISTED = _verbose(
    rf"""^(?P<value>.+?)_(?:{_IS}_)?(?:part_of|on|in|among)_(?:the_|my_|our_|this_)?(?:list|plan|it|there
        |that|this)$"""
)

_WE_SAID = _verbose(
    r"""^(?:we|i|they|you)_(?:did_)?(?:put|had|have|add(?:ed)?|used?|include[d]?|invited?|said|say|want(?:ed)?
    |plan(?:ned)?|order(?:ed)?|ask(?:ed)?_for|mention(?:ed)?|talked_about|pick(?:ed)?|agree[d]?(?:_on)?|choose
    |chose|book(?:ed)?|put_down|set|need(?:ed)?|decided?_on)_(.+)$"""
)


def _suppose(kind: QuestionKind, left: str, right: str | None = None) -> _Read:
    """The reading of a supposition, with a note where it is about all the time."""
    read = _supposition(kind, left, right)
    if re.search(_ALWAYS.replace("_", r"\s+"), f"{left} {right or ''}", re.IGNORECASE):
        return replace(read, about=f"{read.about} from the start".strip())
    return read


def _supposition(kind: QuestionKind, left: str, right: str | None = None) -> _Read:
    """What is supposed of what: 'the party at Linden Hall' gives ('party', 'Linden Hall').

    Which of the two is the value and which the task can often only be told from the plan; grounding tries
    both.
    """
    whole = " ".join(_ADVERB.sub(" ", f"{left} {right or ''}").split()).strip(" ,")
    whole = re.sub(r"^there\s+(?=\w+\s)", "", re.sub(r"\b(\w+)n't\b", r"\1", whole), flags=re.IGNORECASE)
    slot = next((name for name, pattern in _MOTION if pattern.search(whole)), "")
    if right is not None:
        return _of_both(kind, left, right, slot)
    if found := _WE_SAID.search(whole):
        entity, within = _entity_and_container(found[1])
        return _Read(kind, value=_bare(entity), within=within, slot=slot)
    if (
        kind == "ever"
        and (found := re.match(r"(.+?)\s+(?:in|on|from)\s+(.+)$", whole))
        and not _PRONOUN.search(found[1])
    ):
        return _Read(kind, value=_bare(found[1]), within=found[2], slot=slot)
    if (found := _LISTED.search(whole)) and not _PRONOUN.search(found["value"]):
        return _Read(kind, value=_bare(found["value"]))
    if found := re.match(
        r"(?:it|that|this|there|he|she|they)(?:'s|'re|\s+is|\s+are|\s+was|\s+were|\s+be)\s+(.+)$",
        whole,
        re.IGNORECASE,
    ):
        return _Read(kind, value=_bare(_PREDICATE.sub("", found[1]) or found[1]), slot=slot)
    for pattern in _SPLITS:
        if found := pattern.search(whole):
            groups = found.groupdict()
            return _Read(
                kind,
                about=_subject(groups.get("about") or ""),
                value=_bare(groups["value"]),
                within=groups.get("within") or "",
                slot=slot,
            )
    if slot == "who":
        whole = whole.rpartition(" ")[0] or whole
    first, _, rest = whole.partition(" ")
    if rest and _PRONOUN.search(first):
        return _Read(kind, value=_bare(_PREDICATE.sub("", rest) or rest), slot=slot)
    return _Read(kind, value=_bare(whole) or None, slot=slot)


def _of_both(kind: QuestionKind, left: str, right: str, slot: str) -> _Read:
    """What is supposed where the question has a part before 'ever' and one after it."""
    about = " ".join(_ADVERB.sub(" ", left).split())
    value = " ".join(_ADVERB.sub(" ", right).split())
    if _NOWHERE.search(value) or not value:
        return _Read(kind, value=_bare(about), slot=slot)
    if inside := re.match(r"(?:part of|(?:in|on|among) (?:the|my|our)) (.+)", value, re.IGNORECASE):
        return _Read(kind, value=_bare(about), within=inside[1])
    value = re.sub(r"^\w{2,}ing\s+(?=\S)", "", _PREDICATE.sub("", value) or value)
    if about == "":
        return _Read(kind, value=_bare(value), slot=slot)
    return _Read(kind, about=_subject(about), value=_bare(value), slot=slot)


def _subject(words: str) -> str:
    words = _bare(re.sub(rf"\b(?:{_IS}|does|did|do)$".replace("_", r"\s+"), "", words, flags=re.IGNORECASE))
    return "" if _PRONOUN.search(words) else words


_DOES = _verbose(
    r"""^(?:to_|that_|about_|anything_about_|you_to_|on_)*(?:(?:remov|delet|drop|tak|add|put|hav|includ
        |chang|mov|switch|us|invit|cancel|replac
    |swap|set|leav|bring|get|buy|mak|order|book|want|us)\w{0,4}\b\s*)?(?:off_|out_|down_)?"""
)
_INTO = _verbose(r"^(?P<entity>.+?)_(?:from|in|into|to|on|of|for|with|off|as)_(?P<within>.+)$")
_TIMELY = _verbose(
    r"""^(?:the_)?(?:\d|(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:jan|feb|mar|apr|may|jun|jul|aug
        |sep|oct|nov|dec)\w*_\d|tomorrow|today|tonight|noon|midnight)"""
)


def _entity_and_container(rest: str) -> tuple[str, str]:
    """'remove celery from the dumplings' gives ('celery', 'the dumplings')."""
    rest = re.sub(r"\s+(?:as well|too|at all|anywhere)$", "", rest.strip(), flags=re.IGNORECASE)
    rest = _DOES.sub("", rest).strip() or rest
    if (found := _INTO.search(rest)) and not _TIMELY.search(found["within"]):
        within = found["within"]
        return found["entity"], "" if _PRONOUN.search(within) else within
    return rest, ""


_ACTS: tuple[tuple[Act, re.Pattern[str]], ...] = (
    ("remove", _verbose(r"""\b(?:remov\w*|delet\w*|drop\w*|tak\w+_(?:off|out)|take\w?_.*_(?:off|out)
                |cancel\w*|leave_out|get_rid)\b""")),
    ("replace", _verbose(r"\b(?:replac\w*|swap\w*|substitut\w*|exchang\w*)\b")),
    ("add", _verbose(r"\b(?:add\w*|includ\w*|invit\w*|put)\b")),
    ("update", _verbose(r"\b(?:chang\w*|mov\w*|switch\w*|updat\w*|reschedul\w*)\b")),
    ("complete", _verbose(r"\b(?:finish\w*|complet\w*|tick\w*)\b")),
)  # fmt: skip


def _act_in(text: str) -> Act | None:
    """The act that a text asks for."""
    return next((act for act, pattern in _ACTS if pattern.search(text)), None)


# ---- words --------------------------------------------------------------------------------------------


def _asked_slot(text: str) -> tuple[str, str]:
    """What is asked of a topic, and the topic: 'what time is the table' gives ('time', 'the table')."""
    found = _VALUE.search(text)
    if found is None:
        return "", text
    slot = _slot_of(found["wh"])
    unnamed = slot or re.fullmatch(r"what(?:'s)?|which|how", found["wh"], re.IGNORECASE)
    return slot, found["about"] if unnamed else f"{found['wh'].split()[-1]} {found['about']}"


def _slot_of(wh: str) -> str:
    words = " ".join(wh.lower().split())
    return _WH_SLOT.get(words) or _WH_SLOT.get(re.sub(r"^(?:at|on|by|from) ", "", words), "")


def _bare(words: str) -> str:
    """Words without articles and signs around them; nothing for a pronoun."""
    words = " ".join(re.sub(r"[?!;]|:(?!\d)", " ", words).split()).strip(" .,'\"")
    previous = None
    while previous != words:
        previous, words = words, _ARTICLE.sub("", words)
    return "" if _PRONOUN.search(words) else words
