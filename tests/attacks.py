"""What an attack tries, and which tests try it: `make attack` runs these and prints this table with outcomes.

A name is a file of tests, or with :: a test in one, or how the names of some begin. Each of them is marked
`attack`; those that are marked in their files stand here too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ATTACKS: dict[str, tuple[str, ...]] = {
    "a thread has one owner; forgetting leaves no byte of theirs, and all of others'": (
        "test_owner", "test_memory_commands::test_forget", "test_savers::test_a_thread_has_one_owner",
        "test_server::test_another_user_is_refused", "test_postgres::test_the_terminal_keeps_all",
    ),
    "runs at once on one thread: nothing lost or doubled, no effect twice": (
        "test_at_once", "test_savers::test_six", "test_savers::test_what_is_approved",
        "test_savers::test_two_savers", "test_savers::test_processes", "test_savers::test_a_killed_run",
        "test_server::test_six", "test_server::test_what_is_approved",
        "test_server::test_whoever_is_not_queued",
    ),
    "nobody is called, nothing is written outside the home": ("test_quiet",),
    "files are their owner's alone": ("test_private",),
    "users of a server: who they are, and what is not there for them": (
        "test_server::test_the_one_who_calls", "test_server::test_nobody",
        "test_server::test_what_is_one_users",
        "test_server::test_schedules", "test_server::test_what_else_reaches", "test_server::test_tokens",
        "test_server::test_a_public_key", "test_server::test_keys", "test_server::test_without_keys",
        "test_server::test_what_nothing_is_said_of", "test_mcp_server::test_only_the_key",
        "test_mcp_server::test_a_page_under", "test_mcp_server::test_nobody_reaches",
        "test_store::test_no_cross_read", "test_store::test_hostile_users",
    ),
    "time grows with the text, whatever it is made of": (
        "test_long_texts",
    ),
    "66 faults of a model cost a turn nothing but the model": (
        "test_model_faults", "test_llm::test_a_damaged_reply",
    ),
    "what is nested deeply or has thousands of digits is refused in words": ("test_deep_inputs",),
    "no answer is an approval by accident": ("test_approvals",),
    "code of a model stays in its sandbox, and says nothing that it could not leave as a result": (
        "test_sandbox", "test_python_tool",
    ),
    "what is cut off or steers a terminal is told, or left out": (
        "test_shown", "test_web::test_a_body_that_is_cut_off", "test_web::test_a_compressed_body",
    ),
    "hidden instructions change neither plan nor memory, alone or beside what is asked for": (
        "test_hidden_instructions", "test_vouched",
    ),
    "a file of tools, on a server that allows no blocking": ("test_server::test_tools_of_a_file",),
    "a host's saver, strict, with warnings as errors": ("test_embedding", "test_plain"),
    "calls from any node of a host are on one thread": ("test_embedding",),
    "schemas, drawing, pieces and events for an interface": (
        "test_server::test_schemas", "test_server::test_the_graph_is_drawn", "test_graph::test_schemas_are",
        "test_graph::test_the_drawing", "test_graph::test_a_reply_by_template",
        "test_graph::test_a_run_tells",
    ),
    "an image has no secret of the checkout": ("test_packaging::test_an_image",),
    "PostgreSQL carries threads, calls and the queue": ("test_postgres", "test_savers"),
    "several messages, a state that is passed back, edits by hand": (
        "test_graph::test_several_messages", "test_graph::test_a_state_that_is_passed_back",
        "test_graph::test_an_edit",
    ),
    "memory is looked at and forgotten while another process holds it": (
        "test_two_processes", "test_lease", "test_memory_commands::test_forget",
        "test_server::test_what_a_server_holds",
    ),
    "kills: each effect at most once, and done or reported; what was answered is there": (
        "test_kill", "test_journal", "test_outbox", "test_mcp_server::test_what_was_acknowledged",
        "test_pruning::test_a_thread_is_pruned_or_not",
    ),
    "what is read in of memory, and of a sub-agent's plan, harms no command and no turn": (
        "test_memory_commands::test_records", "test_parts::test_no_plan", "test_parts::test_what_is_too_deep",
    ),
    "settings that cannot be are told of": (
        "test_cli::test_settings", "test_cli::test_a_user_who", "test_server::test_a_public_key",
    ),
    "an open server of two workers: killed, its database restarted, six at once": ("test_aegra",),
    "a full disk, and files that are damaged": (
        "test_full_disk", "test_damage", "test_store::test_a_damaged", "test_store::test_a_full_disk",
        "test_longterm::test_a_damaged", "test_journal::test_a_damaged",
    ),
}  # fmt: skip


def is_one(nodeid: str, names: Sequence[str]) -> bool:
    """Whether a test is one of those named."""
    file, _, test = nodeid.partition("::")
    stem = file.rpartition("/")[2].removesuffix(".py")
    named = (name.partition("::") for name in names)
    return any(stem == of and test.startswith(begins) for of, _, begins in named)


def table(outcomes: Mapping[str, str]) -> list[str]:
    """The table, a line for each thing tried. outcomes: passed, failed, skipped... by the ids of tests."""
    lines = []
    for tried, names in ATTACKS.items():
        found = [outcome for nodeid, outcome in outcomes.items() if is_one(nodeid, names)]
        counts = {outcome: found.count(outcome) for outcome in dict.fromkeys(sorted(found))}
        held = "HELD " if counts.keys() <= {"passed", "skipped"} and counts.get("passed") else "OPEN "
        told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "not run"
        files = ", ".join(dict.fromkeys(name.partition("::")[0] for name in names))
        lines.append(f"{held} {tried}: {told} ({files})")
    return lines
