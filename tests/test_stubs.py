"""The stubs declare what there is at run time, and type checkers understand them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import make_stubs
import ugcl
from ugcl import estimators

PACKAGE = Path(ugcl.__file__).parent


def declared(stub: Path) -> set[str]:
    """Names that a stub declares: imports, classes and variables."""
    names: set[str] = set()
    for node in ast.parse(stub.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname for alias in node.names if alias.asname}
        elif isinstance(node, ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def test_the_stub_of_the_estimators_is_current() -> None:
    assert make_stubs.STUB.read_text("utf-8") == make_stubs.stub(), "run tools/make_stubs.py"


def test_check_fails_where_the_stub_is_not_current(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = tmp_path / "estimators.pyi"
    monkeypatch.setattr(make_stubs, "STUB", stub)
    monkeypatch.setattr(sys, "argv", ["make_stubs.py"])
    make_stubs.main()
    monkeypatch.setattr(sys, "argv", ["make_stubs.py", "--check"])
    make_stubs.main()
    stub.write_text(stub.read_text("utf-8").replace("lr:", "rate:"), "utf-8")
    with pytest.raises(SystemExit, match=r"^estimators.pyi is not current: run "):
        make_stubs.main()


def test_stub_names_and_run_time_names_agree() -> None:
    assert declared(PACKAGE / "estimators.pyi") == set(estimators.__all__)
    assert declared(PACKAGE / "__init__.pyi") == {*ugcl.__all__, "__version__"}
    assert set(estimators.ESTIMATORS) | {"Embedder", "Classifier"} <= set(ugcl.__all__)
    for name in ugcl.__all__:
        assert getattr(ugcl, name) is not None


GOOD = """
from pathlib import Path
from ugcl import DGI, GRACE, GCNClassifier, Embedder, Graph, NodeTransformer, UGCL

def train(graph: Graph) -> GRACE:
    model = GRACE("paper", scope="component", hidden=64, temperature=1, seed=3).fit(graph)
    UGCL(scope=3, sample="all", negatives=10).fit_embed(graph)
    GCNClassifier(dropout=0.5).fit(graph).predict(graph)
    NodeTransformer(graph, estimator=DGI(epochs=3))
    Embedder("grace", hidden=3).save(Path("model"))
    width: int | None = model.hidden
    return GRACE.load("model", device="cpu")
"""

BAD = {
    "GRACE(hiden=3)": 'Unexpected keyword argument "hiden" for "GRACE"',
    "DGI(temperature=1.0)": 'Unexpected keyword argument "temperature" for "DGI"',
    "GRACE(hidden='wide')": 'Argument "hidden" to "GRACE" has incompatible type "str"',
    "GRACE(scope='far')": 'Argument "scope" to "GRACE" has incompatible type',
    "GRACE('authors')": 'Argument 1 to "GRACE" has incompatible type',
}


@pytest.mark.slow
def test_mypy_accepts_right_code_and_rejects_wrong_keywords(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text("from ugcl import DGI, GRACE\n" + "\n".join(BAD))
    (tmp_path / "mypy.ini").write_text("[mypy]\nfollow_imports = silent\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=mypy.ini", "."]
    result = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
    )
    lines = result.stdout.splitlines()
    assert "good.py" not in result.stdout, result.stdout
    for number, message in enumerate(BAD.values(), start=2):
        assert any(line.startswith(f"bad.py:{number}: error: {message}") for line in lines), message
