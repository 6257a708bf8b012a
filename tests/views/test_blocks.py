from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ugcl.views import side_by_side


@pytest.mark.parametrize("kinds", [(np.array,) * 2, (sp.csr_array,) * 2, (np.array, sp.csr_array)])
def test_blocks_have_rows_of_norm_1_times_their_weight(kinds: tuple[type, type]) -> None:
    rng = np.random.default_rng(0)
    one, two = (rng.normal(size=(6, width)).astype(np.float32) for width in (3, 5))
    one[2] = 0
    found = side_by_side([(kinds[0](one), 1.0), (kinds[1](two), 0.5)])
    assert sp.issparse(found) == (kinds == (sp.csr_array,) * 2)
    assert found.dtype == np.float32
    rows = found.toarray() if sp.issparse(found) else found
    for i in range(6):
        expected = one[i] / (np.linalg.norm(one[i]) or 1)
        np.testing.assert_allclose(rows[i, :3], expected, rtol=1e-5)
        np.testing.assert_allclose(rows[i, 3:], 0.5 * two[i] / np.linalg.norm(two[i]), rtol=1e-5)
