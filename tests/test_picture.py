"""A plan as SVG, HTML and PNG: each task once, in a place of its own; texts are only texts."""

import re
import struct
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from taskloom.agent.cli.main import app as commands
from taskloom.agent.cli.picture import PictureError, page, png, svg
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.memory.tasks import TaskGraph, TaskNode

HOSTILE = (
    "<script>alert(1)</script>", "</title></svg><script>x</script>", "]]>", '"><img src=x onerror=alert(1)>',
    "&lt;b&gt;", "a\x00b\x1b[31m", "\ud800", "\ufffe", "W" * 500, "日本語" * 40,
    "a b " * 200, "\u202eabc", "<!--",
)  # fmt: skip
texts = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=60)).filter(
    lambda text: text.strip()
)
FONTS = any(Path("/usr/share/fonts").rglob("*.tt[fc]"))
SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def graphs(draw: st.DrawFn) -> TaskGraph:
    """Sound graphs of up to a dozen tasks, some of them gone, parts and prerequisites at random."""
    nodes: list[TaskNode] = []
    for number in range(draw(st.integers(0, 12))):
        known = [node.id for node in nodes]
        parent = draw(st.sampled_from([None, *known]))
        nodes.append(
            TaskNode(
                id=f"t{number}",
                slot=f"s{number}",
                title=draw(texts),
                value=draw(st.none() | texts),
                status=draw(st.sampled_from(["open", "proposed", "filled", "done", "inactive", "removed"])),
                parent=parent,
                depends_on=tuple(draw(st.lists(st.sampled_from(known), max_size=2, unique=True)))
                if known
                else (),
                stale_since=draw(st.none() | st.just(1)),
            )
        )
    return TaskGraph(nodes)


def drawn(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)  # noqa: S314  # what we have made ourselves


def boxes(picture: ElementTree.Element) -> dict[str, tuple[float, float, float, float]]:
    """Left, upper, right and lower end of each task, by its id."""
    found = {}
    for box in picture.findall(f"{SVG}svg"):
        (*_, note) = box.findall(f"{SVG}text")
        left, top, width, height = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
        found[(note.text or "").split(" ")[0]] = (left, top, left + width, top + height)
    return found


@given(graphs(), st.booleans())
def test_each_task_is_shown_once_in_a_place_of_its_own(graph: TaskGraph, gone: bool) -> None:
    picture = drawn(svg(graph, "plan", gone=gone))
    found = boxes(picture)
    shown = [node for node in graph.values() if gone or node.active]
    assert len(picture.findall(f"{SVG}svg")) == len(shown) == len(found)
    assert found.keys() == {node.id for node in shown}
    width, height = float(picture.attrib["width"]), float(picture.attrib["height"])
    places = [*found.values()]
    for at, (left, top, right, bottom) in enumerate(places):
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height
        for other in places[:at]:
            apart = right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
            assert apart
    for node in shown:
        if node.parent in found:
            assert found[node.parent][2] < found[node.id][0]
        for key in node.depends_on:  # what a task comes after was there before it: no circles here
            assert key not in found or found[key][2] < found[node.id][0]


@given(texts, texts, texts)
def test_texts_are_nothing_but_texts(title: str, value: str, name: str) -> None:
    graph = TaskGraph(
        [
            TaskNode(id="t1", slot="a", title=title, value=value),
            TaskNode(id="t2", slot="a.b", title=value, parent="t1", status="removed"),
        ]
    )
    picture = drawn(svg(graph, name, gone=True))
    assert {element.tag.removeprefix(SVG) for element in picture.iter()} == {
        "svg", "title", "style", "defs", "marker", "path", "rect", "text"
    }  # fmt: skip
    for element in picture.iter():
        assert not [key for key in element.attrib if key.startswith("on") or "href" in key]
    seen: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.append(tag)
            assert not [key for key, _ in attrs if key.startswith("on") or key in ("src", "href")]

    Reader().feed(page(graph, name, gone=True))
    assert set(seen) <= {
        "html", "head", "meta", "title", "style", "body", "h1", "div", "ul", "li", "small", "span",
        "svg", "defs", "marker", "path", "rect", "text",
    }  # fmt: skip


def trip() -> TaskGraph:
    return TaskGraph(
        [
            TaskNode(id="t1", slot="trip", title="Trip", depends_on=("t4",)),
            TaskNode(id="t2", slot="trip.place", title="place", value="Rome", status="filled", parent="t1"),
            TaskNode(
                id="t3", slot="trip.hotel", title="hotel", parent="t1", depends_on=("t2",), stale_since=2
            ),
            TaskNode(id="t4", slot="money", title="Save <money>", status="done"),
            TaskNode(id="t5", slot="old", title="old", status="removed"),
        ]
    )


def test_what_stands_in_it() -> None:
    picture = svg(trip(), "Plan & trip")
    assert "<title>Plan &amp; trip</title>" in picture
    assert re.findall(r'class="note">([^<]*)<', picture) == ["t1", "t2", "t3 · may be outdated", "t4 · done"]
    assert picture.count('class="after" marker-end') == 2
    assert "Save &lt;money&gt;" in picture
    assert "t5 · removed" in svg(trip(), "x", gone=True)
    shown = page(trip(), "Plan & trip", gone=True)
    assert "<li>place: Rome <small>t2</small>" in shown
    assert '<span class="gone">old</span> <small>t5 · removed</small>' in shown
    assert "default-src 'none'" in shown
    assert "http" not in shown.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    for text in (svg(TaskGraph(), "x"), page(TaskGraph(), "x")):
        assert "There is nothing in the plan." in text


def test_what_comes_after_its_own_part_is_drawn_too() -> None:
    graph = TaskGraph(
        [
            TaskNode(id="t1", slot="a", title="a", depends_on=("t3",)),
            TaskNode(id="t2", slot="b", title="b", parent="t1"),
            TaskNode(id="t3", slot="c", title="c", parent="t2"),
        ]
    )
    found = boxes(drawn(svg(graph, "x")))
    assert found["t1"][2] < found["t2"][0] < found["t3"][0]


def test_a_large_plan_is_drawn_and_too_many_pixels_are_refused() -> None:
    roots = [TaskNode(id=f"t{n}", slot=f"s{n}", title=f"task {n}") for n in range(1_000)]
    parts = [
        TaskNode(id=f"p{n}", slot=f"s{n % 1000}.p{n}", title="part", parent=f"t{n % 1000}")
        for n in range(4_000)
    ]
    text = svg(TaskGraph([*roots, *parts]), "x")
    assert len(drawn(text).findall(f"{SVG}svg")) == 5_000
    with pytest.raises(
        PictureError, match=r"would have 520 x \d\d\d,\d\d\d pixels: take --format svg or html"
    ):
        png(text)


def test_pixels() -> None:
    if not FONTS:
        pytest.skip("there is no font on this machine")
    data = png(svg(trip(), "x"))
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    picture = drawn(svg(trip(), "x"))
    assert (str(width), str(height)) == (picture.attrib["width"], picture.attrib["height"])
    assert data != png(
        svg(TaskGraph([node.model_copy(update={"title": "x"}) for node in trip().values()]), "x")
    )


def test_without_what_draws_pixels_it_is_told_what_to_install() -> None:
    code = (
        "import sys; sys.modules['resvg_py'] = None\nfrom taskloom.agent.cli.picture import png, svg\n"
        "from taskloom.memory.tasks import TaskGraph\npng(svg(TaskGraph(), 'x'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'taskloom[picture]', or take --format svg or html" in done.stderr


def test_the_command_writes_each_format(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Taskloom.open(Settings(memory=False)) as opened:
        opened.load(trip().to_json(), thread="trip <1>")
    shown = {}
    for form in ("svg", "html", "png"):
        done = CliRunner().invoke(commands, ["tasks", "--thread", "trip <1>", "--format", form])
        assert done.exit_code == 0 or (form == "png" and not FONTS), done.output
        shown[form] = done.stdout_bytes
    assert boxes(drawn(shown["svg"].decode())).keys() == {"t1", "t2", "t3", "t4"}
    assert b"<title>Plan trip &lt;1&gt;</title>" in shown["svg"]
    assert shown["html"].startswith(b"<!doctype html>")
    assert shown["png"].startswith(b"\x89PNG") or not FONTS
    done = CliRunner().invoke(commands, ["tasks", "--thread", "trip <1>", "--format", "svg", "--all"])
    assert "t5" in boxes(drawn(done.stdout))
