"""Memberships of many rows: written to a given array, or the largest of each row as a sparse matrix."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

import soft_clustering
from soft_clustering import BGMM, ECM, FCC, FCM, GMM, LDA, PCM, PLSI, SKFCM, AFCMAdaptive
from soft_clustering._registry import REGISTRY
from soft_clustering.engine import blocks as blocks_module
from soft_clustering.engine.alternating import AlternatingClusterer
from soft_clustering.engine.prediction import largest_entries

CLASSES = [getattr(soft_clustering, row.name) for row in REGISTRY]
ENGINE = [cls.__name__ for cls in CLASSES if issubclass(cls, AlternatingClusterer) and cls.modality == "features"]
SPARSE = [name for name in ENGINE if getattr(soft_clustering, name)().__sklearn_tags__().input_tags.sparse]
K = 4
X = make_blobs(600, 5, centers=K, cluster_std=2.0, random_state=0)[0]
X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
NEW = np.clip(np.repeat(X, 2, axis=0)[:1003] + np.random.default_rng(0).normal(0, 0.02, (1003, 5)), 0, 1)
SPARSE_NEW = sparse.csr_array(np.where(NEW > 0.4, NEW, 0))

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def fitted():
    """Models by name and dtype, each fitted once."""
    models = {}

    def get(name, dtype=np.float64):
        if (name, dtype) not in models:
            estimator = getattr(soft_clustering, name)()
            wanted = {"n_clusters": K, "random_state": 0}
            estimator.set_params(**{key: wanted[key] for key in wanted if key in estimator.get_params()})
            models[name, dtype] = estimator.fit(X.astype(dtype))
        return models[name, dtype]

    return get


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of few rows: 1003 rows are seven parts of K columns, the last one smaller."""
    monkeypatch.setattr(blocks_module, "_PART", 150 * K)
    monkeypatch.setattr(blocks_module, "_PART_ROWS", (100, 200))


def brute_force(U, top_k, normalise):
    """The entries to keep, row by row, dense."""
    answer = np.zeros_like(U)
    for row, kept in zip(U, answer, strict=True):
        for j in sorted(range(len(row)), key=lambda j: (-row[j], j))[:top_k]:
            kept[j] = row[j]
        if normalise and top_k < len(row):
            kept /= kept.sum()
    return answer


def check_largest(S, U, top_k, normalise):
    assert isinstance(S, sparse.csr_array)
    assert S.shape == U.shape
    assert S.dtype == U.dtype
    assert S.indices.dtype == S.indptr.dtype == np.int32
    assert S.has_canonical_format  # columns sorted, none twice
    assert np.diff(S.indptr).max() <= top_k
    assert (S.data > 0).all()
    expected = brute_force(U, top_k, normalise)
    assert np.array_equal(S.toarray() > 0, expected > 0)
    # The sum of a row may be rounded in another order.
    np.testing.assert_allclose(S.toarray(), expected, rtol=4 * np.finfo(U.dtype).eps, atol=0)


# All estimators -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ENGINE)
def test_out_is_the_dense_result(fitted, small_parts, name, dtype):
    model, new = fitted(name, dtype), NEW.astype(dtype)
    expected = model.predict_memberships(new)
    assert expected.dtype == dtype
    for kind in (np.float64, np.float32):
        out = np.full(expected.shape, np.nan, dtype=kind)
        assert model.predict_memberships(new, out=out) is out
        assert np.array_equal(out, expected.astype(kind))


@pytest.mark.parametrize("name", ENGINE)
def test_parts_do_not_matter(fitted, monkeypatch, name):
    model = fitted(name)
    whole = model.predict_memberships(NEW)
    monkeypatch.setattr(blocks_module, "_PART_ROWS", (1, 70))
    parts = model.predict_memberships(NEW)
    # These multiply matrices, and BLAS may round by the shape (8.4e-15 was seen); the others are bitwise the same.
    if name in ("ECM", "MBMM", "RPFKM"):
        np.testing.assert_allclose(parts, whole, rtol=0, atol=2e-14)
    else:
        assert np.array_equal(parts, whole)


@pytest.mark.parametrize("top_k", [1, 2, K - 1, K, K + 3])
@pytest.mark.parametrize("name", ENGINE)
def test_top_k(fitted, small_parts, name, top_k):
    model = fitted(name)
    U = model.predict_memberships(NEW)
    S = model.predict_memberships(NEW, top_k=top_k)
    check_largest(S, U, top_k, model.partition_constrained)
    if top_k >= model.n_clusters_:
        assert np.array_equal(S.toarray(), U)
    elif model.partition_constrained:
        np.testing.assert_allclose(S.sum(axis=1), 1, rtol=4e-16)


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows(fitted, small_parts, name):
    model = fitted(name)
    U = model.predict_memberships(SPARSE_NEW)
    assert np.array_equal(model.predict_memberships(SPARSE_NEW, out=np.empty_like(U)), U)
    check_largest(model.predict_memberships(SPARSE_NEW, top_k=2), U, 2, model.partition_constrained)


@pytest.mark.parametrize("name", ENGINE)
def test_one_row(fitted, name):
    model = fitted(name)
    U = model.predict_memberships(NEW[:1])
    assert np.array_equal(model.predict_memberships(NEW[:1], out=np.empty_like(U)), U)
    check_largest(model.predict_memberships(NEW[:1], top_k=2), U, 2, model.partition_constrained)


@pytest.mark.parametrize("cls", [FCM, GMM, PCM])
def test_one_cluster(cls):
    model = cls(1, random_state=0).fit(X)
    U = model.predict_memberships(NEW)
    assert np.array_equal(model.predict_memberships(NEW, out=np.empty((len(NEW), 1))), U)
    assert np.array_equal(model.predict_memberships(NEW, top_k=1).toarray(), U)


# Other data than plain features ---------------------------------------------------------------------------------------


def check_both(model, new, **keywords):
    U = model.predict_memberships(new, **keywords)
    assert np.array_equal(model.predict_memberships(new, out=np.empty_like(U), **keywords), U)
    check_largest(model.predict_memberships(new, top_k=2, **keywords), U, 2, True)
    return U


def test_two_views(small_parts):
    model = BGMM(3, random_state=0).fit(X[:, :3] * 9, X_beta=X[:, 3:])
    check_both(model, NEW[:, :3] * 9, X_beta=NEW[:, 3:])


def test_colours_of_an_image(small_parts):
    rng = np.random.default_rng(0)
    image = rng.integers(0, 4, (40, 30, 3)) * 60  # 64 colours
    model = FCC(3, random_state=0).fit(image.astype(np.uint8))
    U = check_both(model, image.astype(np.uint8))
    colours, place = np.unique(image.reshape(-1, 3), axis=0, return_inverse=True)
    one_by_one = np.concatenate([model.predict_memberships(c[None, None].astype(np.uint8)) for c in colours])
    assert np.array_equal(U, one_by_one[place.ravel()])
    assert np.array_equal(U, model.memberships_)


def test_images_are_seen_as_a_whole(small_parts):
    image = np.random.default_rng(0).normal(size=(24, 25)) + np.repeat([0, 5, 9], 8)[:, None] + 20
    for model in (SKFCM(3, random_state=0), AFCMAdaptive(3, random_state=0)):
        U = check_both(model.fit(image), image)
        np.testing.assert_allclose(U, model.memberships_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("cls", [LDA, PLSI])
def test_documents(small_parts, cls):
    counts = np.random.default_rng(0).poisson(1.0, (450, 12))
    model = cls(3, random_state=0).fit(counts)
    check_both(model, counts)


# Rules of top_k -------------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    U=arrays(
        np.float64, st.tuples(st.integers(1, 6), st.integers(1, 7)), elements=st.sampled_from([0.0, 0.25, 0.5, 1])
    ),
    top_k=st.integers(1, 8),
    normalise=st.booleans(),
)
def test_largest_entries_with_ties(U, top_k, normalise):
    if normalise:
        U[:, 0] += U.sum(axis=1) == 0
    check_largest(largest_entries(U, top_k, normalise), U, top_k, normalise)


def test_degrees_that_do_not_sum_to_one_are_kept(fitted):
    model = fitted("PCM")
    S = model.predict_memberships(NEW, top_k=2)
    rows, columns = S.nonzero()
    assert np.array_equal(S.data, model.predict_memberships(NEW)[rows, columns])


def test_frozen_parameters():
    model = FCM(K, m=1.5, random_state=0).fit(X)
    U = model.predict_memberships(NEW)
    model.set_params(n_clusters=2, m=4.0)
    assert np.array_equal(model.predict_memberships(NEW, out=np.empty_like(U)), U)
    check_largest(model.predict_memberships(NEW, top_k=2), U, 2, True)


def test_after_partial_fit():
    model = FCM(K, random_state=0).partial_fit(X)
    check_both(model, NEW)


# Memory ---------------------------------------------------------------------------------------------------------------


def test_memory(tmp_path):
    many = np.random.default_rng(0).normal(size=(200_000, 8))
    model = FCM(50, m=1.5, init=many[:50], max_iter=3).fit(many[:5000])
    U = np.memmap(tmp_path / "memberships", mode="w+", dtype=np.float64, shape=(200_000, 50))  # 80 MB
    peaks = []
    for keywords in ({"out": U}, {"top_k": 5}):
        tracemalloc.start()
        answer = model.predict_memberships(many, **keywords)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] < 14e6  # a part: 32,768 rows of 400 bytes
    assert peaks[1] < 40e6  # two parts, and twice the sparse matrix while it is put together
    assert sum(a.nbytes for a in (answer.data, answer.indices, answer.indptr)) == 64 * 200_000 + 4
    U.flush()
    stored = np.memmap(tmp_path / "memberships", mode="r", dtype=np.float64, shape=(200_000, 50))
    assert np.array_equal(stored, model.predict_memberships(many))


@pytest.mark.parametrize("make", [np.asfortranarray, lambda a: np.zeros((len(a), 9))[:, 2 : 2 + 2 * K : 2]])
def test_out_of_any_layout(fitted, make):
    out = make(np.zeros((len(NEW), K)))
    model = fitted("FCM")
    assert model.predict_memberships(NEW, out=out) is out
    assert np.array_equal(out, model.predict_memberships(NEW))


def test_out_of_the_other_byte_order(fitted):
    out = np.zeros((len(NEW), K), dtype=np.dtype(np.float64).newbyteorder())
    assert np.array_equal(fitted("FCM").predict_memberships(NEW, out=out), fitted("FCM").predict_memberships(NEW))


# Errors ---------------------------------------------------------------------------------------------------------------


def read_only():
    out = np.zeros((len(NEW), K))
    out.flags.writeable = False
    return out


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        ([[0.0] * K] * len(NEW), TypeError, "out must be a NumPy array or memory map. Got list"),
        (sparse.csr_array((len(NEW), K)), TypeError, "out must be a NumPy array or memory map. Got csr_array"),
        (np.zeros((len(NEW), K + 1)), ValueError, r"out must have shape .*\(1003, 4\). Got shape \(1003, 5\)"),
        (np.zeros((len(NEW) - 1, K)), ValueError, "out must have shape"),
        (np.zeros(len(NEW) * K), ValueError, "out must have shape"),
        (np.zeros((len(NEW), K), dtype=np.float16), ValueError, "out must have dtype float32 or float64. Got float16"),
        (np.zeros((len(NEW), K), dtype=int), ValueError, "out must have dtype"),
        (np.zeros((len(NEW), K), dtype=object), ValueError, "out must have dtype"),
        (read_only(), ValueError, "out must be writeable"),
    ],
)
def test_refused_out(fitted, out, error, message):
    with pytest.raises(error, match=message):
        fitted("FCM").predict_memberships(NEW, out=out)


def test_read_only_memory_map(fitted, tmp_path):
    np.zeros((len(NEW), K)).tofile(tmp_path / "memberships")
    out = np.memmap(tmp_path / "memberships", mode="r", dtype=np.float64, shape=(len(NEW), K))
    with pytest.raises(ValueError, match=r"out must be writeable.*mode 'r\+'"):
        fitted("FCM").predict_memberships(NEW, out=out)


def test_out_within_x(fitted):
    rows = NEW.copy()
    with pytest.raises(ValueError, match="out must not share memory with X"):
        fitted("FCM").predict_memberships(rows, out=rows[:, 1:])
    assert np.array_equal(rows, NEW)


@pytest.mark.parametrize("top_k", [0, -1, 1.5, "2"])
def test_refused_top_k(fitted, top_k):
    with pytest.raises(ValueError, match="top_k must be an int >= 1"):
        fitted("FCM").predict_memberships(NEW, top_k=top_k)


def test_out_and_top_k(fitted):
    out = np.zeros((len(NEW), K))
    with pytest.raises(ValueError, match="out and top_k must not both be given"):
        fitted("FCM").predict_memberships(NEW, out=out, top_k=2)
    assert not out.any()


def test_refused_rows_leave_out_as_it_was(fitted):
    out, rows = np.zeros((len(NEW), K)), NEW.copy()
    rows[-1, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        fitted("FCM").predict_memberships(rows, out=out)
    assert not out.any()


def test_not_fitted():
    with pytest.raises(NotFittedError):
        FCM().predict_memberships(NEW, out=np.zeros((len(NEW), 3)))


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_rows_that_are_missing_are_nan(fitted, small_parts, monkeypatch, error):
    model = fitted("ECM")
    expected, whole, calls = model.predict_memberships(NEW), ECM._memberships, []

    def fails(self, block, state):
        calls.append(block.n)
        if sum(calls) > 500:
            raise error
        return whole(self, block, state)

    monkeypatch.setattr(ECM, "_memberships", fails)
    out = np.full((len(NEW), K), 7.0)
    with pytest.raises(error):
        model.predict_memberships(NEW, out=out)
    assert calls == [1, 150, 150, 150, 150]  # a row to know the width, then parts
    assert np.array_equal(out[:450], expected[:450])
    assert np.isnan(out[450:]).all()


# Dask -----------------------------------------------------------------------------------------------------------------


def lazy_rows():
    """The new rows in chunks of different sizes; skips where Dask is missing."""
    da = pytest.importorskip("dask.array")
    return da.from_array(NEW, chunks=((500, 1, 202, 300), 5))


@pytest.mark.parametrize("name", ENGINE)
def test_dask(fitted, name):
    rows, model = lazy_rows(), fitted(name)
    if name == "FCC":
        model = FCC(K, color_space=None, random_state=0).fit(X)  # colours are taken in memory only
    U = model.predict_memberships(rows).compute()
    out = np.full(U.shape, np.nan)
    assert model.predict_memberships(rows, out=out) is out
    assert np.array_equal(out, U)
    check_largest(model.predict_memberships(rows, top_k=2), U, 2, model.partition_constrained)


def test_dask_refuses_before_it_writes(fitted):
    rows = lazy_rows()
    for out in (np.zeros((len(NEW), K + 1)), read_only()):
        with pytest.raises(ValueError, match="out must"):
            fitted("FCM").predict_memberships(rows, out=out)
        assert not out.any()
