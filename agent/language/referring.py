"""Words that say what is meant without naming it: all, all but some, "it", "the same", the speaker. Pure."""

from __future__ import annotations

import re

from taskloom.memory.words import word_set

from .values import NUMBER_WORDS

ALL = re.compile(
    r"\b(?:all|both|each|every\w*|rest|whole|others?|those|these|them|except|any\w*|nothing)\b", re.IGNORECASE
)
ALL_BUT = re.compile(r"\b(?:except\w*|but|bar|only|just|apart|than|besides|without)\b", re.IGNORECASE)
EXCEPTING = re.compile(r"\b(?:except(?:ing)?|apart from|other than|all but|save for)\b", re.IGNORECASE)
SPOKEN_OF = re.compile(
    r"\b(?:it|its|that|this|ones?|thing|he|she|him|her|his|hers|they|their|theirs|you|mine)\b", re.IGNORECASE
)
"""What points to something that was spoken of before."""
THE_SAME = re.compile(
    r"\b(?:same|swap\w*|switch\w*|exchange\w*|other\w*|both|each|again|back|too|also|instead|usual|first"
    r"|original\w*|before|earlier|old|last|stays?|keeps?|so|neither|either)\b",
    re.IGNORECASE,
)
"""What says that a value is another task's, or was there before."""
ME = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ourselves|i?ll)\b", re.IGNORECASE)
IS_OUT = re.compile(
    r"(?:['’]s|is|are|was|were|has|have)? ?(?:out|off sick|ill|sick|not coming|dropp\w+ out|left|leaving"
    r"|pull\w+ out|back\w+ out|bail\w+)\b"
    r"|(?:can(?:no|['’]?)t|can ?not|won['’]?t) (?:come|make it|be there|join)\b",
    re.IGNORECASE,
)
"""What is said of somebody who is not in it any more: "Amir is out"."""
LEAVES = re.compile(
    r"\b(?:remov|delet|drop|scrap|scratch|cancel|strik|struck|skip|kill|ditch|bin|axe|discard|eras|clear|dump|forget|los[et]"
    r"|eliminat|exclud|omit|abandon|abort|withdraw|uninvit|disinvit|annul|void|chuck|sack|shelv|postpon|pull|cut|wip"
    r"|trash|quit|stop|end|give up|gave up)\w*\b"
    r"|\b(?:off|out|away|rid|no(?:t|pe)?|never|nothing|none|gone|over|sold|without|dead|longer|more|fell|fallen"
    r"|finished|void|\w+n['’]?t|cannot|moot|useless|needless|unnecessary|disregard|leave|instead)\b",
    re.IGNORECASE,
)
"""What may say that something is not to be any more."""
RESTS = re.compile(
    r"\b(?:hold|paus|park|suspend|freez|froz|rest|defer|wait|sleep|sit|adjourn|mothball|interrupt|delay)\w*\b"
    r"|\b(?:ice|later|aside|now|moment|while|being|yet|until|till|break|burner|back|another|other)\b",
    re.IGNORECASE,
)
"""What may say that something is not to be for the time being."""
AFFIRMS = re.compile(
    r"(?:\b(?:y(?:es|ep|eah|up|a|ess?)?|aye|sure|ok(?:ay)?|right|correct|exactly|please|pls|fine|absolutely"
    r"|definitely|certainly|of course|indeed|agreed|(?:do|go|make)\b|that one|both|all|perfect|great|good"
    r"|cancel|drop|scrap|remove|delete|confirm\w*|true|si|ja|oui)\b|👍|✅|👌)",
    re.IGNORECASE,
)
"""What can be a yes to a question at all: "sure, go ahead"; no other word is one by itself."""

IN_FIGURES = {**NUMBER_WORDS, "thousand": 1000, "k": 1000, "million": 10**6, "lakh": 10**5, "crore": 10**7}
"""Words for numbers, each with its number."""
OF_A_WORD = (0.5, 1, 1.5, 2, 7, 14, 15, 30, 45)
"""Numbers of a change that has a word and no figure: "an hour", "a week"."""
YES_OR_NO = ("yes", "no", "done", "true", "false")
"""Values that say whether something is so."""
MOVES = re.compile(
    r"\W*(?:(?:and|so|ok|okay|please|can|could|you|let's|lets|also|then|no|actually|oh|just|we|i|need|have|to"
    r"|should|must|better)\W+)*(?:move|push|bring|shift|postpone|reschedule) "
    r"(?:the|our|my|his|her|their|that|this) ",
    re.IGNORECASE,
)
"""A request to move something that is there: 'could you push the dentist to Monday'."""
DEEDS = word_set(
    """booked bought paid ordered sent called made done got fixed cleaned sold taken given written finished
    packed collected picked printed painted cooked baked washed signed phoned emailed told asked moved
    cancelled"""
)
"""What was done, as it is said of a task: no name of one, and no value."""
