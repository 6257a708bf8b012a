"""The locked versions, the licences and the oldest versions agree with pyproject.toml."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from importlib.metadata import version
from subprocess import CompletedProcess

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import audit
import lock
import make_notice

DECLARED = make_notice.declared()
LOCKED = make_notice.locked()
TESTED = sorted([*DECLARED["default"], *DECLARED["dev"]], key=str)
"""What the tests need: `dev` contains the other extras that they use."""


def is_tested(name: str) -> bool:
    """Return whether the installed version of a package is the locked one."""
    return name not in LOCKED or version(name).partition("+")[0] == LOCKED[name]


@pytest.mark.parametrize("requirement", TESTED, ids=str)
def test_every_requirement_is_locked_within_its_range(requirement: Requirement) -> None:
    locked = LOCKED[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(locked), f"{requirement}: {locked}; run make lock"


def test_what_requirements_need_is_locked_too() -> None:
    for name, package in make_notice.installed(TESTED).items():
        assert name in LOCKED, f"{name} is not in requirements.txt: run make lock"
        for line in package.requires or () if is_tested(name) else ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                locked = LOCKED[canonicalize_name(needed.name)]
                assert needed.specifier.contains(locked, prereleases=True), f"{name}: {line}"


def test_what_builds_the_package_is_locked_too() -> None:
    project = tomllib.loads((make_notice.ROOT / "pyproject.toml").read_text("utf-8"))
    for line in project["build-system"]["requires"]:
        requirement = Requirement(line)
        assert requirement.specifier.contains(LOCKED[requirement.name])


def test_every_file_is_hashed_and_pytorch_is_left_to_its_index() -> None:
    text = lock.LOCK.read_text("utf-8")
    assert "://" not in text
    packages = re.split(r"^(?=\w)", text, flags=re.M)[1:]
    names = [re.split("==", each)[0] for each in packages]
    assert names == sorted(set(names))
    assert "torch" not in names
    assert not [name for name in names if name.startswith(("nvidia-", "cuda-", "triton"))]
    for each in packages:
        pin, *hashes = each.removesuffix("\n").split(" \\\n")
        assert re.fullmatch(r"[\w.-]+==[\w.]+( ; .+)?", pin)
        assert hashes
        assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}", line) for line in hashes)


def test_pytorch_and_what_only_it_needs_are_taken_out() -> None:
    resolved = (
        "anyio==1.0 \\\n    --hash=sha256:00\n"
        "cuda-bindings==1.0 ; sys_platform == 'linux' \\\n    --hash=sha256:01\n"
        "nvidia-cublas==1.0 \\\n    --hash=sha256:02 \\\n    --hash=sha256:03\n"
        "torch-geometric==1.0 \\\n    --hash=sha256:04\n"
        "torch==1.0 \\\n    --hash=sha256:05\n"
        "triton==1.0 \\\n    --hash=sha256:06\n"
    )
    assert lock.without_torch(resolved) == (
        "anyio==1.0 \\\n    --hash=sha256:00\ntorch-geometric==1.0 \\\n    --hash=sha256:04\n"
    )


def notice_rows() -> dict[str, tuple[str, str]]:
    """Return licences and extras in NOTICE by package."""
    lines = make_notice.NOTICE.read_text("utf-8").rpartition("\n\n")[2].splitlines()
    rows = [re.split(" {2,}", line) for line in lines]
    return {name: (stated, parts) for name, parts, stated in rows}


def test_the_notice_has_the_licences_of_all_packages() -> None:
    noted = notice_rows()
    assert set(LOCKED) <= set(noted), "run tools/make_notice.py"
    assert {canonicalize_name(each.name) for part in DECLARED.values() for each in part} <= set(
        noted
    )
    for name, (stated, _) in make_notice.table().items():
        if is_tested(name):
            assert noted[name][0] == stated, f"{name}: run tools/make_notice.py"


def test_every_licence_is_compatible_or_flagged() -> None:
    text = make_notice.NOTICE.read_text("utf-8")
    flagged = {n for n, (stated, _) in notice_rows().items() if not make_notice.compatible(stated)}
    assert flagged == set(make_notice.FLAGGED)
    for name in flagged:
        assert f"\n- {name}: {make_notice.FLAGGED[name]}\n" in text


def test_a_licence_without_an_explanation_is_an_error() -> None:
    with pytest.raises(SystemExit, match=r"'other'"):
        make_notice.notice({"other": ("GPL-3.0-only", "default")})


@pytest.mark.parametrize(
    ("expression", "expected"),
    [("MIT", True), ("MIT OR GPL-3.0-only", False), ("Apache-2.0 AND MIT", True), ("", False)],
)
def test_what_is_compatible(expression: str, expected: bool) -> None:
    assert make_notice.compatible(expression) is expected


def test_no_default_requirement_is_flagged() -> None:
    assert all(
        parts != "default" or make_notice.compatible(stated)
        for stated, parts in notice_rows().values()
    )


@pytest.mark.parametrize(
    ("answers", "code", "message"),
    [
        ({}, 0, "nothing was audited: neither of pypi, osv answers"),
        ({"pypi": [{"name": "a", "skip_reason": "not found"}]}, 0, "nothing was audited"),
        ({"osv": [{"name": "a", "version": "1", "vulns": []}]}, 0, "osv: 1 packages audited, 0 wi"),
        ({"pypi": [{"name": "a", "version": "1", "vulns": [{"id": "X-1"}]}]}, 1, "X-1"),
    ],
)
def test_an_audit_says_what_is_known(
    answers: dict[str, list[dict[str, object]]],
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(command: list[str], **_: object) -> CompletedProcess[str]:
        service = command[command.index("--vulnerability-service") + 1]
        told = json.dumps({"dependencies": answers[service]}) if service in answers else ""
        return CompletedProcess(command, 1, told, "no route to host")

    monkeypatch.setattr("audit.subprocess.run", run)
    monkeypatch.setattr(sys, "argv", ["audit.py", "pins.txt"])
    assert audit.main() == code
    assert message in capsys.readouterr().out
