"""What SCSPA, SHBGF and SMCLA share: planted structure, invariances, weights, missing objects, prediction."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import mean_base_ari, noisy_partitions
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from soft_clustering import FCM, GMM, SCSPA, SHBGF, SMCLA

SETTINGS = {
    "SCSPA": (SCSPA, {}),
    "SCSPA, euclidean": (SCSPA, {"similarity": "euclidean"}),
    "SHBGF": (SHBGF, {}),
    "SMCLA": (SMCLA, {}),
    "SMCLA, jaccard": (SMCLA, {"similarity": "jaccard"}),
}
METIS = {
    "SCSPA, METIS": (SCSPA, {"partitioner": "metis"}),
    "SCSPA, euclidean, METIS": (SCSPA, {"partitioner": "metis", "similarity": "euclidean"}),
    "SHBGF, METIS": (SHBGF, {"partitioner": "metis"}),
    "SMCLA, METIS": (SMCLA, {"partitioner": "metis"}),
    "SMCLA, jaccard, METIS": (SMCLA, {"partitioner": "metis", "similarity": "jaccard"}),
}


def makers(table):
    def maker(cls, setting):
        return lambda K=3, **parameters: cls(K, **{"n_init": 3, "random_state": 0} | setting | parameters)

    return [pytest.param(maker(*row), id=name) for name, row in table.items()]


spectral = pytest.mark.parametrize("make", makers(SETTINGS))
every = pytest.mark.parametrize("make", makers(SETTINGS | METIS))
CLASSES = makers({name: SETTINGS[name] for name in ("SCSPA", "SHBGF", "SMCLA")})
each = pytest.mark.parametrize("make", CLASSES)


@pytest.fixture(autouse=True)
def _needs_pymetis(request):
    if "METIS" in request.node.name:
        pytest.importorskip("pymetis")


def classes(n=300, K=4, seed=0):
    return np.random.default_rng(seed).integers(K, size=n)


# Planted structure --------------------------------------------------------------------------------------------------


@spectral
@pytest.mark.parametrize("seed", range(3))
def test_ten_noisy_partitions(make, seed):
    y = classes(400, 4, seed)
    X = noisy_partitions(y, 10, seed=seed)
    model = make(4, n_init=10).fit(X)
    ari, base = adjusted_rand_score(y, model.labels_), mean_base_ari(y, X)
    assert ari >= 0.95
    assert ari > base + 0.2
    assert adjusted_rand_score(y, model.consensus_memberships_.argmax(axis=1)) == ari


@every
@pytest.mark.parametrize("form", ["labels", "memberships", "sparse", "mixed"])
@pytest.mark.parametrize("n_partitions", [1, 6])
def test_identical_partitions(make, form, n_partitions):
    y = np.repeat(np.arange(4), 30)  # equal sizes, which METIS makes
    rng = np.random.default_rng(0)
    X = [rng.permutation(4)[y] for _ in range(n_partitions)]
    forms = {
        "labels": np.array,
        "memberships": lambda z: np.eye(4)[z],
        "sparse": lambda z: sparse.csr_array(np.eye(4)[z]),
    }
    X = [(forms[form] if form != "mixed" else [*forms.values()][b % 3])(z) for b, z in enumerate(X)]
    model = make(4).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    if not (isinstance(model, SCSPA) and model.similarity == "euclidean"):
        np.testing.assert_allclose(model.consensus_memberships_, model.memberships_, atol=1e-9)
    for name in ("graph_labels_", "cluster_labels_"):
        if hasattr(model, name):
            assert set(getattr(model, name)) == {0, 1, 2, 3}


@each
def test_ensembles_of_this_library(make):
    X, y = load_wine(return_X_y=True)
    X, gain = scale(X), []
    for seed in range(3):
        base = [FCM(K, m=1.5, n_init=1, random_state=seed).fit(X) for K in (3, 4, 5)]
        base += [GMM(K, covariance_type="diag", init="random", random_state=seed).fit(X) for K in (3, 4, 5)]
        partitions = [model.memberships_ for model in base]
        gain.append(adjusted_rand_score(y, make().fit(partitions).labels_) - mean_base_ari(y, partitions))
    assert np.mean(gain) > 0.05


# Invariances --------------------------------------------------------------------------------------------------------


def permuted(X, rng):
    """The partitions in another order, their clusters, too; and where each base cluster went."""
    widths = [U.shape[1] for U in X]
    starts = np.cumsum([0, *widths])
    order = rng.permutation(len(X))
    inside = [rng.permutation(widths[b]) for b in order]
    where = np.concatenate([starts[b] + columns for b, columns in zip(order, inside, strict=True)])
    return [X[b][:, columns] for b, columns in zip(order, inside, strict=True)], where


@spectral
@pytest.mark.parametrize("noise", [0.25, 0.7])  # clear, and hardly a structure
@pytest.mark.parametrize("seed", range(3))
def test_order_of_partitions_and_clusters(make, noise, seed):
    X = noisy_partitions(classes(), 6, noise=noise, seed=seed)
    model = make(4).fit(X)
    other, where = permuted(X, np.random.default_rng(seed))
    again = make(4).fit(other)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_allclose(again.consensus_memberships_, model.consensus_memberships_, atol=1e-9)
    if hasattr(model, "cluster_labels_"):
        np.testing.assert_array_equal(again.cluster_labels_, model.cluster_labels_[where])


@spectral
def test_names_of_labels(make):
    y = classes()
    X = [U.argmax(axis=1) for U in noisy_partitions(y, 6)]
    model = make(4).fit(X)
    again = make(4).fit([np.array([40, 7, 0, 1000])[z] for z in X])
    np.testing.assert_array_equal(again.labels_, model.labels_)


@spectral
def test_order_of_objects(make):
    y = classes()
    X = noisy_partitions(y, 8)
    order = np.random.default_rng(1).permutation(len(y))
    model, again = make(4).fit(X), make(4).fit([U[order] for U in X])
    assert adjusted_rand_score(model.labels_[order], again.labels_) == 1


@every
def test_crisp_partitions_in_every_form(make):
    z = [U.argmax(axis=1) for U in noisy_partitions(classes(), 6)]
    models = [
        make(4).fit(X)
        for X in (z, [np.eye(4)[a] for a in z], [sparse.csr_array(np.eye(4)[a]) for a in z], [np.eye(4)[z[0]], *z[1:]])
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.labels_, models[0].labels_)
        np.testing.assert_allclose(model.consensus_memberships_, models[0].consensus_memberships_, atol=1e-9)


@every
def test_sparse_and_dense_memberships(make):
    X = [np.where(U > 0.2, U, 0) for U in noisy_partitions(classes(), 6)]
    model, again = make(4).fit(X), make(4).fit([sparse.csr_matrix(U) for U in X])
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_allclose(again.consensus_memberships_, model.consensus_memberships_, atol=1e-9)


@pytest.mark.parametrize(
    "form, is_sparse", [("labels", True), ("one-hot", True), ("sparse", True), ("soft", False), ("mixed", False)]
)
def test_crisp_partitions_stay_sparse(form, is_sparse):
    seen = []

    class Looks(SHBGF):
        def _cut(self, U, w, rng):
            seen.append(U)
            return np.ones((U.shape[1], 2))

    z, U = np.array([0, 1, -1, 1]), np.array([[0.5, 0.5], [1, 0], [0.2, 0.8], [0, 1]])
    X = {
        "labels": [z, [0, 0, 1, 2]],
        "one-hot": [np.eye(2)[z], z],
        "sparse": [sparse.csr_array(U), z],
        "soft": [U],
        "mixed": [z, U],
    }
    with pytest.warns(ConvergenceWarning):
        Looks(2).fit(X[form])
    assert sparse.issparse(seen[0]) == is_sparse


# Weights ------------------------------------------------------------------------------------------------------------


@spectral
def test_weights_of_one_size(make):
    X = noisy_partitions(classes(), 5)
    expected = make(4).fit(X).consensus_memberships_
    for weight in (1e-300, 0.1, 7, 1e300):
        found = make(4).fit(X, partition_weights=np.full(5, weight)).consensus_memberships_
        np.testing.assert_allclose(found, expected, atol=1e-9)


@every
def test_weight_zero_is_a_removed_partition(make):
    X = noisy_partitions(classes(), 6)
    model = make(4).fit(X, partition_weights=[1, 0, 2, 1, 1, 1])
    removed = make(4).fit([X[0], *X[2:]], partition_weights=[1, 2, 1, 1, 1])
    np.testing.assert_allclose(model.consensus_memberships_, removed.consensus_memberships_, atol=1e-9)
    if hasattr(model, "cluster_labels_"):
        expected = np.concatenate([removed.cluster_labels_[:4], np.full(4, -1), removed.cluster_labels_[4:]])
        np.testing.assert_array_equal(model.cluster_labels_, expected)


def noisy_draw(seed):
    """Five partitions of 60 objects, noisy enough that how much each counts decides the consensus; half are crisp."""
    X = noisy_partitions(classes(60, seed=seed), 5, noise=0.7, seed=seed)
    return [U.argmax(axis=1) for U in X] if seed % 2 else X


@every
def test_weight_is_a_number_of_copies(make):
    for seed in range(60):
        X = noisy_draw(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # noise need not have four clusters
            weighted = make(4).fit(X, partition_weights=[2, 1, 1, 3, 1])
            copied = make(4).fit([X[3], X[0], *X, X[3]])
        np.testing.assert_allclose(weighted.consensus_memberships_, copied.consensus_memberships_, atol=1e-9)
        np.testing.assert_array_equal(weighted.labels_, copied.labels_)


@every
def test_copies_of_all_change_nothing(make):
    X = noisy_draw(0)
    np.testing.assert_array_equal(make(4).fit(X).labels_, make(4).fit(X * 3).labels_)


def test_noisy_draws_can_fail():
    """Leaving the weights out changes most of the draws."""
    changed = 0
    for seed in range(60):
        X = noisy_draw(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            plain, weighted = (
                SMCLA(4, n_init=3, random_state=0).fit(X, partition_weights=w) for w in (None, [2, 1, 1, 3, 1])
            )
        changed += adjusted_rand_score(plain.labels_, weighted.labels_) < 0.99
    assert changed >= 40


@spectral
def test_weight_of_good_partitions(make):
    """Three good partitions among nine of noise: weights find them."""
    gain = []
    for seed in range(4):
        y = classes(400, 4, seed)
        X = noisy_partitions(y, 3, noise=0.2, seed=seed) + noisy_partitions(y, 9, noise=0.9, seed=100 + seed)
        fits = [make(4).fit(X, partition_weights=w) for w in (None, [5] * 3 + [1] * 9)]
        plain, weighted = (adjusted_rand_score(y, model.labels_) for model in fits)
        gain.append(weighted - plain)
        assert weighted > 0.78
    # the similarities of objects see through the noise without weights
    assert np.mean(gain) > (0 if isinstance(make(), SCSPA) else 0.2)


def test_weights_are_a_fit_argument():
    X = noisy_partitions(classes(60), 3)
    labels = SCSPA(4, random_state=0).fit_predict(X, partition_weights=[5, 1, 1])
    np.testing.assert_array_equal(labels, SCSPA(4, random_state=0).fit(X, partition_weights=[5, 1, 1]).labels_)
    with pytest.raises(ValueError, match="partition_weights must have shape"):
        SCSPA(4).fit(X, partition_weights=[1, 1])


# Missing objects ----------------------------------------------------------------------------------------------------


def with_missing(X, rng, share=0.3):
    """Objects missing here and there, in at most all partitions but one."""
    gone = rng.uniform(size=(len(X), len(X[0]))) < share
    gone[rng.integers(len(X), size=len(X[0])), np.arange(len(X[0]))] = False
    return [np.where(g[:, None], 0, U) for g, U in zip(gone, X, strict=True)]


@spectral
def test_missing_objects(make):
    y = classes(400, 4)
    X = with_missing(noisy_partitions(y, 12), np.random.default_rng(0))
    model = make(4).fit(X)
    assert adjusted_rand_score(y, model.labels_) >= 0.95
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@spectral
def test_forms_of_missing(make):
    X = [U.argmax(axis=1) for U in noisy_partitions(classes(), 5)]
    gone = np.random.default_rng(0).uniform(size=(5, 300)) < 0.2
    gone[0] = False
    minus = [np.where(g, -1, z) for g, z in zip(gone, X, strict=True)]
    nan = [np.where(g, np.nan, z) for g, z in zip(gone, X, strict=True)]
    zeros = [np.eye(4)[z] * ~g[:, None] for g, z in zip(gone, X, strict=True)]
    models = [make(4).fit(data) for data in (minus, nan, zeros)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.labels_, models[0].labels_)


@each
def test_object_missing_everywhere(make):
    X = [[0, 0, 1, -1, 1], [[1, 0], [1, 0], [0, 1], [0, 0], [0, 1]], [np.nan, 1, 0, np.nan, 0]]
    with pytest.raises(
        ValueError, match=r"Every object must be in some partition .* 1 objects that are missing .* is object 3"
    ):
        make(2).fit(X)
    X[2][3] = 0
    model = make(2).fit(X)
    with pytest.raises(ValueError, match="of positive weight, the first is object 3"):
        make(2).fit(X, partition_weights=[1, 1, 0])
    with pytest.raises(ValueError, match="is object 1"):
        model.predict([[0, -1], [0, np.nan], [[1, 0], [0, 0]]])


# Prediction ---------------------------------------------------------------------------------------------------------


@every
def test_training_objects(make):
    X = noisy_partitions(classes(), 6)
    model = make(4).fit(X)
    np.testing.assert_array_equal(model.predict_memberships(X), model.memberships_)
    np.testing.assert_array_equal(model.predict_consensus(X), model.consensus_memberships_)
    np.testing.assert_array_equal(model.memberships_, np.eye(4)[model.consensus_memberships_.argmax(axis=1)])
    np.testing.assert_allclose(model.consensus_memberships_.sum(axis=1), 1)
    assert (model.consensus_memberships_ >= 0).all()
    assert ((model.consensus_memberships_ > 0.01) & (model.consensus_memberships_ < 0.99)).any()  # soft


@spectral
def test_new_objects(make):
    y = classes(600, 4)
    X = noisy_partitions(y, 10)
    model = make(4).fit([U[:400] for U in X])
    new = [U[400:] for U in X]
    assert adjusted_rand_score(y[400:], model.predict(new)) >= 0.95
    together = adjusted_rand_score(y, np.concatenate([model.labels_, model.predict(new)]))
    assert together >= 0.95  # the same numbers mean the same clusters
    np.testing.assert_array_equal(model.predict_memberships(new), np.eye(4)[model.predict(new)])
    np.testing.assert_allclose(model.predict_consensus(new).sum(axis=1), 1)
    parts = [model.predict_consensus([U[i : i + 1] for U in new]) for i in range(20)]
    np.testing.assert_allclose(np.concatenate(parts), model.predict_consensus(new)[:20], atol=1e-12)


@each
def test_new_objects_in_other_forms(make):
    y = classes()
    X = [np.array([2, 5, 8, 11])[noisy_partitions(y, 5)[b].argmax(axis=1)] for b in range(4)] + noisy_partitions(y, 1)
    model = make(4).fit(X)
    labels = [2, 8, 11]
    expected = model.predict_consensus([labels] * 4 + [[[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]])
    matrix = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    for new in ([matrix] * 5, [labels, sparse.csr_array(matrix), *[labels] * 2, [0, 2, 3]]):
        np.testing.assert_allclose(model.predict_consensus(new), expected, atol=1e-12)
    with pytest.raises(ValueError, match=r"X\[1\] has the label 3, which did not occur in fit"):
        model.predict([[2], [3], [2], [2], [0]])
    with pytest.raises(ValueError, match="X has 4 partitions, but there were 5"):
        model.predict([labels] * 4)
    with pytest.raises(ValueError, match=r"X\[4\] has 3 columns, but there were 4 clusters"):
        model.predict([labels] * 4 + [np.eye(3)])


@each
def test_cluster_without_members_in_fit(make):
    """It says nothing of a new object."""
    X = [np.insert(U, 2, 0, axis=1) for U in noisy_partitions(classes(), 5)]
    model = make(4).fit(X)
    plain = make(4).fit([np.delete(U, 2, axis=1) for U in X])
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    if hasattr(model, "cluster_labels_"):
        assert model.cluster_labels_.shape == (25,)
        assert (model.cluster_labels_.reshape(5, 5)[:, 2] == -1).all()
        np.testing.assert_array_equal(
            np.delete(model.cluster_labels_.reshape(5, 5), 2, axis=1).ravel(), plain.cluster_labels_
        )
    with pytest.raises(ValueError, match="Every object must be in some partition of X"):
        model.predict([[2]] * 5)
    np.testing.assert_array_equal(
        model.predict([[2], [2], [2], [2], [0]]), plain.predict([[-1], [-1], [-1], [-1], [0]])
    )


def test_pandas_output():
    X = noisy_partitions(classes(50), 3)
    model = SHBGF(4, random_state=0).set_output(transform="pandas").fit(X)
    frame = model.transform(X)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["shbgf0", "shbgf1", "shbgf2", "shbgf3"]
    np.testing.assert_array_equal(frame.to_numpy(), model.memberships_)


@each
def test_single_precision(make):
    X = [U.astype(np.float32) for U in noisy_partitions(classes(), 5)]
    model, double = make(4).fit(X), make(4).fit([U.astype(float) for U in X])
    assert model.consensus_memberships_.dtype == model.memberships_.dtype == np.float32
    assert model.predict_consensus(X).dtype == np.float32
    np.testing.assert_allclose(model.consensus_memberships_, double.consensus_memberships_, atol=1e-6)


# Degenerate ---------------------------------------------------------------------------------------------------------


@every
def test_one_cluster(make):
    X = noisy_partitions(classes(40), 3)
    model = make(1).fit(X)
    np.testing.assert_array_equal(model.memberships_, np.ones((40, 1)))
    np.testing.assert_array_equal(model.consensus_memberships_, np.ones((40, 1)))
    assert make(1).fit([[5]]).labels_.tolist() == [0]
    assert make(1).fit([[[0.3, 0.7]], [0]]).labels_.tolist() == [0]


@every
def test_as_many_clusters_as_objects(make):
    X = [np.arange(5), np.arange(5)[::-1], np.arange(5)]
    assert sorted(make(5).fit(X).labels_) == list(range(5))


@every
def test_more_clusters_than_objects(make):
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=4"):
        make(4).fit([[0, 1, 2], [0, 1, 1]])


@spectral
def test_fewer_distinct_objects_than_clusters(make):
    X = [np.repeat([0, 1], 20), np.repeat([1, 0], 20), np.repeat([[0.9, 0.1], [0.2, 0.8]], 20, axis=0)]
    with pytest.warns(
        ConvergenceWarning, match="found 2 distinct clusters, fewer than n_clusters=4.*use fewer clusters"
    ):
        model = make(4).fit(X)
    assert model.memberships_.shape == (40, 4)
    assert adjusted_rand_score(model.labels_, np.repeat([0, 1], 20)) == 1


@every
def test_objects_all_alike(make):
    with pytest.warns(ConvergenceWarning, match="found 1 distinct clusters"):
        model = make(3, n_init=1).fit([np.full((20, 3), 1 / 3), [0] * 20])
    assert len(set(model.labels_)) == 1
    np.testing.assert_allclose(model.consensus_memberships_.sum(axis=1), 1)


@spectral
def test_more_separate_groups_than_clusters(make):
    """Any union of them is a perfect cut."""
    y = np.repeat(np.arange(6), 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make(3).fit([y, y[::-1].copy(), y])
    for k in range(6):
        assert len(set(model.labels_[y == k])) == 1


@each
def test_ties_go_to_the_first_cluster(make):
    X = noisy_partitions(classes(), 4)
    model = make(4).fit(X)
    # links of 1/3 and weights that do not add up exactly, in whichever order
    model._links = np.tile([0.1 + 0.2, 0.3, 1 / 3 * 0.9, 0.1], (16, 1))
    assert set(model.predict(X)) == {0}
    assert set(model.predict([U[:, ::-1] for U in X])) == {0}


PIECES = st.integers(1, 4).flatmap(
    lambda K: st.one_of(
        st.lists(st.integers(-1, K - 1), min_size=6, max_size=6),
        st.lists(
            st.lists(st.sampled_from([0, 1, 0.5, 1e-16, 1e-300, 5e-324]), min_size=K, max_size=K),
            min_size=6,
            max_size=6,
        ),
    )
)


@every
def test_hostile_partitions(make):
    @settings(max_examples=20, deadline=None, derandomize=True, database=None)
    @given(st.lists(PIECES, min_size=1, max_size=4), st.integers(1, 4))
    def fits(X, K):
        model = make(K, n_init=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                model.fit(X)
            except ValueError as error:
                if "missing in every partition" not in str(error) and "n_clusters" not in str(error):
                    raise
                return
        C = model.consensus_memberships_
        assert np.isfinite(C).all()
        assert (C >= 0).all()
        np.testing.assert_allclose(C.sum(axis=1), 1, atol=1e-9)
        np.testing.assert_array_equal(model.predict_memberships(X), model.memberships_)

    fits()


# The protocol -------------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize(
    "setting", [{"n_clusters": 0}, {"n_clusters": 2.0}, {"partitioner": "kmeans"}, {"n_init": 0}, {"random_state": "a"}]
)
def test_bad_parameters(make, setting):
    with pytest.raises(ValueError, match=f"The '{next(iter(setting))}' parameter"):
        make().set_params(**setting).fit([[0, 1, 2]])


@pytest.mark.parametrize("cls, value", [(SCSPA, "jaccard"), (SMCLA, "dot")])
def test_bad_similarity(cls, value):
    with pytest.raises(ValueError, match="The 'similarity' parameter"):
        cls(similarity=value).fit([[0, 1, 2]])


@each
def test_failed_fit_is_no_fit(make):
    model = make().fit(noisy_partitions(classes(50), 3))
    with pytest.raises(ValueError, match="missing in every partition"):
        model.fit([[0, 1, 2, -1]])
    with pytest.raises(NotFittedError):
        model.predict([[0]])


@every
def test_metis_is_never_replaced(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    model = make()
    if model.partitioner == "metis":
        with pytest.raises(ImportError, match=r"soft-clustering\[metis\]"):
            model.fit(noisy_partitions(classes(50), 3))
    else:
        model.fit(noisy_partitions(classes(50), 3))


@each
def test_seed(make):
    X = noisy_partitions(classes(200), 4, noise=0.9)  # hardly a structure: starts matter
    fits = [make(4, n_init=1, random_state=seed).fit(X) for seed in (0, 0, 1, 2, 3)]
    np.testing.assert_array_equal(fits[0].consensus_memberships_, fits[1].consensus_memberships_)
    assert any((fits[0].labels_ != other.labels_).any() for other in fits[2:])


@each
def test_verbose(make, capsys):
    make(2, verbose=1).fit([[0, 0, 1], [1, 1, 0]])
    line = capsys.readouterr().out
    assert " found consensus clusters of " in line and line.endswith(" objects in 2 partitions with 4 clusters\n")


def test_tags():
    tags = SCSPA().__sklearn_tags__()
    assert not tags.input_tags.two_d_array
    assert tags.estimator_type == "clusterer"
