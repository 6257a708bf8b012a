from __future__ import annotations

import pytest

from ugcl.views import Ahead


def test_samples_are_those_of_the_function_in_any_order() -> None:
    ahead = Ahead(lambda epoch: epoch**2)
    assert [ahead(epoch) for epoch in (0, 1, 2, 7, 7, 8, 3)] == [0, 1, 4, 49, 49, 64, 9]


def test_an_error_is_raised_in_the_epoch_that_it_belongs_to() -> None:
    ahead = Ahead(lambda epoch: 1 // (2 - epoch))
    assert ahead(1) == 1
    with pytest.raises(ZeroDivisionError):
        ahead(2)
