"""The built wheel, used from a folder outside the checkout that has its own tools.py and agent.py.

`TASKLOOM_WHEEL` names a wheel to look at; otherwise one is built here.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import get_type_hints

import pytest
from langgraph_cli import schemas

ROOT = Path(__file__).parent.parent
PARTS = ("agent", "memory", "tools")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# What the host application does: its own modules win, and every module of Taskloom is its own.
HOST = """
import importlib, pkgutil, sys
import agent, memory, tools
assert agent.OWNER == memory.OWNER == tools.OWNER == "host"
import taskloom
names = [m.name for m in pkgutil.walk_packages(taskloom.__path__, "taskloom.") if "__main__" not in m.name]
for name in names:
    assert importlib.import_module(name).__file__.startswith(sys.prefix), name
print(*names)
"""


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """What a command prints, run without a terminal; its errors are part of the failure's message."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"{command} gave {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def in_the_image(folder: Path) -> Path:
    """A folder with what Docker is given of the checkout: all is left out but what .dockerignore names."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    first, *rules = [line for line in lines if line and not line.startswith("#")]
    assert first == "*"
    for name in (rule[1:] for rule in rules if rule.startswith("!")):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if given := os.environ.get("TASKLOOM_WHEEL"):
        return ROOT / given
    # From a copy, because building leaves files behind and other tests run at the same time.
    copy = in_the_image(tmp_path_factory.mktemp("copy"))
    # The source distribution first and the wheel from it, so that nothing is missing in either.
    run(sys.executable, "-m", "build", "--no-isolation", copy, cwd=copy)
    (built,) = (copy / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts folder of a new environment with the wheel in it and this one's dependencies beside."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, symlinks=True)
    scripts = home / "bin"
    pip = (sys.executable, "-m", "pip", "--python", scripts / "python")
    run(*pip, "install", "--no-deps", "--no-index", wheel, cwd=home)
    # A plain path line does not run this environment's own .pth files: the editable install stays out.
    site = run(scripts / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home)
    Path(site.strip(), "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return scripts


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A folder of a host application whose modules are named as Taskloom's folders are."""
    for part in PARTS:
        (tmp_path / f"{part}.py").write_text('OWNER = "host"\n', encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_the_wheel_holds_the_three_parts_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    shipped = {
        f"taskloom/{path.relative_to(ROOT)}"
        for part in PARTS
        for path in (ROOT / part).rglob("*")
        if path.suffix in {".py", ".json", ".npz", ".onnx"} or path.name == "py.typed"
    } | {f"taskloom/{path.relative_to(ROOT)}" for path in (ROOT / "memory" / "minilm").iterdir()}
    assert {name for name in names if ".dist-info/" not in name} == shipped
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.slow
def test_every_module_imports_beside_a_host_with_the_same_names(installed: Path, host: Path) -> None:
    found = run(installed / "python", "-c", HOST, cwd=host, PYTHONPATH=str(host)).split()
    files = [path.relative_to(ROOT) for part in PARTS for path in (ROOT / part).rglob("*.py")]
    here = {".".join(["taskloom", *path.with_suffix("").parts]).removesuffix(".__init__") for path in files}
    assert set(found) == here


@pytest.mark.slow
def test_the_command_runs_beside_a_host_with_the_same_names(installed: Path, host: Path) -> None:
    script = host / "script.json"
    script.write_text(json.dumps(["I want to plan a trip to Boston.", "Where am I going?"]), encoding="utf-8")
    printed = run(
        installed / "taskloom", "run", script, "--json",
        cwd=host, PYTHONPATH=str(host), TASKLOOM_HOME=str(host / "home"), TASKLOOM_MODEL="",
    )  # fmt: skip
    turns = [json.loads(line) for line in printed.splitlines()]
    assert [turn["turn"] for turn in turns] == [1, 2]
    assert "Boston" in turns[1]["reply"]


def normal(requirement: str) -> str:
    """The name in a requirement or a pin, as package indexes compare names."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def test_the_constraints_hold_every_dependency() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *extras["dev"], *extras["browser"], *extras["bench"]]
    assert {normal(line) for line in wanted} <= {normal(line) for line in pins}


def test_every_library_that_the_code_imports_is_a_dependency() -> None:
    providers = packages_distributions()
    extras = [lines for name, lines in PROJECT["optional-dependencies"].items() if name != "dev"]
    declared = {normal(line) for lines in (PROJECT["dependencies"], *extras) for line in lines}
    for path in (path for part in PARTS for path in (ROOT / part).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names = [node.module]
            for top in {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"taskloom"}:
                found = {normal(name) for name in providers.get(top, [top])}  # an extra may not be installed
                assert found & declared, f"{path.relative_to(ROOT)} imports {top}, of {found}"


def test_what_make_test_leaves_out_make_check_runs() -> None:
    given = ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "PROFILE", "FULL", "ARGS", "COVERAGE")

    def pytests(*made: str) -> list[str]:
        without = (f"--unset={name}" for name in given)  # of the make that runs this test
        lines = run("env", *without, "make", "-n", *made, cwd=ROOT).splitlines()
        return [line for line in lines if "-m pytest -n" in line]

    (quick,), (whole,), (named,) = pytests("test"), pytests("check"), pytests("test", "ARGS=-k rollback")
    assert "-m 'not slow'" in quick
    assert "slow" not in whole + named


def test_an_image_is_described_by_what_docker_is_given(tmp_path: Path) -> None:
    """The wheel of the other tests is built from the same files."""
    folder = in_the_image(tmp_path)
    kept = {path.name for path in folder.iterdir()}
    assert kept == {
        *PARTS,
        "app.py",
        "aegra.json",
        "langgraph.json",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "constraints.txt",
    }
    run(sys.executable, "-m", "langgraph_cli", "dockerfile", folder / "Dockerfile", cwd=folder,
        LANGGRAPH_CLI_NO_ANALYTICS="1")  # fmt: skip
    dockerfile = (folder / "Dockerfile").read_text()
    assert f"ADD . /deps/{folder.name}" in dockerfile
    (graphs,) = re.findall(r"^ENV LANGSERVE_GRAPHS='(.*)'$", dockerfile, re.MULTILINE)
    assert json.loads(graphs) == json.loads((ROOT / "langgraph.json").read_text())["graphs"]
    assert "taskloom.agent.graph.auth:auth" in dockerfile
    (saver,) = re.findall(r"^ENV LANGGRAPH_CHECKPOINTER='(.*)'$", dockerfile, re.MULTILINE)
    assert json.loads(saver)["serde"] == {"allowed_msgpack_modules": None, "pickle_fallback": False}


def test_the_configuration_of_the_server_is_valid_and_says_nothing_unknown() -> None:
    told = run(sys.executable, "-m", "langgraph_cli", "validate", "-c", ROOT / "langgraph.json", cwd=ROOT,
               LANGGRAPH_CLI_NO_ANALYTICS="1")  # fmt: skip
    assert "is valid" in told
    assert "warning" not in told  # of a name that it does not know; those further in it passes over
    config = json.loads((ROOT / "langgraph.json").read_text())
    kinds = {
        "auth": schemas.AuthConfig,
        "http": schemas.HttpConfig,
        "checkpointer": schemas.CheckpointerConfig,
    }
    for name, kind in kinds.items():
        assert config[name].keys() <= get_type_hints(kind).keys()
    assert config["checkpointer"]["serde"].keys() <= get_type_hints(schemas.SerdeConfig).keys()
