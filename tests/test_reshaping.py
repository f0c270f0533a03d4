"""Clauses that reshape a plan: what leaves and comes back, is split, exchanged, changed by an amount."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taskloom.agent.grounding.resolving.assemble import assemble
from taskloom.agent.reading.with_memory import read_with_memory
from taskloom.agent.recall.memory import Memory
from taskloom.agent.turn.clauses import Clause
from taskloom.agent.turn.reading import Reading, View
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import Clarify, Remove, apply
from taskloom.memory.tasks import TaskGraph
from tests.test_plan import after, clause, lines


def turn(graph: TaskGraph, *clauses: Clause, reply: str = "") -> TaskGraph:
    """The plan after one message more, after a reply to the one before."""
    number = max((node.turn for node in graph.values()), default=0) + 1
    exchanges = (("said", reply),) if reply else ()
    view = View(graph, turn=number, focus=tuple(node.id for node in graph.parts(None)), exchanges=exchanges)
    said = " ".join(one.text for one in clauses)
    for operation in assemble(clauses, said, view).operations:
        graph = apply(graph, operation, turn=number, said=said).graph
    return graph


CALL = after(
    TaskGraph(),
    clause("task", "[T call] at [V 5 pm]"),
    clause("add", "[W call]: [I Ann], [I Bo], [I Cy]"),
)
BAG = turn(TaskGraph(), clause("task", "[T bag]"), clause("add", "[W bag]: [I boots], [I gloves], [I rope]"))
SPLIT = (
    clause("split", "[P Ann] at [V 4 pm]"),
    clause("split", "[P the others] at [V 6 pm]"),
)


def test_who_is_told_apart_is_in_what_is_split_and_all_are_one_again() -> None:
    apart = after(CALL, *SPLIT)
    assert {"call > call (Ann) > time: 4 pm", "call > call (Bo and Cy) > time: 6 pm"} <= lines(apart)
    assert lines(after(apart, clause("merge", "[T it] is one for [P everybody] at [V 7 pm]"))) == {
        "call", "call > Ann", "call > Bo", "call > Cy", "call > time: 7 pm"
    }  # fmt: skip


def test_only_these_brings_back_what_was_taken_out_and_makes_what_is_new() -> None:
    less = after(BAG, clause("remove", "[T the gloves]"))
    stays = clause("only", "[W the bag] has [I the boots], [I gloves] and [I a tent]")
    assert lines(after(less, stays)) == {"bag", "bag > boots", "bag > gloves", "bag > tent"}


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (clause("remove", "[T everything] but [E the boots]"), {"bag", "bag > boots"}),
        (clause("hold", "[T the rope] rests"), {"bag", "bag > boots", "bag > gloves"}),
    ],
)
def test_what_is_left(said: Clause, left: set[str]) -> None:
    assert lines(after(BAG, said)) == left


def test_a_pronoun_means_what_left_last() -> None:
    first = turn(BAG, clause("remove", "[T the gloves]"))
    less = turn(first, clause("remove", "[T the boots], [T the rope]"))
    assert lines(turn(less, clause("back", "[T them]"))) == {"bag", "bag > boots", "bag > rope"}
    assert "bag > gloves" not in lines(turn(less, clause("resume", "[T they] go in")))


def test_a_list_goes_back_to_what_it_was_at_first() -> None:
    other = turn(turn(BAG, clause("remove", "[T the gloves]")), clause("add", "[W the bag]: [I a tent]"))
    assert lines(turn(other, clause("back", "[T it] to [V the original three things]"))) == lines(BAG)


@pytest.mark.parametrize(
    ("said", "then"),
    [
        (clause("shift", "one less came, so [S the price] up by [V ten]"), "hall > price: 60 euro"),
        (clause("shift", "[V 20] gone from [S the price]"), "hall > price: 30 euro"),
        (clause("shift", "[S the price] [V 10%] less"), "hall > price: 45 euro"),
        (clause("shift", "[S price] less by [V a fifth]"), "hall > price: 40 euro"),
        (clause("shift", "[T the hall] [V half an hour] later"), "hall > time: 7:30 pm"),
        (clause("shift", "[T the hall] [V an hour] longer"), "hall > duration: 3 hours"),
    ],
)
def test_amounts_change_what_they_are_said_of(said: Clause, then: str) -> None:
    hall = after(TaskGraph(), clause("task", "[T hall] at [V 7 pm], [V 2 hours], [S price] [V 50 euro]"))
    assert then in lines(after(hall, said))


def test_an_amount_is_in_the_unit_of_what_it_changes() -> None:
    plan = after(TaskGraph(), clause("task", "[T cheese], [S amount] [V 1.6 kilos]"))
    assert "cheese > amount: 2 kilos" in lines(after(plan, clause("shift", "[T cheese] up [V 400 grams]")))


def test_months_named_as_values_change_places() -> None:
    club = after(
        TaskGraph(),
        clause("task", "[T club]"),
        clause("add", "[W club]: [I Emma], [I Dracula]"),
        clause("set", "[T Emma] in [V April]"),
        clause("set", "[T Dracula] in [V May]"),
    )
    swapped = lines(after(club, clause("swap", "[T April] and [T May books]")))
    assert {"club > Emma > date: May", "club > Dracula > date: April"} <= swapped


def test_words_of_this_thread_are_read_once_as_they_were_said() -> None:
    class Reader:
        """Knows one message, and no other words for it."""

        def read(self, utterance: str, view: View) -> Reading:
            assert utterance == "Let's have the call again at 5, the same day."
            return Reading((Step(text=utterance, act="set", task="t1", value="5 pm"),), by="network")

    said = "Let's have the call again at 5, the same day."
    reading, unit = read_with_memory(said, View(CALL), Reader(), Memory(None, "me", "thread"))
    assert unit is None
    assert reading.steps[0].task == "t1"


MENU = after(
    TaskGraph(),
    clause("task", "[T dinner]"),
    clause("add", "[W dinner]: [I drinks], [I soup], [I salad]"),
    clause("assign", "[P Ann] does [T the soup]"),
)


@pytest.mark.parametrize(
    ("act", "said", "new", "gone"),
    [
        (
            "split", "[T the drinks] into [I wine] and [V soft drinks]",
            {"dinner > drinks > wine", "dinner > drinks > soft drinks"}, set(),
        ),
        (
            "merge", "put [T the salad] and [T the drinks] together as [V buffet]",
            {"dinner > buffet"}, {"dinner > salad", "dinner > drinks"},
        ),
        (
            "merge", "[T the soup] and [T the salad] are one job",
            {"dinner > soup and salad"}, {"dinner > soup", "dinner > soup > assignee: Ann", "dinner > salad"},
        ),
    ],
)  # fmt: skip
def test_things_are_parted_and_brought_together_by_their_names(
    act: str, said: str, new: set[str], gone: set[str]
) -> None:
    assert lines(turn(MENU, clause(act, said))) == (lines(MENU) | new) - gone


@pytest.mark.parametrize(
    ("act", "said"),
    [
        ("remove", "[T all the equipment] except [E the soup]"),  # which is that?
        ("merge", "[T the soup] and [T the wine] together"),  # there is no wine
        ("split", "[T the drinks] in [V two]"),
    ],
)
def test_what_is_not_clear_is_asked(act: str, said: str) -> None:
    assert lines(turn(MENU, clause(act, said))) == lines(MENU)


def test_a_number_in_a_name_is_no_amount() -> None:
    version = after(TaskGraph(), clause("task", "[T Pricing v2]"))
    assert lines(turn(version, clause("shift", "[V two] fewer"))) == lines(version)
    eggs = after(TaskGraph(), clause("task", "[T three eggs]"))
    assert lines(turn(eggs, clause("shift", "[V two] more"))) == {"5 eggs"}


def test_new_names_are_as_they_were_said() -> None:
    town = after(TaskGraph(), clause("task", "[T survey]"), clause("rename", "call [T it] [V Our Town 2030]"))
    assert lines(town) == {"Our Town 2030"}
    assert lines(after(town, clause("rename", "call [T it] [V the survey]"))) == {"survey"}


def test_who_does_what_is_said_with_a_verb_or_beside_people() -> None:
    party = after(
        TaskGraph(), clause("task", "[T party]"), clause("add", "our [W guests] are [I Ann] and [I Bo]")
    )
    then = lines(after(party, clause("assign", "[P Nina] [T packs] [T the kitchen]")))
    assert then - lines(party) == {"party > pack the kitchen", "party > pack the kitchen > assignee: Nina"}
    van = lines(after(TaskGraph(), clause("task", "[T book a van for] [W the move]")))
    assert "book a van" in " ".join(van)
    assert "van for" not in " ".join(van)


SHOW = turn(
    TaskGraph(),
    clause("task", "[T show] on [V June 6], [V 10 am to 4 pm]"),
    clause("add", "[W show]: [I band], [I cake], [I bunting]"),
    clause("set", "[T the bunting] [S date] is [V June 4]"),
    clause("set", "[T the bunting] [S length] [V 60 metres]"),
    clause("set", "[T show] [S budget] [V 14,000]"),
    clause("assign", "[P Ana] has [T the cake]"),
    clause("assign", "[P Lotte] has [T the band]"),
)


@pytest.mark.parametrize(
    ("act", "said", "then"),
    [
        ("set", "[T1 the band] costs [V1 300] and [T2 the cake] [V2 80]", "show > cake > price: 80"),
        ("set", "[T1 the drinks] cost [V1 60] and [T2 the meat] [V2 90]", "show > meat > price: 90"),
        ("shift", "[T everything] [V two days later]", "show > bunting > date: June 6"),
        ("shift", "[S the budget] up by [V a thousand]", "show > budget: 15,000"),
        ("shift", "[V triple] [T the bunting]", "show > bunting > length: 180 metres"),
        ("set", "[T the show] closes at [V 4.30 pm]", "show > time: 10 am to 4.30 pm"),
        ("set", "[T the show] is at [V eight], [V same day]", "show > date: June 6"),
        ("set", "[T the bunting] is [V dark green]", "show > bunting > colour: dark green"),
        ("assign", "[P yours truly] has [T the bunting]", "show > bunting > assignee: me"),
    ],
)
def test_plain_words_change_what_they_mean(act: str, said: str, then: str) -> None:
    assert then in lines(turn(SHOW, clause(act, said)))


@pytest.mark.parametrize(
    ("act", "said"),
    [
        ("add", "put [I her] on the list"),
        ("add", "put [I it] on"),
        ("task", "and [T the other one] too"),
        ("shift", "take [V the same] off [S the budget]"),
    ],
)
def test_what_is_no_name_is_asked_about(act: str, said: str) -> None:
    view = View(SHOW, turn=99, focus=("t1",))
    [asked] = assemble([clause(act, said)], said, view).operations
    assert isinstance(asked, Clarify)


def test_who_is_meant_is_one_whom_the_message_names_or_it_is_asked() -> None:
    one = turn(SHOW, clause("chat", "Ana has time"), clause("assign", "so [P she] does [T the bunting]"))
    assert "show > bunting > assignee: Ana" in lines(one)
    view = View(SHOW, turn=99, focus=("t1",))
    said = "Ana and Lotte trade: he does it"
    [asked] = assemble([clause("assign", "[P he] does [T the bunting]")], said, view).operations
    assert isinstance(asked, Clarify)


def test_what_comes_back_has_a_new_day_in_place_of_the_old() -> None:
    out = turn(SHOW, clause("hold", "park [T the bunting]"))
    back = turn(out, clause("resume", "[T the bunting] is on again"), clause("set", "[V June 9]"))
    assert "show > bunting > date: June 9" in lines(back)
    assert "show > bunting > date: June 4" not in lines(back)


SHOP = after(
    TaskGraph(),
    clause("task", "[T shop] on [V friday] at [V 10], [S tickets] [V £5], [V eight stalls]"),
    clause("add", "[W shop]: [I beans], [I rice], [I salt]"),
)


def test_what_comes_after_except_is_spared() -> None:
    there = turn(SHOP, clause("remove", "cancel the lot except [T the rice] and [T salt]"))
    assert [node.title for node in there.active if node.name.startswith("item")] == ["rice", "salt"]


def test_what_is_half_done_is_not_done() -> None:
    there = turn(SHOP, clause("done", "[T the beans] are half way"))
    beans = next(node for node in there.active if node.title == "beans")
    assert beans.status == "open"
    assert [(part.title, part.value) for part in there.parts(beans.id)] == [("progress", "half way done")]


def test_things_fewer_are_no_money_less() -> None:
    there = turn(SHOP, clause("shift", "[V two fewer] [T stalls]"))
    assert {node.value for node in there.active if node.value} == {"friday", "10", "£5", "6 stalls"}


def test_two_amounts_in_one_clause() -> None:
    there = turn(SHOP, clause("shift", "[T the shop] [V 2 euros more] and [V an hour later]"))
    assert {node.value for node in there.active if node.value} == {"friday", "11", "£7", "eight stalls"}


def test_a_list_in_an_order() -> None:
    for text in (
        "[W shop]: [I count] -> [I pack] -> [I lock]",
        "[W shop]: [I count], [I pack], [I lock], in that order",
    ):
        there = turn(SHOP, clause("add", text))
        held = {node.title: [there[key].title for key in node.depends_on] for node in there.active}
        assert (held["count"], held["pack"], held["lock"]) == ([], ["count"], ["pack"])


def test_items_of_something_new_with_a_value_each() -> None:
    there = turn(TaskGraph(), clause("task", "[T thesis]: [I review] by [V 1 june], [I tests] by [V 2 july]"))
    told = {node.title: [part.value for part in there.parts(node.id)] for node in there.active}
    assert (told["review"], told["tests"]) == (["1 june"], ["2 july"])


def test_nobody_knows_who_a_pronoun_is() -> None:
    there = turn(SHOP, clause("replace", "[V Mirjam] takes over from [O him]"))
    assert there.active == SHOP.active


BUS = turn(
    TaskGraph(),
    clause("task", "[T bus], [S seats] [V 30], [S taken] [V 12], [S place] [V the yard], [S time] [V 14.10]"),
    clause("set", "[T the bus] [S leaves school] [V 13.30]"),
    clause("add", "[W bus]: [I buns], [I rolls]"),
    clause("set", "[T the buns] [S amount] [V 40]"),
    clause("set", "[T the rolls] [S amount] [V 50]"),
)


@pytest.mark.parametrize(
    ("said", "then"),
    [
        ([("shift", "[T the seats taken] up by [V five]")], {"bus > taken: 17"}),
        (
            [("shift", "[T buns] [V 30 up]"), ("shift", "[T rolls] [V the same]")],
            {"bus > buns > amount: 70", "bus > rolls > amount: 80"},
        ),
        ([("shift", "[V 40 minutes later] for [T the bus]")], {"bus > time: 14.50"}),
        ([("set", "[I jam] and [I tea] too")], {"bus > jam", "bus > tea"}),
        ([("shift", "[V 40 minutes later], please")], set()),  # of two times it is asked which
    ],
)
def test_the_slot_and_the_amount_that_are_meant(said: list[tuple[str, str]], then: set[str]) -> None:
    assert lines(turn(BUS, *(clause(act, text) for act, text in said))) - lines(BUS) == then


def test_another_place_is_no_new_name_and_a_noun_is_kept() -> None:
    rooms = turn(TaskGraph(), clause("task", "[T reception] in [S place] [V the Meeting House]"))
    moved = turn(rooms, clause("replace", "for [T the reception] use [V the Assembly Rooms]"))
    assert lines(moved) == {"reception", "reception > place: Assembly Rooms"}
    paint = turn(TaskGraph(), clause("task", "[T green paint], [S amount] [V two tins]"))
    brown = turn(paint, clause("replace", "[V brown paint] instead of [O green]"))
    assert lines(brown) == {"brown paint", "brown paint > amount: two tins"}


# ---- another name of the same slot, counted things, all at once ---------------------------------------


def test_what_changes_under_a_longer_name_is_the_slot_that_says_less() -> None:
    loan = after(TaskGraph(), clause("task", "[T library loan], [S copies] [V 3], [S fine] [V $60]"))
    new = turn(loan, clause("set", "the new [S number of copies] of [T the loan] is [V two]"))
    assert lines(new) == {"library loan", "library loan > copies: 2", "library loan > fine: $60"}
    altered = turn(
        loan,
        replace(clause("ask.value", "they've altered the [S late fine] of [T the loan]."), act="set"),
        clause("set", "from now on it's [V $66]"),
    )
    assert lines(altered) == {"library loan", "library loan > copies: 3", "library loan > fine: $66"}


def test_a_counted_thing_in_the_midst_of_a_list_is_one_of_it() -> None:
    fair = after(TaskGraph(), clause("task", "[T congress] in [V May]"))
    there = turn(fair, clause("add", "we need [I train tickets], [V two single rooms] and [I a locum]"))
    assert lines(there) == {
        "congress",
        "congress > date: May",
        "congress > train tickets",
        "congress > two single rooms",
        "congress > locum",
    }


def test_the_people_whom_something_new_begins_with_have_it() -> None:
    said = clause("task", "Dr Patel and I are going to [T the congress] in [V Leeds]")
    assert "congress > assignee: Dr Patel and me" in lines(turn(TaskGraph(), said))


def test_one_of_them_is_asked_about() -> None:
    fair = after(
        TaskGraph(), clause("task", "[T fair] on [V 4 may]"), clause("task", "[T sale] on [V 5 may]")
    )
    assert lines(turn(fair, clause("set", "one of [T them] starts at [V nine]"))) == lines(fair)


def test_a_value_is_exchanged_everywhere() -> None:
    plans = after(
        TaskGraph(),
        clause("task", "[T tickets] for [V the 21st]"),
        clause("task", "[T room] for [V the 21st]"),
    )
    there = turn(plans, clause("set", "change [O the 21st] to [V the 22nd] everywhere"))
    assert lines(there) == {"tickets", "tickets > date: 22nd", "room", "room > date: 22nd"}


def test_what_a_thing_says_of_itself_is_doubled() -> None:
    sale = after(
        TaskGraph(), clause("task", "[T sale]"), clause("add", "[W sale]: [I a float of 40 quid], [I pens]")
    )
    assert "sale > float of 80 quid" in lines(turn(sale, clause("shift", "[V double] [T the float]")))


def test_some_of_several_are_how_far_it_is() -> None:
    show = after(TaskGraph(), clause("task", "[T wash 14 kilts]"))
    assert lines(turn(show, clause("done", "[T 7 kilts] washed"))) == {
        "wash 14 kilts",
        "wash 14 kilts > progress: 7 of 14 done",
    }


def test_a_yes_with_a_value_gives_it_too() -> None:
    trip = after(TaskGraph(), clause("task", "[T trip] for [V two nights]"))
    assert lines(turn(trip, clause("yes", "yes, for [V four nights]"))) == {
        "trip",
        "trip > duration: four nights",
    }


def test_what_is_left_after_all_stays() -> None:
    fitting = after(
        TaskGraph(), clause("task", "[T fitting]"), clause("add", "[W fitting]: [I fans], [I kimonos]")
    )
    for last in (
        clause("chat", "no, leave them"),
        clause("no", "no, leave them in"),
        clause("chat", "fans stay"),
    ):
        assert lines(turn(fitting, clause("remove", "cancel [T the fans]"), last)) == lines(fitting)
    assert lines(turn(fitting, clause("remove", "cancel [T the fans]. no, keep them"))) == lines(fitting)
    gone = turn(fitting, clause("remove", "cancel [T the fans]"), clause("chat", "kimonos stay"))
    assert lines(gone) == {"fitting", "fitting > kimonos"}


def test_what_has_left_does_not_take_what_it_came_with_along() -> None:
    fitting = after(TaskGraph(), clause("task", "[T fitting] with [I fans]"))
    gone = turn(fitting, clause("remove", "cancel [T the fans]"))
    assert lines(turn(gone, clause("remove", "cancel [T the fans]"))) == {"fitting"}


def test_days_of_a_rota_are_its_peoples() -> None:
    rota = turn(
        TaskGraph(),
        clause("task", "[T the rota]"),
        clause("assign", "[P Gemma] is on [T Monday and Tuesday],"),
        clause("assign", "[P Tracey] on [T Thursday and Friday]"),
    )
    days = {"rota > Gemma > date: Monday and Tuesday", "rota > Tracey > date: Thursday and Friday"}
    assert days < lines(rota)
    given = turn(rota, clause("assign", "[P Gemma] can have [T the Friday]"))
    changed = {"rota > Gemma > date: Monday, Tuesday and Friday", "rota > Tracey > date: Thursday"}
    assert changed < lines(given)
    left = turn(given, clause("assign", "[P Bo] takes [T Thursday]"))
    assert "rota > Tracey" not in lines(left)
    assert "rota > Bo > date: Thursday" in lines(left)


def test_what_is_put_in_goes_where_something_just_left() -> None:
    launch = after(
        TaskGraph(),
        clause("task", "[T launch] on [V 4 may]"),
        clause("add", "[W channels]: [I TikTok], [I newsletter]"),
    )
    there = turn(launch, clause("remove", "drop [T TikTok]"), clause("add", "and put in [I YouTube]"))
    assert "launch > channels > YouTube" in lines(there)


def test_what_goes_back_twice_in_a_message_goes_back_once() -> None:
    party = after(TaskGraph(), clause("task", "[T party], [S theme] [V dinosaurs]"))
    pirates = turn(party, clause("set", "[S theme] [V pirates]"))
    there = turn(pirates, clause("back", "back to [V dinosaurs]."), clause("back", "go back to [T that]"))
    assert "party > theme: dinosaurs" in lines(there)


def test_at_least_is_no_place() -> None:
    said = clause("task", "[T house], [V at least 3 bedrooms], in [V Oakville]")
    assert lines(turn(TaskGraph(), said)) == {
        "house", "house > detail: at least 3 bedrooms", "house > location: Oakville",
    }  # fmt: skip


VIEWINGS = turn(
    TaskGraph(),
    clause("task", "[T viewings] on [V sat]: [I the nurse] at [V 10]"),
    clause("add", "[I the couple] at [V 11]"),
    clause("add", "[I Mr Adeyemi] at [V 12.30]"),
)


def test_the_first_of_a_list_has_its_value_as_the_others_have() -> None:
    assert lines(VIEWINGS) == {
        "viewings", "viewings > date: sat", "viewings > nurse", "viewings > nurse > time: 10",
        "viewings > couple", "viewings > couple > time: 11",
        "viewings > Mr Adeyemi", "viewings > Mr Adeyemi > time: 12.30",
    }  # fmt: skip


def test_all_of_them_move() -> None:
    later = lines(turn(VIEWINGS, clause("shift", "push [T them all] back [V half an hour]")))
    assert {"viewings > nurse > time: 10:30", "viewings > couple > time: 11:30"} <= later
    assert "viewings > Mr Adeyemi > time: 13.00" in later
    assert "viewings > date: sat" in later


def test_a_number_is_no_name_of_a_couple() -> None:
    assert "viewings > couple > time: 9" in lines(
        turn(VIEWINGS, clause("set", "[T the couple] come at [V 9]"))
    )


EXAM = after(TaskGraph(), clause("task", "[T exam] at [V 9am]"))


@pytest.mark.parametrize(
    "said",
    [
        clause("shift", "push [T the dinner] back [V 30 min]"),
        clause("shift", "[S the varnish] is [V two hours] later"),
        clause("set", "move [T that dinner thing] to [V 8pm]"),
    ],
)
def test_what_no_plan_has_changes_nothing_else(said: Clause) -> None:
    assert lines(turn(EXAM, said)) == {"exam", "exam > time: 9am"}
    view = View(EXAM, turn=3, focus=("t1",))
    assert any(isinstance(one, Clarify) for one in assemble((said,), said.text, view).operations)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            clause("set", "[T porto trip]: [V 12 apr], [S budget] [V 300]"),
            clause("set", "[T berlin trip]: [V 3 may], [S budget] [V 150]"),
        ),
        (
            clause("set", "[S rent] is [V 950] for [T flat 1]"),
            clause("set", "[S rent] is [V 1020] for [T flat 2]"),
        ),
    ],
)
def test_another_of_its_kind_is_new(first: Clause, second: Clause) -> None:
    one = turn(TaskGraph(), first)
    both = turn(one, second)
    assert lines(one) < lines(both)
    assert len(both.parts(None)) == 2


def test_a_short_name_of_a_day_names_it() -> None:
    classes = after(
        TaskGraph(),
        clause("task", "[T yoga] [V weds] at [V 6pm]"),
        clause("task", "[T choir] [V thu] at [V 8pm]"),
    )
    moved = lines(turn(classes, clause("set", "move [T the wednesday thing] to [V friday]")))
    assert {"yoga > date: friday", "choir > date: thu"} <= moved


def test_the_night_that_is_more_is_no_later_day() -> None:
    trip = after(TaskGraph(), clause("task", "[T trip] on [V 20 june]"))
    assert lines(turn(trip, clause("shift", "make [V one night more]"))) == lines(trip)


def test_a_whole_is_cancelled_by_its_day_only_after_a_yes() -> None:
    said = clause("remove", "cancel [T sunday]")
    party = after(TaskGraph(), clause("task", "[T party] on [V sunday] with [I cake]"))
    (asked,) = assemble((said,), said.text, View(party, turn=3, focus=("t1",))).operations
    assert isinstance(asked, Clarify)
    assert [one.task for one in asked.choices if isinstance(one, Remove)] == ["t1"]


def test_of_several_in_a_name_or_a_value_one_leaves() -> None:
    dinner = after(
        TaskGraph(),
        clause("task", "[T dinner]"),
        clause("add", "[W dinner]: [I fish and chips], [I salad]"),
        clause("assign", "[P Mia and Jonas] make [T the salad]"),
    )
    less = turn(dinner, clause("remove", "no [T chips]"))
    assert {"dinner > fish", "dinner > salad"} <= lines(less)
    assert "dinner > salad > assignee: Mia" in lines(turn(less, clause("remove", "[P Jonas] is out")))
    layers = after(
        TaskGraph(), clause("task", "[T tank]"), clause("add", "[W tank]: [I break & layer charcoal]")
    )
    assert lines(turn(layers, clause("remove", "remove [T the charcoal]"))) == {"tank"}


def test_of_several_one_changes_places() -> None:
    crew = after(
        TaskGraph(),
        clause("assign", "[T wardrobe] is [P Jean and Sal]"),
        clause("assign", "[T wigs] is [P Tom]"),
    )
    swapped = lines(turn(crew, clause("swap", "swap [T Jean] and [T Tom]")))
    assert {"wardrobe > assignee: Tom and Sal"} <= swapped
    assert any(line.endswith("wigs > assignee: Jean") for line in swapped)


@pytest.mark.parametrize(
    "said",
    [
        [clause("need", "first [I load the car], then [T drive], then [I set up]")],
        [clause("need", "first [I load the car], then [T drive],"), clause("need", "then [I set up]")],
        [clause("need", "[T drive] after [I load the car], then [T set up]")],
        [clause("need", "[T load the car] before [I drive]"), clause("need", "then [I set up]")],
    ],
)
def test_what_is_said_in_a_row_waits_in_that_row(said: list[Clause]) -> None:
    graph = turn(after(TaskGraph(), clause("task", "[T stall]")), *said)
    named = {node.title: node for node in graph.active}
    waits = {title: {graph[key].title for key in node.depends_on} for title, node in named.items()}
    assert waits["set up"] == {"drive"}
    assert waits["drive"] == {"load the car"}


def test_what_is_not_there_empties_nothing() -> None:
    plans = after(
        TaskGraph(), clause("task", "[T room]"), clause("add", "[W room]: [I bed], [I medicine], [I lamp]")
    )
    said = clause("remove", "from [W the buying list] remove [T everything] except [E the tea]")
    assert lines(turn(plans, said)) == lines(plans)


def test_what_begins_on_another_day_ends_as_before() -> None:
    trip = after(TaskGraph(), clause("task", "[T trip], [V 12 to 16 May]"))
    moved = lines(turn(trip, clause("set", "[T the trip] now starts on [V 13 May] instead of [O 12 May]")))
    assert "trip > date: 13 May to 16 May" in moved


def test_two_people_change_places_in_all_that_they_have() -> None:
    party = turn(
        after(
            TaskGraph(),
            clause("task", "[T party]"),
            clause("add", "[W party]: [I ice], [I cups], [I speaker]"),
        ),
        clause("assign", "[P Tom] has [T the ice] and [T the cups]"),
        clause("assign", "[P Amy] has [T the speaker]"),
    )
    swapped = {
        "party > ice > assignee: Amy",
        "party > cups > assignee: Amy",
        "party > speaker > assignee: Tom",
    }
    assert swapped <= lines(turn(party, clause("swap", "swap [T Amy] and [T Tom] round")))
    assert swapped <= lines(turn(party, clause("swap", "let [T them] swap")))


def test_the_other_two_are_what_nobody_has() -> None:
    quiz = after(
        TaskGraph(),
        clause("task", "[T quiz]"),
        clause("add", "[W quiz]: [I art], [I music], [I films], [I food]"),
    )
    given = turn(
        quiz,
        clause("assign", "[P Wen] writes [T art] and [T music]"),
        clause("assign", "[P I] take [T the other two]"),
    )
    assert {"quiz > films > assignee: me", "quiz > food > assignee: me"} <= lines(given)


@pytest.mark.parametrize(
    "said",
    [
        clause("remove", "drop all but [E the gin]"),
        clause("remove", "drop [T everything] but [E the gin] and [E the boots]"),
        clause("set", "move [T the haircut] to [V Saturday]"),
    ],
)
def test_what_should_stay_or_move_and_is_not_there_is_asked_about(said: Clause) -> None:
    assert lines(turn(BAG, said)) == lines(BAG)


def test_a_day_keeps_its_month_and_a_sum_changes_no_count() -> None:
    stall = after(
        TaskGraph(),
        clause("task", "[T stall] on [V 14 May]"),
        clause("add", "[W stall]: [I plants]"),
        clause("set", "[T plants]: [V forty pots]"),
    )
    assert "stall > date: 15 May" in lines(turn(stall, clause("set", "[T the stall] moves to [V the 15]")))
    dearer = turn(stall, clause("shift", "make [T the plants] [V fifty pence more]"))
    assert lines(dearer) == lines(stall)
