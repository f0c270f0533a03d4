"""What compose.yaml and the Dockerfile name is there: files, settings, services and their ports."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from taskloom.agent.settings import Settings
from tests.test_packaging import in_the_image

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
KNOWN = {
    field.validation_alias or f"TASKLOOM_{name.upper()}" for name, field in Settings.model_fields.items()
}
# What images of others listen on, as their documentation says.
PORTS = {"postgres": 5432, "redis": 6379, "chroma": 8000, "langgraph": 8000}


def port_of_aegra() -> int:
    (port,) = re.findall(r'"aegra", "serve", .*"--port", "(\d+)"', DOCKERFILE)
    return int(port)


def test_settings_are_ours(subtests: pytest.Subtests) -> None:
    for name in ("aegra", "langgraph"):
        for variable in SERVICES[name]["environment"]:
            with subtests.test(f"{name} {variable}"):
                assert not variable.startswith(("TASKLOOM_", "OPENAI_")) or variable in KNOWN
    assert set(re.findall(r"(TASKLOOM_\w+)=", DOCKERFILE)) <= KNOWN


def test_addresses_are_those_of_services(subtests: pytest.Subtests) -> None:
    ports = {**PORTS, "aegra": port_of_aegra()}
    for name, service in SERVICES.items():
        for variable, value in (service.get("environment") or {}).items():
            if "://" in str(value):
                with subtests.test(f"{name} {variable}"):
                    host = urlsplit(re.sub(r"\$\{.*?\}", "secret", value))
                    assert host.hostname in service["depends_on"]
                    assert host.port == ports[str(host.hostname)]
        for other in service.get("depends_on", {}):
            assert other in SERVICES
            waits = service["depends_on"][other]["condition"]
            assert waits == "service_started" or "healthcheck" in SERVICES[other]
        for given in service.get("ports", []):
            with subtests.test(f"{name} {given}"):
                here, _, inside = given.rpartition(":")
                assert here.startswith("127.0.0.1:")
                assert int(inside) == ports[name]
        for volume in service.get("volumes", []):
            assert volume.partition(":")[0] in COMPOSE["volumes"]
    assert f":{ports['aegra']}/ready" in str(SERVICES["aegra"]["healthcheck"])


def test_every_variable_is_told_or_has_a_default() -> None:
    text = (ROOT / "compose.yaml").read_text()
    must = set(re.findall(r"\$\{(\w+):\?", text))
    assert must == {"POSTGRES_PASSWORD", "TASKLOOM_API_KEYS"}
    for variable, rest in re.findall(r"\$\{(\w+)(:?[-?])?", text):
        assert rest or variable in must, variable
    assert all(f"{variable}=" in text.partition("\nx-")[0] for variable in must)


def test_the_image_has_the_files_that_it_is_made_of(tmp_path: Path) -> None:
    folder = in_the_image(tmp_path)
    for name in re.findall(r"[\w.]+\.(?:json|txt)\b", DOCKERFILE):
        assert (folder / name).is_file(), name
    config = json.loads((folder / "aegra.json").read_text())
    for given in (*config["graphs"].values(), config["auth"]["path"], config["http"]["app"]):
        path, _, name = given.partition(":")
        assert re.search(rf"\b{name}\b", (folder / path).read_text()), given


def test_versions_are_the_same_everywhere() -> None:
    served = (ROOT / "tests" / "aegra_server.py").read_text()
    pins = {re.findall(r"aegra-cli==[\d.]+", text)[0] for text in
            (DOCKERFILE, served, (ROOT / ".ci" / "run").read_text())}  # fmt: skip
    assert len(pins) == 1
    (chroma,) = re.findall(r"^chromadb==(.*)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert SERVICES["chroma"]["image"] == f"chromadb/chroma:{chroma}"
