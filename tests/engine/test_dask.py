"""Every estimator of the engine's fit on Dask arrays: the same as in memory, on a real cluster of two workers."""

from collections import Counter

import numpy as np
import pytest
from helpers.clusters import two_workers
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

import soft_clustering
from soft_clustering import FCM, GK, GMM
from soft_clustering._registry import REGISTRY
from soft_clustering.engine.alternating import AlternatingClusterer
from soft_clustering.testing import make_sample
from soft_clustering.testing.inputs import explicit_start

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")
dask_blocks = pytest.importorskip("soft_clustering.engine.dask_blocks")

X, _ = make_blobs(1200, 4, centers=3, cluster_std=2.5, random_state=0)
START = X[:3]
MEMBERSHIPS = np.exp(-((X[:, None] - START) ** 2).sum(axis=2) / 20)
MEMBERSHIPS /= MEMBERSHIPS.sum(axis=1, keepdims=True)
CLASSES = [getattr(soft_clustering, row.name) for row in REGISTRY]
# those with starts: a method that compares rows with each other takes no Dask array
ENGINE = [
    cls.__name__
    for cls in CLASSES
    if issubclass(cls, AlternatingClusterer) and cls.modality == "features" and "init" in cls().get_params()
]


def explicit(name):
    """The estimator with a given start, centres or memberships: nothing is drawn."""
    estimator = getattr(soft_clustering, name)(3)
    start = explicit_start(estimator, make_sample(estimator))
    if name == "MBMM":
        estimator.set_params(margin=0.1)  # the larger shapes of its default margin magnify the rounding of the sums
    return estimator.set_params(init=START if start.shape == (3, 3) else MEMBERSHIPS)


@pytest.fixture(scope="module")
def workers():
    with two_workers() as client:
        yield client


@pytest.fixture
def cluster(workers):
    """A client of two workers, in use for this test only: the other tests compute in this process."""
    with workers.as_current():
        yield workers


@pytest.mark.parametrize("name", ENGINE)
def test_cluster_equals_memory(cluster, name):
    expected = explicit(name).fit(X)
    # Chunks of different sizes, on both workers.
    data = da.from_array(X, chunks=((500, 1, 399, 300), 4)).persist()
    model = explicit(name).fit(data)
    assert model.n_iter_ == expected.n_iter_
    assert isinstance(model.memberships_, da.Array)
    assert model.memberships_.chunks[0] == data.chunks[0]
    np.testing.assert_allclose(model.memberships_.compute(), expected.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(model.labels_.compute(), expected.labels_)
    np.testing.assert_allclose(model.centers_, expected.centers_, rtol=0, atol=1e-9)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    # lazy in, lazy out; in memory in, in memory out
    lazy = model.predict_memberships(data)
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), expected.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.predict_memberships(X), expected.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(model.predict(data).compute(), expected.labels_)
    assert model.score(data) == pytest.approx(expected.score(X), rel=1e-9)


@pytest.mark.parametrize("name", ENGINE)
def test_weights(name):
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    weight[400:600] = 0  # a chunk without weight
    expected = explicit(name).fit(X, sample_weight=weight)
    data = da.from_array(X, chunks=(200, 4))
    for given in (weight, da.from_array(weight, chunks=150)):
        model = explicit(name).fit(data, sample_weight=given)
        np.testing.assert_allclose(model.memberships_.compute(), expected.memberships_, rtol=0, atol=1e-9)


def test_default_start_finds_the_clusters(cluster):
    data = da.from_array(X, chunks=(300, 4)).persist()
    expected = FCM(3, random_state=0).fit(X)
    assert FCM(3, random_state=0).fit(data).objective_ == pytest.approx(expected.objective_, rel=1e-6)
    assert GMM(3, random_state=0).fit(data).objective_ == pytest.approx(
        GMM(3, random_state=0).fit(X).objective_, rel=1e-6
    )


def test_grouping_does_not_change_a_bit(monkeypatch):
    monkeypatch.setattr(dask_blocks, "_SMALLEST_GROUP", 1)
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", 1)
    data = da.from_array(X, chunks=(70, 4))
    expected = FCM(3, init=START).fit(data)
    for groups in (1, 3, 100):
        with dask.config.set(num_workers=groups):
            model = FCM(3, init=START).fit(data)
        assert model.centers_.tobytes() == expected.centers_.tobytes()
        assert model.objective_ == expected.objective_


@pytest.mark.parametrize("rows", [1, 200, 100_000])
def test_chunks_joined_in_blocks(monkeypatch, rows):
    """Chunks of 7 to 70 rows, as blocks of their own, joined, or all in one."""
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", rows)
    monkeypatch.setattr(dask_blocks, "_SMALLEST_GROUP", 1)
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    weight[140:400] = 0
    data = da.from_array(X, chunks=((70, 7) * 15 + (45,), 4))
    expected = FCM(3, random_state=0).fit(X, sample_weight=weight)
    with dask.config.set(num_workers=3):
        model = FCM(3, random_state=0).fit(data, sample_weight=weight)
    np.testing.assert_allclose(np.sort(model.centers_, axis=0), np.sort(expected.centers_, axis=0), atol=1e-3)
    np.testing.assert_allclose(
        FCM(3, init=START).fit(data, sample_weight=weight).centers_,
        FCM(3, init=START).fit(X, sample_weight=weight).centers_,
        atol=1e-9,
    )


def test_persisted_equals_lazy_bitwise(cluster, monkeypatch):
    monkeypatch.setattr(dask_blocks, "_SMALLEST_GROUP", 1)
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", 1)
    lazy = da.random.default_rng(0).normal(size=(1000, 4), chunks=(70, 4))
    with dask.config.set(scheduler="threads"):
        expected = GMM(3, random_state=0).fit(lazy).centers_
    for data in (lazy, lazy.persist()):
        assert GMM(3, random_state=0).fit(data).centers_.tobytes() == expected.tobytes()


def test_chunks_of_one_worker_go_together(cluster, monkeypatch):
    monkeypatch.setattr(dask_blocks, "_SMALLEST_GROUP", 1)
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", 1)
    data = da.from_array(X, chunks=(50, 4)).persist()
    described = dask_blocks.Groups(data, None)
    held = described._holders
    groups = described._numbers(cluster, held)
    assert held.keys() == set(range(24))
    assert sorted(c for group in groups for c in group) == list(range(24))
    assert len(groups) == 2  # two workers of one thread
    assert [len(group) for group in groups] == [12, 12]
    own = [max(Counter(held[c] for c in group).values()) for group in groups]
    assert sum(own) == 24 - abs(12 - list(held.values()).count(held[0]))  # no more chunks move than must


def test_chunks_on_one_worker_are_shared_with_the_other(cluster, monkeypatch):
    monkeypatch.setattr(dask_blocks, "_SMALLEST_GROUP", 1)
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", 1)
    first = next(iter(cluster.nthreads()))
    rows = da.from_array(X, chunks=(50, 4))
    with dask.config.set(scheduler="threads"):
        expected = GMM(3, random_state=0).fit(rows).centers_
    data = rows.persist(workers=[first])
    described = dask_blocks.Groups(data, None)
    assert set(described._holders.values()) == {first}
    assert described._numbers(cluster, described._holders) == [list(range(12)), list(range(12, 24))]
    assert GMM(3, random_state=0).fit(data).centers_.tobytes() == expected.tobytes()


def test_even_shares_follow_the_threads():
    blocks = [[c] for c in range(12)]
    held = {"a": blocks[::2], "b": blocks[1::2]}
    threads = {"a": 1, "b": 1, "c": 2}
    assert dask_blocks._evened_out(held, threads) == {
        "a": [[0], [2], [4]],
        "b": [[1], [3], [5]],
        "c": [[6], [7], [8], [9], [10], [11]],
    }
    assert dask_blocks._evened_out(held, {"a": 2, "b": 2}) == held


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 13])
def test_tree_is_the_same_for_any_grouping(n):
    class Word(str):
        def merge(self, other):
            return Word(f"({self}{other})")

    def grown(order):
        tree = dask_blocks.Tree()
        for c in order:
            tree.add(0, c, Word("abcdefghijklm"[c]))
        return tree

    whole = grown(range(n)).total()
    rng = np.random.default_rng(n)
    for parts in (1, 2, 5):
        groups = np.array_split(rng.permutation(n), parts)
        trees = [grown(sorted(group.tolist())) for group in groups]
        assert dask_blocks.merged([dask_blocks.merged(trees[:2]), *trees[2:]]).total() == whole
    assert whole.replace("(", "").replace(")", "") == "abcdefghijklm"[:n]


def test_chunk_without_weight_is_no_part_of_the_sum():
    tree = dask_blocks.Tree()
    for c, value in enumerate([None, dask_blocks.Extent(1, 2), None, None]):
        tree.add(0, c, value)
    assert tree.total() == (1, 2)


class Counting:
    """Rows that count how often each is read."""

    def __init__(self, rows):
        self.rows, self.shape, self.dtype, self.ndim = rows, rows.shape, rows.dtype, 2
        self.reads = np.zeros(len(rows), dtype=int)

    def __getitem__(self, key):
        self.reads[key[0]] += 1
        return self.rows[key]


def test_reads_of_a_fit():
    """The survey, a read for each pass, one for the final statistics and one in search of a collapse."""
    rows = Counting(X)
    data = da.from_array(rows, chunks=(100, 4), asarray=False, lock=False, name=False)
    model = FCM(3, init=START).fit(data)
    assert set(rows.reads) == {1 + model.n_iter_ + 2}
    rows.reads[:] = 0
    model.predict_memberships(data).compute()
    assert set(rows.reads) == {1}
    rows.reads[:] = 0
    model.score(data)
    assert set(rows.reads) == {1}


def test_sample_is_drawn_by_chunk(monkeypatch):
    monkeypatch.setattr(dask_blocks, "_SAMPLE", 100)
    monkeypatch.setattr(dask_blocks, "_SMALLEST_BLOCK", 1)
    rows = np.arange(3000.0).reshape(-1, 1)
    weight = np.where(np.arange(3000) % 3 == 0, 2.0, 0.0)
    counts = np.zeros(30)
    for seed in range(60):
        blocks = dask_blocks.DaskBlocks(da.from_array(rows, chunks=(100, 1)), weight)
        sample = blocks.local(np.random.RandomState(seed))
        assert sample.n == len(set(sample.kept)) == 100
        np.testing.assert_array_equal(sample.blocks[0].X[:, 0], sample.kept)
        assert (sample.kept % 3 == 0).all() and (sample.blocks[0].weight == 2).all()
        counts += np.bincount(sample.kept // 100, minlength=30)
    assert abs(counts - 200).max() < 4.5 * np.sqrt(200)  # 6000 draws from 30 chunks alike
    whole = dask_blocks.DaskBlocks(da.from_array(rows[:90], chunks=(20, 1)), None).local(np.random.RandomState(0))
    np.testing.assert_array_equal(whole.kept, np.arange(90))


def test_moments_of_far_rows_in_one_pass():
    far = X + np.array([1e8, -1e6, 0, 5])
    blocks = dask_blocks.DaskBlocks(da.from_array(far, chunks=(70, 4)), None)
    np.testing.assert_allclose(blocks._groups.survey.moments.variance, far.var(axis=0), rtol=1e-9)


def test_lazy_weights_stay_lazy(cluster):
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    data = da.from_array(X, chunks=(200, 4)).persist()
    model = FCM(3, init=START).fit(data, sample_weight=da.from_array(weight, chunks=150))
    np.testing.assert_allclose(model.centers_, FCM(3, init=START).fit(X, sample_weight=weight).centers_, atol=1e-9)
    assert model.score(data, sample_weight=da.from_array(weight, chunks=200)) == pytest.approx(
        FCM(3, init=START).fit(X, sample_weight=weight).score(X, sample_weight=weight)
    )


@pytest.mark.parametrize(
    "weight, message",
    [
        (
            np.where(np.arange(1200) == 701, -1.0, 1.0),
            "negative or NaN: rows 701, in the chunk that begins with row 700",
        ),
        (np.where(np.arange(1200) == 701, np.nan, 1.0), "negative or NaN: rows 701"),
        (np.zeros(1200), "must have a positive entry"),
        (np.full(1200, 1e-200), "between 1e-100 and 1e100"),
        (np.ones(1199), r"shape \(1200,\)"),
        (np.array(["a"] * 1200), "must be numeric"),
    ],
)
def test_bad_lazy_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        FCM(3).fit(da.from_array(X, chunks=(100, 4)), sample_weight=da.from_array(weight, chunks=100))


def test_empty_chunks_are_refused_and_the_remedy_works():
    data = da.from_array(X, chunks=(100, 4))
    data = data[da.from_array(np.arange(len(X)) >= 200, chunks=100)].compute_chunk_sizes()
    with pytest.raises(ValueError, match=r"chunks without rows \(number 0, 1\): join them"):
        FCM(3, init=START).fit(data)
    model = FCM(3, init=START).fit(data.rechunk((500, -1)))
    np.testing.assert_allclose(model.centers_, FCM(3, init=START).fit(X[200:]).centers_, rtol=0, atol=1e-9)


def test_chunks_of_other_widths_are_refused():
    """Dask believes what it is told of the chunks; what they really are shows when they are read."""
    parts = [da.from_array(X[:600], chunks=600), da.from_delayed(dask.delayed(X[600:, :3]), (600, 4), float)]
    with pytest.raises(ValueError, match="chunk 1 of X has shape"):
        FCM(3).fit(da.concatenate(parts))


def test_chunk_that_ends_early_is_refused():
    parts = [da.from_array(X[:600], chunks=600), da.from_delayed(dask.delayed(X[600:1100]), (600, 4), float)]
    with pytest.raises(ValueError, match=r"chunk 1 of X has shape \(500, 4\) instead of \(600, 4\)"):
        FCM(3).fit(da.concatenate(parts))


def test_chunk_that_raises_is_named():
    def broken():
        raise OSError("disk on fire")

    parts = [da.from_array(X[:600], chunks=600), da.from_delayed(dask.delayed(broken)(), (600, 4), float)]
    with pytest.raises(RuntimeError, match=r"chunk 1 of X \(from row 600\) could not be computed: disk on fire"):
        FCM(3).fit(da.concatenate(parts))


def test_chunks_along_features_and_unknown_chunks():
    expected = FCM(3, init=START).fit(X)
    wide = da.from_array(X, chunks=(400, 2))
    np.testing.assert_allclose(FCM(3, init=START).fit(wide).memberships_.compute(), expected.memberships_, atol=1e-9)
    unknown = wide[da.from_array(np.ones(len(X), dtype=bool), chunks=400)]
    assert np.isnan(unknown.shape[0])
    np.testing.assert_allclose(FCM(3, init=START).fit(unknown).memberships_.compute(), expected.memberships_, atol=1e-9)


def test_data_frame():
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=3)
    model = FCM(3, init=START).fit(frame)
    np.testing.assert_allclose(model.centers_, FCM(3, init=START).fit(X).centers_, rtol=0, atol=1e-9)


def test_integers_and_float32():
    whole = np.round(X * 10).astype(np.int32)
    start = whole[:3]
    expected = FCM(3, init=start).fit(whole)
    model = FCM(3, init=start).fit(da.from_array(whole, chunks=(256, 4)))
    np.testing.assert_allclose(model.memberships_.compute(), expected.memberships_, rtol=0, atol=1e-9)
    narrow = FCM(3, init=START).fit(da.from_array(X.astype(np.float32), chunks=(256, 4)))
    assert narrow.memberships_.dtype == np.float32
    assert narrow.memberships_.compute().dtype == np.float32


@pytest.mark.parametrize("method, bad, words", [(GK, np.nan, "NaN or infinity"), (FCM, np.inf, "infinity")])
def test_bad_entries(method, bad, words):
    broken = X.copy()
    broken[700, 2] = bad
    data = da.from_array(broken, chunks=(100, 4))
    where = f"X contains {words}: rows 700, in the chunk that begins with row 700"
    with pytest.raises(ValueError, match=where):
        method(3).fit(data)
    model = method(3, init=START).fit(X)
    with pytest.raises(ValueError, match=where):
        model.score(data)
    with pytest.raises(ValueError, match=where):
        model.predict_memberships(data).compute()


@pytest.mark.parametrize(
    "data, message",
    [
        (da.zeros(10), "Expected 2D array"),
        (da.zeros((0, 2)), "0 sample"),
        (da.from_array(np.array([["a"], ["b"]])), "X must be numeric"),
        (da.zeros((2, 3)), "n_samples=2 should be >= n_clusters=3"),
    ],
)
def test_bad_arrays(data, message):
    with pytest.raises(ValueError, match=message):
        FCM(3).fit(data)


def test_wrong_features_and_unfitted():
    data = da.from_array(X, chunks=(300, 4))
    with pytest.raises(NotFittedError):
        FCM(3).predict(data)
    with pytest.raises(ValueError, match="features"):
        FCM(3, init=START).fit(data).predict(data[:, :2])


def test_batches_are_refused():
    with pytest.raises(ValueError, match="batch_size must be None for Dask arrays"):
        FCM(3, batch_size=10).fit(da.from_array(X, chunks=(300, 4)))


def test_partial_fit_takes_a_dask_array():
    model = FCM(3, init=START).partial_fit(da.from_array(X, chunks=(300, 4)))
    np.testing.assert_allclose(model.centers_, FCM(3, init=START).partial_fit(X).centers_, rtol=0, atol=1e-9)


def test_without_a_frame_the_rows_are_in_their_own_units():
    from soft_clustering.engine.blocks import distinct_rows

    rows = np.arange(12.0).reshape(6, 2)
    blocks = dask_blocks.DaskBlocks(da.from_array(rows, chunks=(2, 2)), None)
    np.testing.assert_array_equal(blocks.reduce(distinct_rows, 10).rows, rows)


def test_many_rows_start_from_all_of_them():
    """A cluster of ten rows in 30,000, which a sample of 20,000 may miss, has a centre, whatever the groups."""
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.normal(size=(29_990, 2)), 300 + rng.normal(size=(10, 2))])
    rng.shuffle(X)
    data = da.from_array(X, chunks=(5000, 2))
    fits = [FCM(3, init=init, n_init=1, random_state=1).fit(data) for init in ("k-means++", "k-means||")]
    np.testing.assert_array_equal(fits[0].centers_, fits[1].centers_)
    assert np.abs(fits[0].centers_ - 300).max(axis=1).min() < 2
    with dask.config.set(num_workers=1):
        alone = FCM(3, n_init=1, random_state=1).fit(data)
    np.testing.assert_array_equal(alone.centers_, fits[0].centers_)


def test_dask_knows_the_size_of_results():
    tree = dask_blocks.Tree()
    for number in (0, 2):
        tree.add(0, number, (np.zeros((100, 100)), 1.0))
    assert 160_000 <= dask.sizeof.sizeof(tree) < 170_000
