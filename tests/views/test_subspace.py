from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ugcl.views import reduce_columns


def test_directions_of_many_rows_are_computed_from_a_sample() -> None:
    rng = np.random.default_rng(0)
    low_rank = (rng.normal(size=(300, 3)) @ rng.normal(size=(3, 20))).astype(np.float32)
    whole, some = reduce_columns(low_rank, 3), reduce_columns(low_rank, 3, max_rows=50)
    np.testing.assert_allclose(some @ some.T, low_rank @ low_rank.T, atol=1e-3)
    np.testing.assert_allclose(whole @ whole.T, low_rank @ low_rank.T, atol=1e-3)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("shape", [(300, 60), (40, 90)])
def test_directions_are_nearly_as_good_as_those_of_an_exact_decomposition(
    shape: tuple[int, int], sparse: bool
) -> None:
    rng = np.random.default_rng(0)
    dense = rng.normal(size=shape) * (rng.random(shape) < 0.1) * np.linspace(2, 0.2, shape[1])
    matrix = sp.csr_array(dense.astype(np.float32)) if sparse else dense.astype(np.float32)
    reduced = reduce_columns(matrix, 20)
    values = np.linalg.svd(dense, compute_uv=False)
    kept = np.linalg.svd(reduced, compute_uv=False)
    assert reduced.shape == (shape[0], 20)
    assert (kept <= values[:20] * (1 + 1e-5)).all()
    assert (kept**2).sum() > 0.97 * (values[:20] ** 2).sum()
