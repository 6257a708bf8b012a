from __future__ import annotations

from ugcl.study import published_accuracy


def test_published_figures() -> None:
    assert published_accuracy("ugcl", "citeseer") == (74.1, 0.2)
    assert published_accuracy("gcn", "cora") == (81.5, None)
    assert published_accuracy("gmi", "coauthor-cs") is None
    assert published_accuracy("subg-con", "cora") == (83.5, 0.5)
    assert published_accuracy("ugcl", "mine") is None
