"""Frames, blocks and their order; the engine over several blocks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs
from sklearn.utils import check_random_state

from soft_clustering import FCM, GMM, GathGeva, StudentTMixture
from soft_clustering.engine import blocks as blocks_module
from soft_clustering.engine.blocks import Block, Blocks, Frame, Sphere, distinct_rows, make_blocks, unit_factors
from soft_clustering.engine.fitting import Fit
from soft_clustering.engine.initialisation import kmeans_plusplus, random_rows
from soft_clustering.engine.loop import Run

IRIS = load_iris().data


def cut(blocks, edges):
    """The same rows and frame in several blocks."""
    (block,) = blocks.blocks
    parts = [
        Block(block.X[lo:hi], None if block.weight is None else block.weight[lo:hi], block.frame)
        for lo, hi in zip([0, *edges], [*edges, block.n], strict=True)
    ]
    return Blocks(parts, blocks.mean_variance)


# Frame ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_csr", [False, True])
def test_lengths_of_any_size(as_csr):
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(50, 6))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lengths = 10.0 ** np.linspace(-305, 307, 50)
    X = directions * lengths[:, None]
    X[3] = 0
    X[4] = 5e-324
    factors = unit_factors(sparse.csr_array(X) if as_csr else X)
    np.testing.assert_array_equal(factors[[3, 4]], 0)
    np.testing.assert_allclose(np.delete(factors * lengths, [3, 4]), 1, rtol=1e-13)


@pytest.mark.parametrize("as_csr", [False, True])
def test_float32_lengths(as_csr):
    X = np.array([[3e-38, 4e-38], [3e38, 0], [1e-45, 0], [3e-20, 4e-20]], dtype=np.float32)
    factors = unit_factors(sparse.csr_array(X) if as_csr else X)
    np.testing.assert_allclose(factors, [1 / 5e-38, 1 / 3e38, 0, 1 / 5e-20], rtol=1e-6)


def test_rows_that_are_not_finite_have_no_length():
    assert np.isnan(unit_factors(np.array([[1.0, np.nan], [np.inf, 1.0], [np.inf, -np.inf]]))).all()


@pytest.mark.parametrize("as_csr", [False, True])
def test_moments_on_the_sphere(as_csr):
    X = IRIS - IRIS.mean(axis=0)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    blocks = make_blocks(sparse.csr_array(X) if as_csr else X)
    moments = blocks.moments(Sphere(np.zeros(4), 1.0))
    np.testing.assert_allclose(moments.mean, unit.mean(axis=0), atol=1e-14)
    np.testing.assert_allclose(moments.variance, unit.var(axis=0), rtol=1e-12)


def test_frame_of_ordinary_data():
    blocks = make_blocks(IRIS)
    np.testing.assert_allclose(blocks.frame.shift, IRIS.mean(axis=0), rtol=1e-14)
    assert blocks.mean_variance / blocks.frame.scale**2 == pytest.approx(IRIS.var(axis=0).mean(), rel=1e-14, abs=0)
    assert 0.5 <= blocks.mean_variance <= 2


@settings(max_examples=60, deadline=None, derandomize=True)
@given(exponent=st.integers(-145, 145), offset=st.sampled_from([0.0, 1.0, 1e4]), dense=st.booleans())
def test_scale_is_a_power_of_two_near_the_spread(exponent, offset, dense):
    X = (IRIS + offset) * 10.0**exponent
    blocks = make_blocks(X if dense else sparse.csr_matrix(X))
    mantissa, _ = np.frexp(blocks.frame.scale)
    assert mantissa == 0.5
    assert 0.5 <= blocks.mean_variance <= 2
    measured = np.sqrt(blocks.mean_variance) / blocks.frame.scale / 10.0**exponent
    # The offset costs its digits once in the data, and again where they are not centred.
    digits = 1e-15 * offset if dense else 1e-14 * offset**2
    assert measured == pytest.approx(np.sqrt(IRIS.var(axis=0).mean()), rel=1e-13 + digits, abs=0)


@pytest.mark.parametrize("offset", [1e6, 1e8, 1e12])
def test_offset_costs_no_digits_of_the_variance(offset):
    X = IRIS + offset
    blocks = make_blocks(X)
    expected = (X - offset).var(axis=0).mean()  # the subtraction is exact
    assert blocks.mean_variance / blocks.frame.scale**2 == pytest.approx(expected, rel=1e-14, abs=0)


@pytest.mark.parametrize("value", [0.0, 3.0, -1e-300, 1e200, 5e-324])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_constant_data(value, container):
    blocks = make_blocks(container(np.full((6, 3), value)))
    assert 0 < blocks.frame.scale < np.inf
    # Sparse data are not centred: what is left of the variance is rounding.
    rounding = 0 if container is np.asarray else 1e-7 * abs(value)
    assert 0 <= np.sqrt(blocks.mean_variance) / blocks.frame.scale <= rounding
    np.testing.assert_array_equal(blocks.frame.shift, np.full(3, value if container is np.asarray else 0.0))


def test_constant_columns():
    X = np.column_stack([np.full(150, 7.0), IRIS, np.full(150, -1e6)])
    blocks = make_blocks(X)
    assert blocks.mean_variance / blocks.frame.scale**2 == pytest.approx(IRIS.var(axis=0).sum() / 6, rel=1e-14, abs=0)
    Z = blocks.blocks[0].take(np.arange(150))
    np.testing.assert_array_equal(Z[:, [0, 5]], 0)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_extreme_units_give_ordinary_coordinates(scale):
    blocks, ordinary = make_blocks(IRIS * scale), make_blocks(IRIS)
    Z, expected = blocks.blocks[0].take(np.arange(150)), ordinary.blocks[0].take(np.arange(150))
    ratio = (Z[0] @ expected[0]) / (expected[0] @ expected[0])
    np.testing.assert_allclose(Z / ratio, expected, rtol=0, atol=2e-14)
    assert 1e-160 < ratio < 1e160  # squares neither overflow nor underflow


def test_one_huge_column():
    X = np.column_stack([[1e200, 0.0, 1.0], [1.0, 2.0, 3.0]])
    Z = make_blocks(X).blocks[0].take([0, 1, 2])
    assert np.isfinite(Z).all()
    assert np.isfinite((Z * Z).sum())


def test_too_large_entries():
    with pytest.raises(ValueError, match=r"X must have entries below 1e\+?307 in absolute value. Got 2e\+307"):
        make_blocks(np.array([[2e307], [-1.0]]))
    assert np.isfinite(make_blocks(np.array([[9e306], [-9e306]])).blocks[0].take([0, 1])).all()


def test_weights_in_the_frame():
    weight = np.random.RandomState(0).uniform(0, 3, 150)
    blocks = make_blocks(IRIS, weight)
    mean = np.average(IRIS, axis=0, weights=weight)
    variance = np.average((IRIS - mean) ** 2, axis=0, weights=weight).mean()
    np.testing.assert_allclose(blocks.frame.shift, mean, rtol=1e-14)
    assert blocks.mean_variance / blocks.frame.scale**2 == pytest.approx(variance, rel=1e-13, abs=0)
    assert blocks.total_weight == pytest.approx(weight.sum(), rel=1e-14)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_rows_of_weight_zero_are_left_out(container):
    weight = np.ones(150)
    weight[[0, 3, 149]] = 0
    X = IRIS.copy()
    X[[0, 3, 149]] = 1e30
    blocks, without = make_blocks(container(X), weight), make_blocks(container(X[weight > 0]), weight[weight > 0])
    np.testing.assert_array_equal(blocks.kept, np.flatnonzero(weight))
    assert blocks.n == 147
    np.testing.assert_array_equal(blocks.frame.shift, without.frame.shift)
    assert blocks.frame.scale == without.frame.scale
    assert make_blocks(container(X), np.ones(150)).kept is None


def test_sparse_data_are_not_shifted():
    blocks = make_blocks(sparse.csr_matrix(IRIS))
    np.testing.assert_array_equal(blocks.frame.shift, np.zeros(4))
    assert blocks.mean_variance == pytest.approx(make_blocks(IRIS).mean_variance, rel=3e-13, abs=0)


def test_empty_sparse_data():
    blocks = make_blocks(sparse.csr_matrix((5, 3)))
    assert blocks.mean_variance == 0
    np.testing.assert_array_equal(blocks.blocks[0].take([0, 4]), np.zeros((2, 3)))


def test_shift_of_float32_data_is_a_float32():
    """The kernels subtract it in the type of the data: twice the same shift, or the two steps would disagree."""
    blocks = make_blocks((IRIS + 1000).astype(np.float32))
    np.testing.assert_array_equal(blocks.frame.shift, blocks.frame.shift.astype(np.float32))
    assert blocks.dtype == np.float32


@pytest.mark.parametrize("scale", [2.0**-300, 1.0, 2.0**300])
def test_frame_and_back(scale):
    frame = Frame(np.array([1e3, -2.0]) / scale, scale)
    points = np.array([[1e3 + 1.5, 7.0], [0.0, -2.0]]) / scale
    np.testing.assert_array_equal(frame.from_input(points), [[1.5, 9.0], [-1e3, 0.0]])
    np.testing.assert_array_equal(frame.to_input(frame.from_input(points)), points)


def test_coordinates_are_bounded():
    frame = Frame(np.zeros(1), 2.0**500)
    np.testing.assert_array_equal(frame.from_input([[1e300], [-1e300]]) / 1e100, [[1.0], [-1.0]])


# Block ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("weighted", [False, True])
def test_pieces_cover_the_rows(container, weighted):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(3001, 50))  # more than one piece
    weight = rng.uniform(1, 2, 3001) if weighted else None
    blocks = make_blocks(container(X), weight)
    (block,) = blocks.blocks
    pieces = list(block.pieces())
    assert len(pieces) > 1
    assert [lo for lo, _, _ in pieces] == list(np.cumsum([0] + [Z.shape[0] for _, Z, _ in pieces])[:-1])
    Z = np.vstack([Z.toarray() if sparse.issparse(Z) else Z for _, Z, _ in pieces])
    np.testing.assert_array_equal(Z, blocks.frame.from_input(X))
    np.testing.assert_array_equal(np.concatenate([w for _, _, w in pieces]), weight if weighted else np.ones(3001))
    np.testing.assert_array_equal(block.take([5, 2]), Z[[5, 2]])


# Blocks ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("size", [1, 7, 50, 150, 1000])
def test_batches_hold_every_row_once(container, size):
    weight = np.arange(1.0, 151)
    X = np.column_stack([np.arange(150.0), IRIS])
    blocks = cut(make_blocks(container(X), weight), [10, 77])
    batches = list(blocks.batches(size, np.random.RandomState(0)))
    assert [batch.n for batch in batches] == [size] * (150 // size) + ([150 % size] if 150 % size else [])
    rows = np.vstack([batch.X.toarray() if sparse.issparse(batch.X) else batch.X for batch in batches])
    weights = np.concatenate([batch.weight for batch in batches])
    order = np.argsort(rows[:, 0])
    np.testing.assert_array_equal(rows[order], X)
    np.testing.assert_array_equal(weights[order], weight)
    assert all(batch.frame is blocks.frame for batch in batches)
    if 1 < size < 150:
        assert not np.array_equal(order, np.arange(150))  # in random order
        again = next(blocks.batches(size, np.random.RandomState(1)))
        assert abs(again.X - batches[0].X).max() > 0


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("weighted", [False, True])
def test_take_over_several_blocks(container, weighted):
    weight = np.arange(1.0, 151) if weighted else None
    whole = make_blocks(container(IRIS), weight)
    indices = np.array([140, 3, 9, 10, 76, 77, 0])
    for blocks in (whole, cut(whole, [10, 77])):
        block = blocks.take(indices)
        rows = block.X.toarray() if sparse.issparse(block.X) else block.X
        np.testing.assert_array_equal(rows, IRIS[np.sort(indices)])
        if weighted:
            np.testing.assert_array_equal(block.weight, weight[np.sort(indices)])
        else:
            assert block.weight is None or np.all(block.weight == 1)


def test_take_from_one_of_several_blocks():
    block = cut(make_blocks(IRIS), [10, 77]).take(np.array([12, 11]))
    np.testing.assert_array_equal(block.X, IRIS[[11, 12]])


@pytest.mark.parametrize("limit", [1, 3, 4, 10])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_distinct_rows_of_all_pieces(monkeypatch, container, limit):
    """Pieces of one row; they are read until so many distinct rows are found."""
    monkeypatch.setattr(blocks_module, "_PIECE", 2)
    X = np.repeat([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], 3, axis=0)
    block, read = Block(container(X), None, Frame(np.zeros(2), 1.0)), []
    original = block.pieces
    monkeypatch.setattr(block, "pieces", lambda: (read.append(piece) or piece for piece in original()))
    np.testing.assert_array_equal(distinct_rows(block, limit).rows, X[::3][:limit])
    assert len(read) == {1: 1, 3: 7, 4: 10, 10: 12}[limit]


def test_split_gives_views():
    blocks = cut(make_blocks(IRIS), [10, 77])
    values = np.arange(150.0)
    parts = blocks.split(values)
    assert [len(part) for part in parts] == [10, 67, 73]
    parts[1][:] = -1
    assert np.sum(values == -1) == 67


def test_totals_over_several_blocks():
    weight = np.random.RandomState(0).uniform(1, 2, 150)
    blocks = cut(make_blocks(IRIS, weight), [10, 77])
    assert (blocks.n, blocks.d) == (150, 4)
    assert blocks.total_weight == pytest.approx(weight.sum(), rel=1e-14)
    assert make_blocks(IRIS).total_weight == 150


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_order_follows_the_rows(container):
    X = np.random.RandomState(0).normal(size=(200, 7))
    permutation = np.random.RandomState(1).permutation(200)
    sorted_rows = X[make_blocks(container(X)).blocks[0].order]
    np.testing.assert_array_equal(X[permutation][make_blocks(container(X[permutation])).blocks[0].order], sorted_rows)
    np.testing.assert_array_equal(X[cut(make_blocks(container(X)), [3, 100]).joined().order], sorted_rows)


def test_order_of_equal_rows_is_their_index():
    np.testing.assert_array_equal(make_blocks(np.ones((5, 2))).blocks[0].order, np.arange(5))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_joined_blocks(container):
    weight = np.arange(1.0, 151)
    whole = make_blocks(container(IRIS), weight)
    assert whole.joined() is whole.blocks[0]
    block = cut(whole, [10, 77]).joined()
    assert block.frame is whole.frame
    np.testing.assert_array_equal(block.X.toarray() if sparse.issparse(block.X) else block.X, IRIS)
    np.testing.assert_array_equal(block.weight, weight)


# The engine over several blocks ---------------------------------------------------------------------------------------


EDGES = [[50, 100], [1, 2], [149], [64, 128]]


@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("weighted", [False, True])
def test_statistics_merge(edges, container, weighted):
    weight = np.random.RandomState(0).uniform(0.5, 2, 150) if weighted else None
    whole = make_blocks(container(IRIS), weight)
    parts = cut(whole, edges)
    model = FCM(4)
    model.m_ = 1.02
    V = whole.frame.from_input(np.vstack([IRIS[[0, 60, 120]], np.full((1, 4), 1e6)]))  # the last one is out of reach
    one, several = (blocks.reduce(model._statistics, V) for blocks in (whole, parts))
    np.testing.assert_allclose(several.weight, one.weight, rtol=1e-14)
    np.testing.assert_allclose(several.total, one.total, rtol=0, atol=3e-12)
    assert several.objective == pytest.approx(one.objective, rel=1e-14, abs=0)
    assert several.worst == one.worst
    np.testing.assert_array_equal(several.worst_row, one.worst_row)
    np.testing.assert_array_equal(parts.map_rows(model._memberships, V), whole.map_rows(model._memberships, V))


@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("accelerate", [False, True])
def test_run_over_several_blocks(edges, accelerate):
    weight = np.random.RandomState(0).uniform(0.5, 2, 150)
    whole = make_blocks(IRIS, weight)
    model = FCM(3, m=2, tol=1e-9, accelerate=accelerate)
    runs = []
    for blocks in (whole, cut(whole, edges)):
        model._resolve(blocks)
        runs.append(Run(kmeans_plusplus(blocks, 3, check_random_state(0))))
        model._loop(Fit(model), blocks, 3)(runs[-1])
    np.testing.assert_allclose(runs[1].state, runs[0].state, rtol=0, atol=1e-14)
    np.testing.assert_allclose(runs[1].history, runs[0].history, rtol=1e-14)
    assert runs[1].n_iter == runs[0].n_iter
    assert runs[1].converged


@pytest.mark.parametrize("seeding", [kmeans_plusplus, random_rows])
def test_seeding_over_several_blocks(seeding):
    X, _ = make_blobs(300, 5, centers=6, random_state=0)
    whole = make_blocks(X, np.random.RandomState(0).uniform(1, 2, 300))
    for seed in range(5):
        one = seeding(whole, 6, np.random.RandomState(seed))
        np.testing.assert_array_equal(seeding(cut(whole, [7, 200]), 6, np.random.RandomState(seed)), one)


@pytest.mark.parametrize("far", [1.0, 1e6])
def test_distance_from_the_span_of_the_rows(far):
    """A point of the span has distance 0, however far away it is; the rounding grows with its length."""
    X = np.random.default_rng(0).normal(size=(4, 30))
    blocks = make_blocks(X).in_subspace()
    inside = X[0] + far * (X[1:] - X[0]).sum(axis=0)
    z = blocks.frame.from_input(inside[None])
    assert z[0, -1] == 0
    np.testing.assert_allclose(blocks.frame.to_input(z)[0], inside, rtol=0, atol=1e-12 * far)
    outside = np.ones(30) - blocks.frame.basis.T @ blocks.frame.basis.sum(axis=1)
    outside /= np.linalg.norm(outside)
    assert blocks.frame.from_input((X[0] + outside)[None])[0, -1] == pytest.approx(blocks.frame.unit, rel=1e-9)


@pytest.mark.parametrize("estimator", [GMM, GathGeva, StudentTMixture])
def test_coordinates_of_the_span_need_complete_rows(estimator):
    X = np.random.default_rng(0).normal(size=(12, 40))
    model = estimator(2, reg_covar=0.1, random_state=0).fit(X)
    np.testing.assert_allclose(model.predict_memberships(X), model.memberships_, atol=1e-12)
    X[3, 5] = np.nan
    with pytest.raises(ValueError, match="fewer samples than features needs complete rows"):
        model.predict_memberships(X)
