"""Every estimator of the engine's fit on Dask arrays: the same as in memory, on a real cluster of two workers."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

import soft_clustering
from soft_clustering import FCM, GMM
from soft_clustering._registry import REGISTRY
from soft_clustering.engine.alternating import AlternatingClusterer
from soft_clustering.testing import make_sample
from soft_clustering.testing.inputs import explicit_start

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

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
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made,
        Client(made, set_as_default=False) as client,
    ):
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
    from soft_clustering.engine import dask_blocks

    data = da.from_array(X, chunks=(70, 4))
    expected = FCM(3, init=START).fit(data).centers_
    for groups in (1, 3, 100):
        monkeypatch.setattr(dask_blocks, "_GROUPS", groups)
        np.testing.assert_array_equal(FCM(3, init=START).fit(data).centers_, expected)


def test_chunks_of_one_worker_go_together(cluster):
    from soft_clustering.engine.dask_blocks import DaskBlocks, _holders

    data = da.from_array(X, chunks=(50, 4)).persist()
    blocks = DaskBlocks(data, None)
    assert _holders(data).keys() == {chunk.key for chunk in blocks._chunks}
    assert sorted(c for group in blocks._groups for c in group) == list(range(24))
    assert len(blocks._groups) <= 8
    holders = cluster.who_has()
    for group in blocks._groups:
        assert set.intersection(*(set(holders[blocks._chunks[c].key]) for c in group))


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


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_entries(bad):
    broken = X.copy()
    broken[700, 2] = bad
    with pytest.raises(ValueError, match="X contains NaN or infinity"):
        FCM(3).fit(da.from_array(broken, chunks=(100, 4)))


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
    from soft_clustering.engine.dask_blocks import DaskBlocks

    rows = np.arange(12.0).reshape(6, 2)
    blocks = DaskBlocks(da.from_array(rows, chunks=(2, 2)), None)
    np.testing.assert_array_equal(blocks.reduce(distinct_rows, 10).rows, rows)
