"""Semi-supervised fuzzy c-means: definitions by loops, labels and priors, weights, limits, agreement with classes."""

import sys
import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import SFCMEP, AFCMSimple
from soft_clustering.fuzzy import afcm_simple

IRIS, SPECIES = load_iris(return_X_y=True)
FEW = np.where(np.arange(150) % 15 == 0, SPECIES, -1)
WEIGHT = np.random.RandomState(0).uniform(0.1, 3, 150)


def brute_force(X, V, lam, prior, weight, fixed=False):
    """J of the Notes and U: a loop over samples and clusters; ``prior`` (n, K) sums to 1."""
    n, K, d = len(X), len(V), X.shape[1]
    U, J = np.zeros((n, K)), 0.0
    for i in range(n):
        D = [sum((X[i, j] - V[k, j]) ** 2 for j in range(d)) for k in range(K)]
        bumps = [prior[i, k] * np.exp(-(D[k] - min(D)) / lam) for k in range(K)]
        for k in range(K):
            u = U[i, k] = bumps[k] / sum(bumps)
            if u > 0:
                J += weight[i] * (u * D[k] / lam + u * np.log(u / (K * prior[i, k])))
    return (lam * J if fixed else J + weight.sum() * d / 2 * np.log(lam)), U


def priors_of(y, K, rho):
    prior = np.full((len(y), K), 1 / K)
    prior[y >= 0] = rho * np.eye(K)[y[y >= 0]] + (1 - rho) / K
    return prior


def auto_weight(y, weight):
    return max(1, weight[y < 0].sum() / weight[y >= 0].sum())


# Definitions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entropy_weight", ["auto", 0.5])
@pytest.mark.parametrize("rho", [1.0, 0.9, 0.0])
@pytest.mark.parametrize("label_weight", ["auto", 3.5])
def test_objective_and_memberships_by_brute_force(rho, label_weight, entropy_weight):
    model = SFCMEP(label_confidence=rho, label_weight=label_weight, entropy_weight=entropy_weight)
    model.fit(IRIS, FEW, sample_weight=WEIGHT)
    expected = auto_weight(FEW, WEIGHT) if label_weight == "auto" else 3.5
    assert model.label_weight_ == pytest.approx(expected, rel=1e-13)
    weight = WEIGHT * np.where(FEW >= 0, expected, 1)
    fixed = entropy_weight != "auto"
    prior = priors_of(FEW, 3, rho)
    J, U = brute_force(IRIS, model.centers_, model.entropy_weight_, prior, weight, fixed)
    assert model.objective_ == pytest.approx(J, rel=1e-11)
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-12)
    # at the optimum the centres are weighted means, and lambda the scatter about them
    V = (U * weight[:, None]).T @ IRIS / (U * weight[:, None]).sum(axis=0)[:, None]
    np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-6)
    scatter = (U * weight[:, None] * cdist(IRIS, V, "sqeuclidean")).sum()
    learnt = 0.5 if fixed else 2 * scatter / (weight.sum() * 4)
    assert model.entropy_weight_ == pytest.approx(learnt, rel=1e-12 if fixed else 1e-6)


@pytest.mark.parametrize("rho", [1.0, 0.9])
@pytest.mark.parametrize("spread", [1e-4, 1e-2, 1.0, 10.0])
def test_entropy_weight_is_twice_the_variance_of_a_cluster(spread, rho):
    """lambda of the Notes by loops: far from each other, clusters are small against the distances that J sums up."""
    rng = np.random.RandomState(0)
    K, d, n = 4, 3, 160
    classes = np.arange(n) % K
    X = 20 * rng.normal(size=(K, d))[classes] + spread * rng.normal(size=(n, d))
    y, weight = np.where(np.arange(n) % 9 == 0, classes, -1), rng.uniform(0.1, 3, n)
    model = SFCMEP(label_confidence=rho, label_weight=2.5, tol=1e-10, max_iter=3000).fit(X, y, sample_weight=weight)
    weight = weight * np.where(y >= 0, 2.5, 1)
    total = 0.0
    for i in range(n):
        for k in range(K):
            total += weight[i] * model.memberships_[i, k] * sum((X[i] - model.centers_[k]) ** 2)
    assert model.entropy_weight_ == pytest.approx(2 * total / (weight.sum() * d), rel=1e-9)


def test_first_passes_by_hand():
    """Class means, then the three updates in turn."""
    y, weight = FEW, np.where(FEW >= 0, auto_weight(FEW, np.ones(150)), 1)
    V = np.stack([IRIS[y == c].mean(axis=0) for c in range(3)])
    lam = 2 * np.average(cdist(IRIS, V, "sqeuclidean").min(axis=1), weights=weight) / 4
    history = []
    for n_passes in range(1, 5):
        J, U = brute_force(IRIS, V, lam, priors_of(y, 3, 1.0), weight)
        history.append(J)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = SFCMEP(max_iter=n_passes, tol=0).fit(IRIS, y)
        W = U * weight[:, None]
        V = W.T @ IRIS / W.sum(axis=0)[:, None]
        lam = 2 * (W * cdist(IRIS, V, "sqeuclidean")).sum() / (weight.sum() * 4)
        np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-12)
        assert model.entropy_weight_ == pytest.approx(lam, rel=1e-11)
        np.testing.assert_allclose(model.objective_history_[:-1], history, rtol=1e-11)


@pytest.mark.parametrize("entropy_weight", ["auto", 2.0])
def test_history_does_not_increase(entropy_weight):
    for seed in range(5):
        X, classes = make_blobs(300, 3, centers=4, cluster_std=3, random_state=seed)
        y = np.where(np.arange(300) % 20 == 0, classes, -1)
        weight = np.random.RandomState(seed).uniform(0, 3, 300)
        model = SFCMEP(6, entropy_weight=entropy_weight, tol=1e-10, max_iter=3000, random_state=seed)
        history = model.fit(X, y, sample_weight=weight).objective_history_
        assert model.converged_
        assert len(history) > 5
        assert np.all(np.diff(history) <= 1e-12 * np.abs(history[0]))


# Limits ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [None, np.full(150, -1), [None] * 150, np.full(150, np.nan)])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_without_labels_it_is_afcm_simple(y, weight):
    model = SFCMEP(3, random_state=0).fit(IRIS, y, sample_weight=weight)
    plain = AFCMSimple(3, random_state=0).fit(IRIS, sample_weight=weight)
    for name in ("memberships_", "centers_", "entropy_weight_", "objective_history_", "n_iter_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(plain, name))
    assert model.score(IRIS[:9]) == plain.score(IRIS[:9])
    assert not hasattr(model, "classes_")


def test_labels_without_confidence_only_start():
    start = np.stack([IRIS[c == FEW].mean(axis=0) for c in range(3)])
    model = SFCMEP(label_confidence=0, label_weight=1.0, tol=1e-14, max_iter=3000).fit(IRIS, FEW)
    plain = AFCMSimple(3, init=start, tol=1e-14, max_iter=3000).fit(IRIS)
    np.testing.assert_allclose(model.memberships_, plain.memberships_, rtol=0, atol=1e-10)
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-12)


def test_uniform_priors_say_nothing():
    prior = np.full((150, 3), 1 / 3)
    prior[50:] = np.nan
    model = SFCMEP(label_weight=1.0, tol=1e-14, max_iter=3000, random_state=0).fit(IRIS, prior_memberships=prior)
    plain = AFCMSimple(3, tol=1e-14, max_iter=3000, random_state=0).fit(IRIS)
    np.testing.assert_allclose(model.memberships_, plain.memberships_, rtol=0, atol=1e-8)


def test_sure_labels_are_kept():
    wrong = np.where(FEW >= 0, (SPECIES + 1) % 3, -1)  # against all evidence
    model = SFCMEP(label_weight=1.0).fit(IRIS, wrong)
    np.testing.assert_array_equal(model.memberships_[FEW >= 0], np.eye(3)[wrong[FEW >= 0]])
    doubted = SFCMEP(label_weight=1.0, label_confidence=0.5).fit(IRIS, np.where(np.arange(150) == 0, 2, SPECIES))
    assert doubted.labels_[0] == 0


def test_all_rows_labelled():
    model = SFCMEP().fit(IRIS, SPECIES)
    np.testing.assert_array_equal(model.labels_, SPECIES)
    np.testing.assert_allclose(model.centers_, [IRIS[c == SPECIES].mean(axis=0) for c in range(3)], rtol=1e-12)
    assert model.label_weight_ == 1
    within = np.mean([IRIS[c == SPECIES].var(axis=0) for c in range(3)])
    assert model.entropy_weight_ == pytest.approx(2 * within, rel=1e-12)


def test_prediction_has_no_prior():
    model = SFCMEP(label_weight=2.0).fit(IRIS, FEW)
    D = cdist(IRIS, model.centers_, "sqeuclidean")
    U = np.exp(-(D - D.min(axis=1, keepdims=True)) / model.entropy_weight_)
    U /= U.sum(axis=1, keepdims=True)
    predicted = model.predict_memberships(IRIS)
    np.testing.assert_allclose(predicted, U, rtol=0, atol=1e-12)
    np.testing.assert_allclose(predicted[FEW < 0], model.memberships_[FEW < 0], rtol=0, atol=1e-12)
    assert np.abs(predicted - model.memberships_)[FEW >= 0].max() > 1e-6
    J, _ = brute_force(IRIS[:20], model.centers_, model.entropy_weight_, np.full((20, 3), 1 / 3), np.ones(20))
    assert model.score(IRIS[:20]) == pytest.approx(-J, rel=1e-11)


# Labels, classes, priors ----------------------------------------------------------------------------------------------


def test_columns_are_the_classes():
    names = np.array(["virginica", "setosa", "versicolor"])[[1, 2, 0]]
    y = np.array([names[s] if known >= 0 else None for s, known in zip(SPECIES, FEW, strict=True)], dtype=object)
    model = SFCMEP().fit(IRIS, y)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    expected = SFCMEP().fit(IRIS, FEW)
    np.testing.assert_array_equal(model.memberships_, expected.memberships_)
    assert (model.labels_ == SPECIES).mean() > 0.85


def test_clusters_beyond_the_classes_are_found():
    X, classes = make_blobs(400, 2, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)
    y = np.where((np.arange(400) % 10 == 0) & (classes < 2), classes, -1)
    model = SFCMEP(4, random_state=0).fit(X, y)
    assert adjusted_rand_score(classes, model.labels_) == 1
    np.testing.assert_array_equal(model.labels_[classes < 2], classes[classes < 2])
    assert model.classes_.tolist() == [0, 1]


def test_one_start_where_every_cluster_has_a_label(capsys):
    SFCMEP(verbose=1).fit(IRIS, FEW)
    assert capsys.readouterr().out.count("SFCMEP start") == 1
    SFCMEP(4, verbose=1, random_state=0).fit(IRIS, FEW)
    assert capsys.readouterr().out.count("SFCMEP start") == 5


def test_prior_memberships():
    prior = np.full((150, 3), np.nan)
    prior[::15] = 4 * np.array([[0.7, 0.2, 0.1], [0.1, 0.9, 0], [0, 0.5, 0.5]])[SPECIES[::15]]  # any factor
    model = SFCMEP(label_weight=2.0, random_state=0).fit(IRIS, prior_memberships=prior)
    assert not hasattr(model, "classes_")
    full = np.where(np.isnan(prior), 1 / 3, prior / prior.sum(axis=1, keepdims=True))
    weight = np.where(np.isnan(prior[:, 0]), 1.0, 2.0)
    J, U = brute_force(IRIS, model.centers_, model.entropy_weight_, full, weight)
    assert model.objective_ == pytest.approx(J, rel=1e-11)
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.memberships_[::15][SPECIES[::15] == 2, 0], 0)


def test_one_hot_priors_are_sure_labels():
    prior = np.full((150, 3), np.nan)
    prior[FEW >= 0] = np.eye(3)[FEW[FEW >= 0]]
    model, expected = SFCMEP().fit(IRIS, prior_memberships=prior), SFCMEP().fit(IRIS, FEW)
    np.testing.assert_array_equal(model.memberships_, expected.memberships_)
    # some as labels, some as priors
    half, rest = FEW.copy(), prior.copy()
    half[75:], rest[:75] = -1, np.nan
    mixed = SFCMEP(3).fit(IRIS, half, prior_memberships=rest)
    np.testing.assert_array_equal(mixed.memberships_, expected.memberships_)


def test_number_of_clusters():
    assert SFCMEP().fit(IRIS).n_clusters_ == 3
    assert SFCMEP().fit(IRIS, np.where(FEW == 1, -1, FEW)).n_clusters_ == 2
    assert SFCMEP(random_state=0).fit(IRIS, prior_memberships=np.full((150, 4), np.nan)).n_clusters_ == 4
    model = SFCMEP()
    assert model.fit(IRIS, FEW).n_clusters is None
    # Without labels it is 3, whatever the data are: the number is not found.
    five = make_blobs(100, centers=5, cluster_std=0.1, random_state=0)[0]
    assert SFCMEP(random_state=0).fit(five).n_clusters_ == 3
    assert not SFCMEP.finds_n_clusters


@pytest.mark.parametrize(
    "y, keywords, match",
    [
        (SPECIES, {}, r"n_clusters=2 should be >= the number of classes in y, 3"),
        (FEW[:9], {}, "inconsistent numbers of samples"),
        (
            None,
            {"prior_memberships": np.ones((150, 3))},
            r"prior_memberships must have n_clusters=2 columns",
        ),
        (None, {"prior_memberships": np.ones((149, 2))}, r"prior_memberships must have a row per sample, 150"),
        (None, {"prior_memberships": -np.ones((150, 2))}, "prior_memberships must be >= 0. Got -1"),
        (None, {"prior_memberships": np.zeros((150, 2))}, "prior_memberships must have a positive entry.*Row 0"),
        (None, {"prior_memberships": np.full((150, 2), np.inf)}, "prior_memberships contains infinity"),
        (
            None,
            {"prior_memberships": [[np.nan, 1]] * 150},
            "prior_memberships must have rows in which all entries or none are NaN. Row 0 has both",
        ),
        (None, {"prior_memberships": [["a", "b"]] * 150}, "prior_memberships"),
        (FEW == 0, {"prior_memberships": np.ones((150, 2))}, "prior_memberships must be NaN in the rows.*row 0"),
    ],
)
def test_refused(y, keywords, match):
    with pytest.raises(ValueError, match=match):
        SFCMEP(2).fit(IRIS, y, **keywords)


@pytest.mark.parametrize("name, value", [("label_confidence", 1.1), ("label_weight", 0), ("entropy_weight", -1.0)])
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=rf"'{name}' parameter"):
        SFCMEP(**{name: value}).fit(IRIS, FEW)


def test_label_weight_out_of_range():
    with pytest.raises(
        ValueError, match=r"label_weight=1e\+300 times sample_weight must have its largest entry between"
    ):
        SFCMEP(label_weight=1e300).fit(IRIS, FEW)


def test_largest_priors_do_not_overflow():
    prior = np.full((150, 3), np.nan)
    prior[:3] = sys.float_info.max
    model = SFCMEP(random_state=0).fit(IRIS, prior_memberships=prior)
    assert np.isfinite(model.objective_)


def test_dask_only_without_labels():
    da = pytest.importorskip("dask.array")
    data = da.from_array(IRIS, chunks=(50, 4))
    model = SFCMEP(3, random_state=0).fit(data)
    expected = SFCMEP(3, random_state=0).fit(IRIS)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    with pytest.raises(TypeError, match=r"labels and priors only of rows in memory"):
        SFCMEP().fit(data, FEW)


# Weights, units, kinds of data ----------------------------------------------------------------------------------------


def test_weights_are_repetitions_of_labelled_rows_too():
    weight = np.random.RandomState(1).randint(0, 4, 150)
    copies = np.repeat(np.arange(150), weight)
    model = SFCMEP(4, random_state=0).fit(IRIS, FEW, sample_weight=weight)
    repeated = SFCMEP(4, random_state=0).fit(IRIS[copies], FEW[copies])
    np.testing.assert_allclose(model.memberships_[copies], repeated.memberships_, rtol=0, atol=1e-9)
    assert model.label_weight_ == pytest.approx(repeated.label_weight_, rel=1e-13)
    # a labelled row of weight 0 still has its label
    lost = np.flatnonzero((weight == 0) & (FEW >= 0))
    assert len(lost) > 0
    np.testing.assert_array_equal(model.labels_[lost], FEW[lost])


def test_labels_of_weight_zero_only():
    model = SFCMEP(3, random_state=0).fit(IRIS, FEW, sample_weight=(FEW < 0).astype(float))
    assert model.label_weight_ == 1
    plain = AFCMSimple(3, random_state=0).fit(IRIS[FEW < 0])
    np.testing.assert_allclose(model.centers_, plain.centers_, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.labels_[FEW >= 0], FEW[FEW >= 0])


def test_order_of_rows():
    order = np.random.RandomState(0).permutation(150)
    model = SFCMEP(4, random_state=0).fit(IRIS, FEW)
    shuffled = SFCMEP(4, random_state=0).fit(IRIS[order], FEW[order])
    np.testing.assert_allclose(shuffled.memberships_, model.memberships_[order], rtol=0, atol=1e-9)


@pytest.mark.parametrize("entropy_weight", [None, 0.3])
@pytest.mark.parametrize("scale, offset", [(2.0**-400, 0), (2.0**400, 0), (1.0, 1e8), (2.0**20, 2.0**40)])
def test_units(scale, offset, entropy_weight):
    X = np.round(IRIS * 16) / 16
    given = "auto" if entropy_weight is None else entropy_weight
    moved = "auto" if entropy_weight is None else entropy_weight * scale * scale
    model = SFCMEP(entropy_weight=given).fit(X, FEW)
    other = SFCMEP(entropy_weight=moved).fit(X * scale + offset, FEW)
    np.testing.assert_allclose(other.memberships_, model.memberships_, rtol=0, atol=1e-7)
    np.testing.assert_allclose((other.centers_ - offset) / scale, model.centers_, rtol=0, atol=1e-6)
    if entropy_weight is not None and abs(np.log2(scale)) < 100:
        assert other.objective_ / scale**2 == pytest.approx(model.objective_, rel=1e-6)


def test_sparse_rows():
    X = sparse.random(200, 30, 0.2, "csr", random_state=0)
    y = np.where(np.arange(200) % 10 == 0, np.arange(200) // 10 % 2, -1)
    model, dense = (SFCMEP(4, random_state=0).fit(data, y) for data in (X, X.toarray()))
    np.testing.assert_allclose(model.memberships_, dense.memberships_, rtol=0, atol=1e-8)
    assert model.objective_ == pytest.approx(dense.objective_, rel=1e-9)


def test_single_precision():
    model = SFCMEP().fit(IRIS.astype(np.float32), FEW)
    assert model.memberships_.dtype == model.centers_.dtype == np.float32
    np.testing.assert_allclose(model.memberships_, SFCMEP().fit(IRIS, FEW).memberships_, rtol=0, atol=1e-3)


def test_small_clusters_keep_their_digits(monkeypatch):
    """The variance within is 1e-8 of the whole: a second look at the rows, those with labels too."""
    X, classes = make_blobs(900, 3, centers=np.array([[0, 0, 0], [1, 0, 0], [0, 2, 1]]) * 1e4, random_state=0)
    y = np.where(np.arange(900) % 9 == 0, classes, -1)
    model = SFCMEP(label_weight=1.0).fit(X, y)
    expected = 2 * np.mean([np.square(X[classes == k] - X[classes == k].mean(axis=0)).mean() for k in range(3)])
    assert model.entropy_weight_ == pytest.approx(expected, rel=1e-9)
    monkeypatch.setattr(afcm_simple, "_TIGHT", 0)
    assert SFCMEP(label_weight=1.0).fit(X, y).entropy_weight_ != pytest.approx(expected, rel=1e-9)


def test_identical_samples_with_labels():
    X = np.full((20, 3), 7.5)
    with pytest.warns(ConvergenceWarning, match=r"SFCMEP found 1 distinct prototypes.*use fewer clusters"):
        model = SFCMEP().fit(X, [0, 1] + [-1] * 18)
    np.testing.assert_allclose(model.memberships_[2:], 0.5, rtol=1e-12)
    np.testing.assert_array_equal(model.memberships_[:2], np.eye(2))


def test_large_entropy_weight_collapses_with_advice():
    with pytest.warns(ConvergenceWarning, match=r"SFCMEP collapsed.*use a smaller entropy_weight"):
        SFCMEP(3, entropy_weight=1e6, random_state=0).fit(IRIS)


def test_a_row_of_its_own_cluster_only():
    """Sure priors for one column leave nothing for the others: no cluster is lost for good, nothing is NaN."""
    prior = np.tile([1.0, 0.0, 0.0], (150, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SFCMEP(random_state=0, max_iter=20).fit(IRIS, prior_memberships=prior)
    np.testing.assert_array_equal(model.memberships_, prior)
    assert np.isfinite(model.centers_).all()


# Agreement with classes -----------------------------------------------------------------------------------------------


def few_labels(y, draw):
    """5 % of the labels, at least one of each class."""
    rng = np.random.RandomState(draw)
    first = [rng.choice(np.flatnonzero(y == c)) for c in np.unique(y)]
    others = rng.permutation(np.setdiff1d(np.arange(len(y)), first))
    chosen = np.concatenate([first, others[: max(0, round(0.05 * len(y)) - len(first))]])
    return np.where(np.isin(np.arange(len(y)), chosen), y, -1)


def test_few_labels_help_on_ten_sets():
    with_labels, without = [], []
    for X, y in offline_sets().values():
        known = few_labels(y, 0)
        rest = known < 0
        with_labels.append(adjusted_rand_score(y[rest], SFCMEP().fit(X, known).labels_[rest]))
        plain = AFCMSimple(len(np.unique(y)), random_state=0).fit(X)
        without.append(adjusted_rand_score(y[rest], plain.labels_[rest]))
    assert np.mean(with_labels) >= 0.635
    assert np.mean(with_labels) >= np.mean(without) + 0.01
