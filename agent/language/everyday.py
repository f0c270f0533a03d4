"""Words by which a reply's own words are told from names, and short forms of chats. Data only."""

from __future__ import annotations

from taskloom.memory.actions import VERBS
from taskloom.memory.words import stem, word_set

from .words import CHAT, CONTAINERS, DO, EVENTS, MOODS, PROJECTS, STOP

_OPENERS = word_set(
    """i i'm i've i'd i'll ok okay fyi asap ps tbd eta tv id etc faq am pm mr mrs ms dr prof st sir madam yes
    no none nothing nobody anything something everything everyone anyone someone everybody somebody
    nowhere actually additionally afterwards afterward again alright also although altogether always and
    another anyway apart apologies apology as at because before besides beyond both but by certainly
    clearly consider consequently correct correctly currently definitely despite done during earlier
    either else even eventually exactly except excellent fair few finally fine first firstly following
    for formerly from further furthermore generally glad gladly good got great happily happy here hence
    hopefully how however if importantly in indeed initially instead it its just last lastly lately
    later latest least less let let's lots main mainly many maybe meanwhile more moreover most mostly
    much my nearly neither never nevertheless new next nice nonetheless nope normally not note noted
    notably now obviously of often oh once one only open or original originally other others otherwise
    our out over overall own part partly per perfect perhaps please pleasure plus possibly previous
    previously probably quick quickly quite rather ready really recently regarding remember right second
    secondly several shall should similarly simply since single so some soon sorry specifically still
    such sure surely thank thanks that the their them then there therefore these they third this those
    though thus till to together too total totally two under unfortunately unless unlike until up upon
    us usually very wait was we welcome well were what whatever when whenever where whether which while
    who whole why will with within without would yeah yep yet you your yours three four five six seven
    eight nine ten eleven twelve half quarter double task tasks step steps item items list plan plans
    part parts detail details date dates time times day days week weeks month months year years hour
    hours minute minutes place places location people person guest guests participant participants
    attendee name names title status value values note notes reminder question questions answer answers
    option options change changes update updates summary overview history turn turns session sessions
    start end begin beginning beginning destination deadline due budget cost costs price prices amount
    total number numbers count order orders message messages address email mail phone venue room topic
    duration priority left open remaining pending finished done completed removed added changed
    cancelled canceled hold held off word words way ways kind kinds thing things case cases reason
    reasons result results information info data apart according regards regard reply replies request
    requests tool tools search searches flight flights hotel hotels meeting trip party cart form recipe
    shopping today tomorrow tonight yesterday morning afternoon evening night weekend street road avenue
    square park hall house home city town country want wants wanted need needs like likes feel free tell
    know keep keeps stay stays go goes come comes take takes give gives make makes say says said see
    seen show shows look looks seem seems mean means understood got gotten undid undo redo redid split
    put took set kept cut brought swapped gave went made put sounds anytime
    congratulations congrats bravo cheers
    hooray wonderful lovely awesome fantastic super brilliant impossible english french german spanish
    italian dutch portuguese"""
)
NOTES = word_set(
    """added noted changed moved updated removed replaced marked merged restored reverted swapped switched
    cleared renamed assigned recorded saved linked shared listed dropped crossed ticked shifted kept
    jotted logged adjusted corrected combined bumped pencilled penciled included reset paused resumed
    postponed extended reduced increased lowered raised brought scheduled planned created started opened
    closed finished completed undone edited entered tracked stored attached filled joined separated
    divided reassigned reopened reinstated reordered rearranged organized organised sorted checked
    rechecked verified reviewed understood remembered assumed interpreted ended allocated connected tied
    related unlinked detached deleted dismissed discarded cancelled canceled suspended held parked
    stopped skipped rolled flagged tagged labelled labeled counted doubled halved exchanged substituted
    revised amended rescheduled pushed nested placed inserted appended specified mentioned explained
    answered suggested proposed offered wanted needed used stated repeated summarized summarised
    referred tried failed learned turned named designated collected gathered calculated pulled settled
    double-checked fixed grouped tidied erased struck trimmed wiped confused mixed misread mistaken
    missed apologized guessed"""
)
"""What a keeper of notes did, beside the forms that no ending marks."""

EVERYDAY = frozenset(
    {*_OPENERS, *NOTES, *STOP, *DO, *CHAT, *MOODS, *EVENTS, *PROJECTS, *CONTAINERS, *VERBS}
    | {stem(word) for word in {*_OPENERS, *DO, *EVENTS, *CONTAINERS, *VERBS}}
)
"""Words that a reply may begin with a capital letter without naming anything, and their stems."""

ALSO_NAMES = word_set(
    """will mark bill rob rose grace hope joy frank dean drew chase pat sue art may june april jack jean
    josh lance miles nick penny ray rich rusty sandy skip summer autumn wade ward warren cliff dawn
    eve faith glen heath holly ivy jade jasmine lily olive pearl ruby violet victor guy gene don dale
    buck earl"""
)
"""Everyday words that are names as well."""

PEOPLE = frozenset(
    stem(word)
    for word in word_set(
        """people persons person guests participants attendees members speakers players passengers travellers
    travelers adults friends colleagues kids children invitees"""
    )
)
"""Stems of the nouns by which people are counted."""

GENERIC = frozenset(
    stem(word)
    for word in word_set(
        """tasks steps items things parts points details entries values changes ones options choices subtasks
    ingredients slots pieces matters topics questions answers results times more other others left open
    done in of remain remaining further new former earlier different separate prerequisites dependencies
    sessions total"""
    )
)
"""Stems of the nouns by which anything in a plan is counted, and of what else may follow a count."""

FOREIGN = word_set(
    """der die das und ist nicht ein eine für mit um bei zu auf von den dem im am sind wird el la los las del
    es un una para con por y en se le les des est une pour avec du au et sur que il lo di è per che os
    da em com uma het een van voor met op och att som på av till og det til w na z do się nie ne
    reste sont votre tu su"""
)
"""Little words of other languages."""

GERMAN = word_set("der die das und ist nicht ein eine für um bei dem den sind bleibt wird ich sie")
"""Little words of the language that writes every noun with a capital letter."""

SHORT_FORMS = {
    "b4": "before", "2moro": "tomorrow", "2morrow": "tomorrow", "tmrw": "tomorrow", "tmr": "tomorrow",
    "tomoz": "tomorrow", "2day": "today", "2nite": "tonight", "tonite": "tonight", "w/o": "without",
    "xcept": "except", "aswell": "as well",
}  # fmt: skip
"""How words are typed in chats, in lower case, and how they are written."""
