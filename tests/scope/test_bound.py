from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, example, given
from hypothesis import strategies as st

from conftest import make_graph
from ugcl import Graph
from ugcl._utils.errors import UGCLError
from ugcl.scope import average_degree, edge_homophily, lower_bound, lower_bounds, sparsity

rates = st.floats(0, 1)
inner_rates = st.floats(0.05, 0.95)
degrees = st.floats(0.2, 50)
rises = st.floats(1.01, 3)


def exact(homophily: float, degree: float, n: int) -> Fraction:
    """The sums of Lemma 1's proof, without rounding."""
    p, d = Fraction(homophily), Fraction(degree)
    return sum((d * p) ** k for k in range(1, n + 1)) / sum(d**k for k in range(1, n + 1))


def fraction(homophily: Fraction, degree: Fraction, n: int) -> Fraction:
    """The fraction of Lemma 1, which is 0/0 where d or d P is 1."""
    p, d = homophily, degree
    return (d - 1) * p * (d**n * p**n - 1) / ((d**n - 1) * (d * p - 1))


def close(value: Fraction) -> object:
    return pytest.approx(float(value), rel=1e-13, abs=1e-300)


@given(p=rates, d=st.floats(1e-300, 1e300), n=st.integers(1, 40))
@example(p=1e-10, d=1e10, n=3)
def test_bound_equals_the_sums(p: float, d: float, n: int) -> None:
    assert lower_bound(p, d, n) == close(exact(p, d, n))


@given(p=st.fractions(0, 1), d=st.fractions(Fraction(1, 50), 50), n=st.integers(1, 12))
def test_the_sums_equal_the_fraction_of_the_lemma(p: Fraction, d: Fraction, n: int) -> None:
    assume(d != 1 and d * p != 1)
    assert lower_bound(float(p), float(d), n) == pytest.approx(float(fraction(p, d, n)), rel=1e-12)


@pytest.mark.parametrize("step", [-3, -1, 0, 1, 3])
@pytest.mark.parametrize("scale", [1, 2**10, 2**26, 2**40])
@pytest.mark.parametrize("n", [2, 7, 60])
def test_limits(n: int, step: int, scale: int) -> None:
    """At d = 1 and at d P = 1, and a few roundings to a few thousandths off."""
    near = 1 + step * scale * 2**-52
    for p in (0.3, 0.999):
        assert lower_bound(p, near, n) == close(exact(p, near, n))
    for d in (1.25, 4.0):
        assert lower_bound(near / d, d, n) == close(exact(near / d, d, n))
    assert lower_bound(0.25, 4.0, n) == close(n / sum(Fraction(4) ** k for k in range(1, n + 1)))


def test_a_million_hops() -> None:
    n = 10**6
    p = 1 - 1e-7
    at_one = p * -math.expm1(n * math.log1p(-1e-7)) / (n * 1e-7)
    assert lower_bound(p, 1.0, n) == pytest.approx(at_one, rel=1e-8)
    assert lower_bound(0.8, 0.75, n) == pytest.approx(0.8 * (1 - 0.75) / (1 - 0.75 * 0.8))
    assert lower_bound(1.0, 37.0, n) == 1
    assert lower_bound(p, 4.0, n) == pytest.approx(p**n * p * 3 / (4 * p - 1), rel=1e-8)
    for d in (5e-324, 1.0, 1e308):
        assert 0 <= lower_bound(0.5, d, n) <= 0.5


@given(p=rates, d=st.floats(1e-3, 1e3), max_n=st.integers(1, 30))
def test_bounds_are_the_bound_for_every_n(p: float, d: float, max_n: int) -> None:
    assert lower_bounds(p, d, max_n) == [lower_bound(p, d, n) for n in range(1, max_n + 1)]


@given(p=rates, d=st.floats(1e-300, 1e300))
def test_one_hop_has_the_rate_itself(p: float, d: float) -> None:
    assert lower_bound(p, d, 1) == p


@given(p=inner_rates, d=degrees)
def test_property_1_more_hops_lower_it(p: float, d: float) -> None:
    assert (np.diff(lower_bounds(p, d, 8)) < 0).all()


@given(p=inner_rates, d=degrees, n=st.integers(1, 8), rise=rises)
def test_property_2_more_homophily_raises_it(p: float, d: float, n: int, rise: float) -> None:
    assert lower_bound(min(1.0, p * rise), d, n) > lower_bound(p, d, n)


@given(p=inner_rates, d=degrees, n=st.integers(2, 8), rise=rises)
def test_property_3_more_neighbours_lower_it(p: float, d: float, n: int, rise: float) -> None:
    assert lower_bound(p, d * rise, n) < lower_bound(p, d, n)


@given(p=inner_rates, d=degrees, n=st.integers(2, 8))
def test_the_derivative_in_the_degree_is_a_covariance(p: float, d: float, n: int) -> None:
    """What the proof of property 3 should have said."""
    k = np.arange(1, n + 1)
    weights = d**k / (d**k).sum()
    covariance = (weights * k * p**k).sum() - (weights * k).sum() * (weights * p**k).sum()
    step = 1e-4 * d
    slope = (lower_bound(p, d + step, n) - lower_bound(p, d - step, n)) / (2 * step)
    assert slope == pytest.approx(covariance / d, rel=1e-5)
    assert slope < 0


def test_property_4_holds_for_a_fixed_number_of_nodes_only() -> None:
    """A sample of S nodes has the same sparsity and less than d neighbours: a higher bound."""
    size, degree = 1000, 8.0
    assert lower_bound(0.8, 2 * degree, 3) < lower_bound(0.8, degree, 3)
    same_sparsity = degree / size
    assert lower_bound(0.8, same_sparsity * size / 2, 3) > lower_bound(0.8, degree, 3) + 0.02


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((-0.1, 2.0, 1), "a fraction from 0 to 1, not -0.1"),
        ((1.1, 2.0, 1), "a fraction from 0 to 1, not 1.1"),
        ((math.nan, 2.0, 1), "a fraction from 0 to 1, not nan"),
        ((0.5, 0.0, 1), "above 0, not 0.0"),
        ((0.5, -1.0, 1), "above 0, not -1.0"),
        ((0.5, math.inf, 1), "above 0, not inf"),
        ((0.5, math.nan, 1), "above 0, not nan"),
        ((0.5, 2.0, 0), "at least 1, not 0"),
    ],
)
def test_bad_input(arguments: tuple[float, float, int], told: str) -> None:
    for function in (lower_bound, lower_bounds):
        with pytest.raises(UGCLError, match=told):
            function(*arguments)


def test_degree_and_sparsity() -> None:
    graph = make_graph()
    edges = len(graph.to_networkx().edges)
    assert average_degree(graph.adjacency) == 2 * edges / 40
    assert sparsity(graph.adjacency) == pytest.approx(2 * edges / 40**2)
    weighted = graph.adjacency * 0.5 + 3 * sp.eye_array(40)
    assert average_degree(weighted) == 2 * edges / 40
    assert sparsity(sp.csr_array((3, 3))) == 0


PUBLISHED = {
    "pubmed": (0.802, 7000, [0.8, 0.73, 0.68, 0.63, 0.59, 0.56, 0.54, 0.52, 0.51, 0.5]),
    "amazon-computers": (
        0.777,
        10000,
        [0.78, 0.62, 0.48, 0.37, 0.29, 0.23, 0.18, 0.14, 0.11, 0.08],
    ),
}
"""P, S and the lower bounds for n = 1 to 10 (Table of the parameter study)."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_bounds(name: str, real_graph: Callable[[str], Graph]) -> None:
    """With P to three decimals and d = (E/N) (S/N): each edge once, and what a sample keeps.

    With all decimals of P PubMed would have 0.57 at n = 6, where 0.56 is printed.
    """
    graph = real_graph(name)
    homophily, size, published = PUBLISHED[name]
    assert round(edge_homophily(graph.adjacency, graph.labels), 3) == homophily
    degree = average_degree(graph.adjacency) / 2 * size / graph.num_nodes
    bounds = lower_bounds(homophily, degree, 10)
    assert [round(bound, 2) for bound in bounds] == published
