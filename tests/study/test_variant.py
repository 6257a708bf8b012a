from __future__ import annotations

import pytest

from ugcl import UGCLError
from ugcl.study import Variant


def test_parse() -> None:
    assert str(Variant.parse("fast")) == "fast"
    parsed = Variant.parse("authors:hidden=64, self-loops=1,negatives=all", "ugcl")
    assert parsed == Variant("authors", {"hidden": 64, "self_loops": 1.0, "negatives": "all"})
    assert Variant.parse(str(parsed), "ugcl") == parsed
    for text, complaint in (
        ("quick", "no preset called 'quick'"),
        ("fast:hiden=3", "did you mean 'hidden'"),
        ("fast:hidden=0", "hidden"),
        ("fast:ball", "NAME=VALUE"),
    ):
        with pytest.raises(UGCLError, match=complaint):
            Variant.parse(text)


def test_a_list_of_integers_is_joined_by_plus_signs() -> None:
    parsed = Variant.parse("fast:powers=0+1+5,self_loops=1", "sign")
    assert parsed == Variant("fast", {"powers": (0, 1, 5), "self_loops": 1.0})
    assert str(parsed) == "fast:powers=0+1+5,self_loops=1.0"
    assert Variant.parse_list(f"fast,{parsed}", "sign") == [Variant("fast", {}), parsed]


def test_parse_a_list() -> None:
    text = "fast, authors:hidden=64,epochs=9,paper:scope=2,fast:lr=1"
    parsed = Variant.parse_list(text, "ugcl")
    listed = ["fast", "authors:hidden=64,epochs=9", "paper:scope=2", "fast:lr=1.0"]
    assert [str(variant) for variant in parsed] == listed
