"""Choosing K with Dask: fits that are spread over the workers of a real cluster, and rows that are a Dask array."""

import os
import time

import joblib
import numpy as np
import pytest
from helpers.clusters import two_workers
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import calinski_harabasz_score, silhouette_score

from soft_clustering import BIGCLAM, EVCLUS, FCM, GMM, SCM
from soft_clustering.metrics import fuzzy_hypervolume, partition_entropy
from soft_clustering.selection import choose_n_clusters
from soft_clustering.selection.gaussian import gaussian_bic

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

X, _ = make_blobs(600, 3, centers=4, cluster_std=1.5, random_state=0)
K_RANGE = range(2, 7)


class Where(ClusterMixin, BaseEstimator):
    """Notes the process of the fit, and fails for a given K."""

    def __init__(self, n_clusters=2, bad=None, seconds=0.0):
        self.n_clusters = n_clusters
        self.bad = bad
        self.seconds = seconds

    def fit(self, X, y=None):
        time.sleep(self.seconds)
        if self.bad in (self.n_clusters, "all"):
            raise ValueError(f"{self.n_clusters} is bad")
        self.process_ = os.getpid()
        self.labels_ = np.floor(np.asarray(X)[:, 0] * 7).astype(int) % self.n_clusters
        return self


@pytest.fixture(scope="module")
def workers():
    with two_workers() as client:
        yield client


@pytest.fixture
def cluster(workers):
    """A client of two workers, in use for this test only."""
    with workers.as_current():
        yield workers


@pytest.fixture
def backend(cluster):
    """The same, and joblib gives its tasks to it."""
    with joblib.parallel_config(backend="dask"):
        yield cluster


def same(found, expected):
    """All that a result holds is the same, bit by bit."""
    assert list(found.scores) == list(expected.scores)
    for name, values in expected.scores.items():
        np.testing.assert_array_equal(found.scores[name], values, err_msg=name)
    np.testing.assert_array_equal(found.k_values, expected.k_values)
    np.testing.assert_array_equal(found.agreements, expected.agreements)
    assert (found.errors, found.warnings) == (expected.errors, expected.warnings)
    assert (found.merged, found.sampled, found.unfinished) == (expected.merged, expected.sampled, expected.unfinished)
    assert repr(found) == repr(expected)


# Rows in memory, fits on a cluster ------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The fits of n_clusters")
@pytest.mark.parametrize("estimator", [FCM(), GMM()], ids=["FCM", "GMM"])
def test_results_do_not_depend_on_the_cluster(estimator, cluster):
    options = {"criteria": "all", "n_bootstrap": 2, "max_samples": 400, "random_state": 0}
    expected = choose_n_clusters(estimator, X, K_RANGE, **options)
    with joblib.parallel_config(backend="dask"):
        found = choose_n_clusters(estimator, X, K_RANGE, **options)
    same(found, expected)
    for K in K_RANGE:
        np.testing.assert_array_equal(found.estimators[K].memberships_, expected.estimators[K].memberships_)


def test_fits_run_on_the_workers(backend):
    result = choose_n_clusters(Where(seconds=0.1), X, K_RANGE, criteria=["silhouette"])
    processes = {model.process_ for model in result.estimators.values()}
    assert processes == set(backend.run(os.getpid).values())  # both, and not this one


@pytest.mark.filterwarnings("ignore:No number of clusters is recommended")
def test_rows_are_sent_once(backend, monkeypatch):
    """The bytes that leave this process, where client and scheduler are, do not grow with the number of tasks."""
    from distributed.comm.tcp import TCP

    sizes, write = [], TCP.write

    async def counted(self, *arguments, **options):
        sizes.append(await write(self, *arguments, **options))
        return sizes[-1]

    monkeypatch.setattr(TCP, "write", counted)
    rows = np.random.default_rng(0).normal(size=(100_000, 4))
    sent = []
    for n_bootstrap in (2, 8):
        sizes.clear()
        choose_n_clusters(
            Where(), rows, [2, 3], criteria=["stability"], n_bootstrap=n_bootstrap, max_samples=None, random_state=0
        )
        sent.append(sum(sizes) / rows.nbytes)
    # to the scheduler, to a worker and to the other one; and the labels of the two kept models
    assert sent[0] < 4.5
    assert sent[1] < sent[0] + 1  # in place of 12 times the rows


def test_failures_are_reported_alike(cluster):
    results, texts = [], []
    for backend in ("sequential", "dask"):
        with joblib.parallel_config(backend=backend):
            with pytest.warns(FitFailedWarning, match=r"The fit failed for n_clusters=\[4\]"):
                results.append(choose_n_clusters(Where(bad=4), X, K_RANGE, criteria=["silhouette"]))
            with pytest.raises(ValueError, match="2 is bad") as caught:
                choose_n_clusters(Where(bad="all"), X, K_RANGE, criteria=["silhouette"])
            texts.append(str(caught.value))
    same(*results)
    assert results[0].errors == {4: "ValueError: 4 is bad"}
    assert texts[0] == texts[1]


# Rows that are a Dask array -------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The fits of n_clusters")
@pytest.mark.parametrize("estimator", [FCM(), GMM(), KMeans(n_init=1)], ids=["FCM", "GMM", "KMeans"])
def test_few_rows_give_the_results_of_memory(estimator):
    options = {"criteria": "all", "n_bootstrap": 2, "random_state": 0}
    found = choose_n_clusters(estimator, da.from_array(X, chunks=(150, 3)), K_RANGE, **options)
    expected = choose_n_clusters(estimator, X, K_RANGE, **options)
    assert found.sampled == {}
    assert (found.best, found.recommended) == (expected.best, expected.recommended)
    for name, values in expected.scores.items():
        np.testing.assert_allclose(found.scores[name], values, rtol=1e-9, err_msg=name)
    np.testing.assert_array_equal(found.agreements, expected.agreements)


@pytest.mark.filterwarnings("error:X ")  # about the names of features
@pytest.mark.filterwarnings("ignore:The fits of n_clusters")
@pytest.mark.parametrize("kind", ["array", "frame"])
def test_criteria_on_a_sample(kind):
    """By hand: the rows that were drawn, the memberships of the fit to all rows, and BIC of all rows."""
    in_memory, data = X, da.from_array(X, chunks=(150, 3))
    if kind == "frame":
        in_memory = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"])
        data = pytest.importorskip("dask.dataframe").from_pandas(in_memory, npartitions=4)
    names = ["gaussian_bic", "fuzzy_hypervolume", "calinski_harabasz", "silhouette", "bic", "icl"]
    found = choose_n_clusters(GMM(random_state=0), data, [3, 4, 5], criteria=names, max_samples=200, random_state=1)
    rng = np.random.RandomState(1)
    rng.randint(2**31 - 1, size=41)  # the seeds
    rows = np.sort(rng.permutation(600)[:200])
    labels = {}
    for i, K in enumerate([3, 4, 5]):
        model = GMM(K, random_state=0).fit(data)
        U = model.memberships_.compute()
        labels[K] = U.argmax(axis=1)[rows]
        expected = {
            "fuzzy_hypervolume": fuzzy_hypervolume(X[rows], U[rows], model.centers_),
            "calinski_harabasz": calinski_harabasz_score(X[rows], labels[K]),
            "silhouette": silhouette_score(X[rows], labels[K]),
            "bic": model.bic(in_memory),
            "icl": model.bic(in_memory) + 2 * 600 * partition_entropy(U[rows]),
        }
        for name, value in expected.items():
            assert found.scores[name][i] == pytest.approx(value, rel=1e-9), name
        assert type(found.estimators[K].memberships_).__module__.startswith("dask")
        assert hasattr(found.estimators[K], "feature_names_in_") == (kind == "frame")
    np.testing.assert_allclose(found.scores["gaussian_bic"], list(gaussian_bic(X[rows], labels)[0].values()), rtol=1e-9)
    assert found.sampled == {name: 200 for name in names if name != "bic"}
    assert "It was computed on 200 of the rows." in found.reason


@pytest.mark.filterwarnings("ignore:The fits of n_clusters")
def test_labels_of_a_sample():
    """scikit-learn's estimators read a Dask array into memory; their labels of the sample are compared."""
    found = choose_n_clusters(
        KMeans(n_init=1, random_state=0),
        da.from_array(X),
        [4],
        criteria=["silhouette"],
        max_samples=200,
        random_state=1,
    )
    rng = np.random.RandomState(1)
    rng.randint(2**31 - 1, size=41)
    rows = rng.permutation(600)[:200]
    labels = KMeans(4, n_init=1, random_state=0).fit_predict(X)
    assert found.scores["silhouette"][0] == pytest.approx(silhouette_score(X[rows], labels[rows]))


@pytest.mark.filterwarnings("ignore:The fits of n_clusters")
def test_csr_chunks():
    rows = sparse.random_array((600, 30), density=0.2, format="csr", rng=np.random.default_rng(0))
    data = da.from_array(rows.toarray(), chunks=(150, 30)).map_blocks(sparse.csr_array)
    options = {"criteria": ["calinski_harabasz", "gaussian_bic"], "max_samples": 200, "random_state": 0}
    found = choose_n_clusters(FCM(m=1.2), data, [2, 3], **options)
    expected = choose_n_clusters(FCM(m=1.2), da.from_array(rows.toarray(), chunks=(150, 30)), [2, 3], **options)
    assert found.sampled == expected.sampled == {"calinski_harabasz": 200, "gaussian_bic": 200}
    np.testing.assert_allclose(found.scores["calinski_harabasz"], expected.scores["calinski_harabasz"], rtol=1e-6)


@pytest.mark.parametrize("persisted", [True, False], ids=["persisted", "lazy"])
def test_dask_array_on_a_cluster(cluster, persisted):
    """With the Dask backend, too, on which a fit from inside a worker would wait for itself."""
    data = da.from_array(X, chunks=(150, 3))
    model = FCM(n_init=1)
    options = {"criteria": ["gaussian_bic", "stability"], "n_bootstrap": 2, "random_state": 0}
    with dask.config.set(scheduler="synchronous"):
        expected = choose_n_clusters(model, data, [3, 4], **options)
    data = data.persist() if persisted else data
    same(choose_n_clusters(model, data, [3, 4], **options), expected)
    with joblib.parallel_config(backend="dask"):
        same(choose_n_clusters(model, data, [3, 4], **options), expected)


def test_interrupt():
    class Interrupted(FCM):
        def fit(self, X, y=None):
            if self.n_clusters == 4:
                raise KeyboardInterrupt
            return super().fit(X)

    data = da.from_array(X, chunks=(150, 3))
    found = choose_n_clusters(
        Interrupted(), data, [2, 3, 4, 5], criteria=["xie_beni"], random_state=0, stop_at_interrupt=True
    )
    assert (found.k_values.tolist(), found.unfinished) == ([2, 3], [4, 5])
    with pytest.raises(KeyboardInterrupt):
        choose_n_clusters(Interrupted(), data, [2, 3, 4, 5], criteria=["xie_beni"])


def test_what_no_dask_array_can_be():
    data = da.from_array(X, chunks=(150, 3))
    with pytest.raises(TypeError, match="takes no Dask array: pass"):
        choose_n_clusters(SCM(), data, [2, 3])
    with pytest.raises(TypeError, match=r"X must be in memory, because it is no table of features\. Got a Dask"):
        choose_n_clusters(BIGCLAM(), data, [2, 3])
    with pytest.raises(TypeError, match=r"X must be in memory, because it is no table of features\. Got a Dask"):
        choose_n_clusters(EVCLUS(metric="precomputed"), data, [2, 3])
    with pytest.raises(ValueError, match="n_samples=600 should be >= n_clusters=601"):
        choose_n_clusters(FCM(), data, [601])
