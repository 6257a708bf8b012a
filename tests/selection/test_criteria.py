from __future__ import annotations

import pytest

from conftest import make_graph
from ugcl.selection import (
    CRITERIA,
    Readouts,
    apply_criterion,
)
from ugcl.study.trained_criteria import TRAINED_CRITERIA


@pytest.mark.parametrize("name", [*CRITERIA, *TRAINED_CRITERIA])
@pytest.mark.parametrize("sparse", [True, False])
def test_every_criterion_has_a_score_for_every_n(name: str, sparse: bool) -> None:
    graph = make_graph(80, sparse=sparse)
    choice = apply_criterion(Readouts(graph, max_n=5), name, {**CRITERIA, **TRAINED_CRITERIA})
    assert choice.rule == name
    assert choice.scores is not None
    assert len(choice.scores) == 6
    assert choice.n in range(6)
    assert f"n = {choice.n}" in choice.why
