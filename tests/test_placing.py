"""Where something new goes that a message says no place for: its plan, its list, or none."""

from __future__ import annotations

import pytest

from taskloom.agent.grounding.resolving.assemble import assemble
from taskloom.agent.turn.clauses import Clause
from taskloom.agent.turn.reading import View
from taskloom.memory.operations import Clarify, apply
from taskloom.memory.tasks import TaskGraph
from tests.test_plan import after, clause, lines
from tests.test_reshaping import turn

FAIR = after(
    TaskGraph(),
    clause("task", "[T fair] on [V 4 may]"),
    clause("add", "[W fair]: [I cakes], [I urn]"),
)


def test_a_list_of_things_to_do_is_part_of_the_plan_for_a_day() -> None:
    jobs = clause("task", "[T hang up posters], [T print tickets] and [T call the mayor]")
    assert all(
        node.parent == FAIR.parts(None)[0].id
        for node in turn(FAIR, jobs).values()
        if node.title.startswith(("hang", "print", "call"))
    )
    chores = turn(after(TaskGraph(), clause("task", "[T ring the vet]")), jobs)
    assert len(chores.parts(None)) == 4
    single = turn(FAIR, clause("task", "[T dentist] on [V monday]"))
    assert len(single.parts(None)) == 2


def test_a_list_with_a_name_that_is_new_is_in_the_plan_that_is_spoken_of() -> None:
    there = turn(FAIR, clause("add", "[W helpers]: [I Ann], [I Bo]"))
    helpers = next(node for node in there.active if node.title == "helpers")
    assert helpers.parent == FAIR.parts(None)[0].id
    assert [node.title for node in there.parts(helpers.id)] == ["Ann", "Bo"]


def test_a_name_that_ends_with_another_number_is_another_one() -> None:
    rota = after(TaskGraph(), clause("task", "[T rota] for [V may]"))
    there = turn(
        rota, *(clause("assign", f"[P {who}] has [T week {n}]") for n, who in ((1, "Ann"), (2, "Bo")))
    )
    assert sorted(node.title for node in there.active if node.title.startswith("week")) == [
        "week 1",
        "week 2",
    ]


def test_the_rest_is_what_nobody_has() -> None:
    fair = turn(FAIR, clause("add", "[W fair]: [I tea]"), clause("assign", "[P Cy] brings [T the tea]"))
    shared = turn(
        fair, clause("assign", "[P Ann] brings [T the cakes]"), clause("assign", "[P Bo] [T the rest]")
    )
    has = {
        shared[node.parent].title: node.value
        for node in shared.active
        if node.title == "assignee" and node.parent
    }
    assert has == {"tea": "Cy", "cakes": "Ann", "urn": "Bo"}


def test_what_is_said_after_who_does_something_stands_beside_that() -> None:
    shared = turn(
        FAIR, clause("assign", "[P Ann] brings [T the cakes]"), clause("task", "I [T bring the sign]")
    )
    assert (
        next(node for node in shared.active if node.title == "bring the sign").parent
        == FAIR.parts(None)[0].id
    )


def test_what_the_last_question_names_by_a_word_of_its_own_is_spoken_of() -> None:
    house = after(
        TaskGraph(),
        clause("task", "[T move] on [V 4 may]"),
        clause("add", "[W move]: [I empty one wardrobe], [I flights], [I paint the hall]"),
    )
    said = (("all booked", "The flights are done. What about the wardrobe?"),)
    view = View(house, turn=9, focus=(), exchanges=said)
    for operation in assemble([clause("set", "[T it] on [V 2 june]")], "it on 2 june", view).operations:
        house = apply(house, operation, turn=9, said="said").graph
    assert "move > empty one wardrobe > date: 2 june" in lines(house)


def test_an_amount_in_the_name_of_what_it_counts_is_not_said_twice() -> None:
    there = turn(FAIR, clause("add", "[W fair]: [V1 6] [I1 tents], [V2 2] [I2 axes]"))
    assert {"fair > 6 tents", "fair > 2 axes"} <= lines(there)
    assert not any("number" in line for line in lines(there))


JOBS = turn(
    TaskGraph(),
    clause("task", "[T move] on [V 4 may]"),
    clause("add", "[W move]: [I tag tools], [I walk the dog], [I choose tiles], [I tiles], [I knee click]"),
    clause("assign", "[P Ann and Bo] [T tag tools]"),
    clause("set", "[T walk the dog] costs [V £9]"),
    clause("set", "[T the tiles] on [V 9 june]"),
)
JOBS = turn(JOBS, clause("add", "the phone is at Barry's, [I castle] for [W the move]"))


@pytest.mark.parametrize(
    ("reply", "clauses", "then"),
    [
        ("Tiles chosen. Who tags?", [clause("assign", "[P Cy]")], "move > tag tools > assignee: Cy"),
        ("The tiles came.", [clause("set", "dog woman is [V £12]")], "move > walk the dog > price: £12"),
        ("", [clause("set", "[T tiles] at [V 9:15]")], "move > tiles > time: 9:15"),
        ("", [clause("set", "[T the phone] is [V 0117 55]")], "move > castle > detail: 0117 55"),
        ("The tiles are on 9 june.", [clause("set", "it is [V 8 june]")], "move > tiles > date: 8 june"),
        ("The tiles are on 9 june.", [clause("shift", "[V a week later]")], "move > tiles > date: 16 june"),
        (
            "",
            [clause("set", "tag tools is early, [T they] start at [V 8:30]")],
            "move > tag tools > time: 8:30",
        ),
        ("", [clause("remove", "[P Bo] is off [T tag tools]")], "move > tag tools > assignee: Ann"),
    ],
)
def test_what_words_hint_at(reply: str, clauses: list[Clause], then: str) -> None:
    assert then in lines(turn(JOBS, *clauses, reply=reply))


@pytest.mark.parametrize(
    ("clauses", "left"),
    [
        ([clause("remove", "the knee is a physio thing, take [T it] off")], {"knee click"}),
        ([clause("hold", "forget the tools for now")], {"tag tools"}),
        ([clause("chat", "the castle is mega expensive"), clause("remove", "bin [T it]")], {"castle"}),
        ([clause("add", "[W move]: [I soup]"), clause("remove", "no soup, cut [T it]")], set()),
    ],
)
def test_what_leaves_is_what_the_message_names_before_a_pronoun(
    clauses: list[Clause], left: set[str]
) -> None:
    there = turn(JOBS, *clauses)
    assert {node.title for node in JOBS.active if not there[node.id].active and node.value is None} == left


def test_a_value_of_which_nobody_spoke_is_not_lost_without_a_question() -> None:
    trip = turn(TaskGraph(), clause("task", "[T trip] on [V 22 may]"))
    view = View(trip, turn=9, focus=("t1",), exchanges=(("who lines it?", "The lining is Ann's."),))
    [asked] = assemble([clause("set", "found it: [V 13 april]")], "found it: 13 april", view).operations
    assert isinstance(asked, Clarify)
    assert "22 may" in asked.question
    [done] = assemble([clause("set", "it moved to [V 13 april]")], "it moved to 13 april", view).operations
    assert not isinstance(done, Clarify)


def test_what_was_taken_out_comes_back_as_an_item() -> None:
    less = turn(JOBS, clause("remove", "no [T castle]"))
    assert "move > castle" in lines(turn(less, clause("back", "they want [I castle] after all")))


def answered(graph: TaskGraph, reply: str, *clauses: Clause) -> TaskGraph:
    """The plan after a message that answers a reply about what changed last."""
    number = max((node.turn for node in graph.values()), default=0) + 1
    lately = sorted(graph.values(), key=lambda node: -node.turn)
    focus = tuple(node.id for node in lately)[:12]
    view = View(graph, turn=number, focus=focus, exchanges=(("said", reply),))
    for operation in assemble(clauses, " ".join(one.text for one in clauses), view).operations:
        graph = apply(graph, operation, turn=number, said="said").graph
    return graph


KIT = turn(turn(FAIR, clause("add", "[W kit]: [I screen], [I rug]")), clause("remove", "[T the rug] is out"))


@pytest.mark.parametrize(
    ("graph", "reply", "said", "new"),
    [
        # what goes 'there' goes into what was spoken of, 'on it' onto the list that something has just left
        (turn(FAIR, clause("need", "[I the walk] before [T the cakes]")), "Noted the walk.",
         [("add", "questions to raise there: [I lights]")], {"fair > walk > lights"}),
        (KIT, "The rug is out.", [("add", "put [I popcorn] on [W it]")], {"fair > kit > popcorn"}),
        (FAIR, "", [("task", "and [T biscuit tins]"), ("add", "inside [I jam] and [I rye]")],
         {"biscuit tins", "biscuit tins > jam", "biscuit tins > rye"}),
        # what 'that' is which has just been added, and 'them' all that the reply names
        (FAIR, "", [("add", "[I a letter], too"), ("assign", "[P Ann] writes [T that]")],
         {"fair > letter", "fair > letter > assignee: Ann"}),
        (turn(FAIR, clause("add", "[W fair]: [I trunks], [I armbands]")), "Trunks and armbands are listed.",
         [("assign", "[P Ann] packs [T them]")],
         {"fair > trunks > assignee: Ann", "fair > armbands > assignee: Ann"}),
        # words that are no name are asked about
        (FAIR, "", [("assign", "[P Ann] gets [T the gift one]")], set()),
        (FAIR, "", [("assign", "[P Ann] types [T his own]")], set()),
        (FAIR, "", [("assign", "[P Ann] gets [T the gift one]"), ("set", "[T it] is due [V 9 may]")], set()),
        # a participle is said of the noun before it, a value of the only item
        (FAIR, "", [("need", "the wall [I dried out] first, then [T the cakes]")], {"fair > wall dried out"}),
        (FAIR, "", [("add", "the guest at [V noon] is [I the mayor]")],
         {"fair > mayor", "fair > mayor > time: noon"}),
    ],
)  # fmt: skip
def test_what_is_only_pointed_at_has_its_place(
    graph: TaskGraph, reply: str, said: list[tuple[str, str]], new: set[str]
) -> None:
    there = answered(graph, reply, *(clause(act, text) for act, text in said))
    assert lines(there) - lines(graph) == new


SCIENCE = turn(
    TaskGraph(),
    clause("task", "[T science day], [S station count] [V 4], [S deposit] [V £85]"),
    clause("add", "[W science day]: [I volcano], [I slime]"),
    clause("assign", "[P Bo] has [T the volcano]"),
    clause("task", "[T order 2], [S chair] [V room 1]"),
)


@pytest.mark.parametrize(
    ("act", "said", "new"),
    [
        ("assign", "[O Bo] is ill, [P Ines] takes [T her station]", {"volcano > assignee: Ines"}),
        ("assign", "[P Ines] does [T the deposit]", {"deposit", "deposit > assignee: Ines"}),
        ("set", "[T order 1] is for [V monday]", {"order 1", "order 1 > date: monday"}),
        ("need", "one [I empty the crate], two [I shake slime tins], three [I go]",
         {"empty the crate", "shake slime tins", "go"}),
    ],
)  # fmt: skip
def test_no_slot_and_no_other_thing_of_a_like_name_is_meant(act: str, said: str, new: set[str]) -> None:
    there = lines(turn(SCIENCE, clause(act, said))) - lines(SCIENCE)
    assert {line.removeprefix("science day > ") for line in there} == new


def test_something_comes_before_all_else_of_its_list() -> None:
    there = turn(FAIR, clause("need", "[I the cakes] before [T anything else]"))
    urn = next(node for node in there.active if node.title == "urn")
    assert [there[key].title for key in urn.depends_on] == ["cakes"]
    assert lines(there) == lines(FAIR)


def test_what_is_used_here_is_used_there_as_well() -> None:
    there = turn(
        FAIR, clause("share", "use [I the ladder] for [T the urn]"), clause("share", "and for [T the cakes]")
    )
    urn, cakes = (next(node for node in there.active if node.title == name) for name in ("urn", "cakes"))
    assert [node.title for node in there.parts(urn.id)] == ["ladder"]
    assert [there[key].title for key in cakes.depends_on] == ["ladder"]
