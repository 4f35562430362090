"""LatentClass: Goodman's table, other packages' optima, the likelihood by its definition, tables of every kind."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

from soft_clustering import GMM, LatentClass

PATTERNS = np.array([*itertools.product([1, 2], repeat=4)])
RESPONDENTS = np.array([42, 23, 6, 25, 6, 24, 7, 38, 1, 4, 1, 6, 2, 9, 2, 20])  # Stouffer and Toby, in this order


def binned(X, parts=4):
    """Each feature by its quantiles, as codes."""
    inner = np.arange(1, parts) / parts
    return np.column_stack([np.searchsorted(np.quantile(x, inner), x, side="right") for x in X.T])


def with_gaps(X, share=0.2, seed=0):
    holes = np.random.RandomState(seed).uniform(size=X.shape) < share
    return np.where(holes, np.nan, X)


def by_definition(model, X):
    """log p of each row of an array, by loops over the fitted attributes."""
    totals = []
    for row in X:
        joint = model.weights_.copy()
        numbers, categories = iter(range(X.shape[1])), iter(range(X.shape[1]))
        for value, is_number in zip(row, model.numeric_features_, strict=True):
            at = next(numbers) if is_number else next(categories)
            if value is None or value != value:
                continue
            if is_number:
                scale = np.sqrt(model.numeric_variances_[:, at])
                joint *= norm.pdf(float(value), model.numeric_means_[:, at], scale)
            else:
                joint *= model.probabilities_[at][:, model.categories_[at].tolist().index(value)]
        totals.append(np.log(joint.sum()))
    return np.array(totals)


# Publications and other packages --------------------------------------------------------------------------------------


def test_goodman():
    """G2 = 2.72 on 6 degrees of freedom (Goodman 1974), and what R's flexmix 2.3-18 finds."""
    model = LatentClass(2, tol=1e-12, random_state=0).fit(PATTERNS, sample_weight=RESPONDENTS)
    assert model.objective_ * 216 == pytest.approx(-504.467670118, abs=1e-6)
    expected = 216 * np.exp(model.score_samples(PATTERNS))
    assert 2 * RESPONDENTS @ np.log(RESPONDENTS / expected) == pytest.approx(2.7199, abs=1e-4)
    assert 15 - model.n_parameters_ == 6
    order = np.argsort(model.weights_)
    np.testing.assert_allclose(model.weights_[order], [0.27925, 0.72075], atol=1e-5)
    first = np.column_stack([shares[order, 0] for shares in model.probabilities_])
    np.testing.assert_allclose(first[0], [0.9932, 0.9398, 0.9265, 0.7691], atol=1e-4)
    np.testing.assert_allclose(first[1], [0.7136, 0.3296, 0.3540, 0.1324], atol=1e-4)


@pytest.mark.parametrize(
    "load, likelihood, rand_index", [(load_iris, -620.3446, 0.675), (load_wine, -2622.5547, 0.931)]
)
def test_optima_of_stepmix(load, likelihood, rand_index):
    """StepMix 3.0.0 finds the same of ten starts."""
    X, y = load(return_X_y=True)
    model = LatentClass(3, random_state=0).fit(binned(X))
    assert model.objective_ * len(X) == pytest.approx(likelihood, abs=1e-3)
    assert adjusted_rand_score(y, model.labels_) == pytest.approx(rand_index, abs=1e-3)


def test_optimum_of_stepmix_with_numbers():
    X = load_iris().data
    table = np.column_stack([X[:, :2], binned(X)[:, 2:]])
    model = LatentClass(3, numeric_features=[0, 1], random_state=0).fit(table)
    assert model.objective_ * 150 == pytest.approx(-464.675878, abs=1e-5)


# The model ------------------------------------------------------------------------------------------------------------


def mixed(n=120, seed=0):
    """Two numbers and two categories, with gaps, as objects."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    table = np.empty((n, 4), dtype=object)
    table[:, 0] = rng.normal(2.0 * y).tolist()
    table[:, 1] = np.array(["low", "middle", "high"], dtype=object)[np.where(rng.uniform(size=n) < 0.8, y, 0)]
    table[:, 2] = rng.gamma(1 + y).tolist()
    table[:, 3] = rng.integers(2, size=n).tolist()
    table[rng.uniform(size=table.shape) < 0.15] = None
    return table


@pytest.mark.parametrize("seed", range(3))
def test_likelihood_by_definition(seed):
    X = mixed(seed=seed)
    model = LatentClass(3, random_state=seed).fit(X)
    assert model.numeric_features_.tolist() == [True, False, True, False]
    np.testing.assert_allclose(model.score_samples(X), by_definition(model, X), rtol=1e-9, atol=1e-9)
    kept = [i for i, row in enumerate(X) if any(value is not None for value in row)]
    assert model.objective_ == pytest.approx(by_definition(model, X[kept]).mean(), rel=1e-9)
    p = model.n_parameters_
    assert p == 2 + 3 * (2 + 1 + 4)
    assert model.bic(X[kept]) == pytest.approx(-2 * len(kept) * model.objective_ + p * np.log(len(kept)))
    assert model.aic(X[kept]) == pytest.approx(-2 * len(kept) * model.objective_ + 2 * p)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_no_pass_lowers_the_likelihood(load, gaps):
    X = binned(load().data).astype(float)
    X = with_gaps(X) if gaps else X
    for accelerate in (False, True):
        model = LatentClass(3, n_init=2, accelerate=accelerate, random_state=1).fit(X)
        assert np.diff(model.objective_history_).min() > -1e-12
        assert model.converged_


def test_fixed_point():
    """The M-step of the memberships gives the parameters back."""
    X = binned(load_iris().data)
    model = LatentClass(3, tol=1e-14, random_state=0).fit(X)
    U = model.memberships_
    np.testing.assert_allclose(model.weights_, U.mean(axis=0), atol=1e-5)
    for j, shares in enumerate(model.probabilities_):
        expected = [[U[X[:, j] == c, k].sum() / U[:, k].sum() for c in model.categories_[j]] for k in range(3)]
        np.testing.assert_allclose(shares, expected, atol=1e-5)


def test_one_class_has_the_marginal_shares():
    X = mixed()
    model = LatentClass(1, random_state=0).fit(X)
    column = [value for value in X[:, 1] if value is not None]
    shares = [column.count(value) / len(column) for value in ("high", "low", "middle")]
    np.testing.assert_allclose(model.probabilities_[0][0], shares, rtol=1e-12)
    numbers = np.array([value for value in X[:, 0] if value is not None])
    assert model.numeric_means_[0, 0] == pytest.approx(numbers.mean())
    assert model.numeric_variances_[0, 0] == pytest.approx(numbers.var() + 1e-6)


def test_binary_features_are_a_bernoulli_mixture():
    """Any two categories of a feature, and their order, are the same model; centres are the probabilities of 1."""
    X = (load_iris().data > load_iris().data.mean(axis=0)).astype(int)
    model, named = LatentClass(2, random_state=0).fit(X), LatentClass(2, random_state=0).fit(np.array(["z", "a"])[X])
    assert named.objective_ == pytest.approx(model.objective_, abs=1e-7)
    np.testing.assert_allclose(model.centers_, np.column_stack([shares[:, 1] for shares in model.probabilities_]))
    assert not hasattr(named, "centers_")


def test_numbers_alone_are_a_diagonal_gaussian_mixture():
    X, start = load_iris().data, np.eye(3)[load_iris().target]
    model = LatentClass(3, init=start, tol=1e-12).fit(X)
    other = GMM(3, covariance_type="diag", init=start, tol=1e-12, max_iter=1000).fit(X)
    assert model.objective_ == pytest.approx(other.objective_, abs=1e-8)
    np.testing.assert_allclose(model.numeric_means_, other.centers_, atol=1e-3)
    np.testing.assert_allclose(model.memberships_, other.memberships_, atol=1e-3)


def test_smoothing_adds_rows():
    """With one pass from hard memberships the shares are (count + smoothing * share of all) / (size + smoothing)."""
    X = np.array([[0], [0], [1], [2]])
    start = np.eye(2)[[0, 0, 0, 1]]
    model = LatentClass(2, smoothing=2.0, init=start)
    state = model._from_memberships(model._blocks(X), start)
    marginal = np.array([0.5, 0.25, 0.25])
    np.testing.assert_allclose(state.probabilities[:, 0], (np.array([2, 1, 0]) + 2 * marginal) / (3 + 2))
    np.testing.assert_allclose(state.probabilities[:, 1], (np.array([0, 0, 1]) + 2 * marginal) / (1 + 2))
    np.testing.assert_allclose(state.weights, [0.75, 0.25])
    fitted = LatentClass(3, smoothing=1.0, random_state=0).fit(binned(load_iris().data))
    assert min(shares.min() for shares in fitted.probabilities_) > 0


# Rows -----------------------------------------------------------------------------------------------------------------


def test_counts_are_repeated_rows():
    table = np.repeat(PATTERNS, RESPONDENTS, axis=0)
    counted = LatentClass(2, random_state=0).fit(PATTERNS, sample_weight=RESPONDENTS)
    listed = LatentClass(2, random_state=0).fit(table)
    order = np.random.default_rng(0).permutation(len(table))
    shuffled = LatentClass(2, random_state=0).fit(table[order])
    np.testing.assert_array_equal(counted.weights_, listed.weights_)
    np.testing.assert_array_equal(np.repeat(counted.memberships_, RESPONDENTS, axis=0), listed.memberships_)
    np.testing.assert_array_equal(listed.memberships_[order], shuffled.memberships_)


def test_column_without_values_in_a_class():
    """The class gets the shares of all rows there, and nothing is divided by 0."""
    X = np.array([[0, 1.0], [0, 2.0], [0, 1.0], [5, np.nan], [5, np.nan], [5, np.nan]])
    with pytest.warns(match="not identifiable"):
        model = LatentClass(2, init=np.eye(2)[[0, 0, 0, 1, 1, 1]]).fit(X)
    np.testing.assert_allclose(model.probabilities_[1], np.tile([2 / 3, 1 / 3], (2, 1)))
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]


def test_row_without_values_changes_nothing():
    X = with_gaps(binned(load_iris().data).astype(float))
    full = LatentClass(3, random_state=0).fit(X)
    more = LatentClass(3, random_state=0).fit(np.vstack([X, np.full(4, np.nan)]))
    np.testing.assert_array_equal(more.memberships_[:-1], full.memberships_)
    np.testing.assert_allclose(more.memberships_[-1], full.weights_, rtol=1e-12)


def test_category_of_weight_zero_gets_memberships():
    X = np.array([["a", "x"], ["b", "y"], ["c", "y"]] * 4)
    weight = np.where(X[:, 0] == "c", 0.0, 1.0)
    with pytest.warns(match="not identifiable"):
        model = LatentClass(2, random_state=0).fit(X, sample_weight=weight)
    np.testing.assert_allclose(model.memberships_[2], model.predict_memberships([[None, "y"]])[0], atol=1e-12)
    assert model.n_parameters_ == 1 + 2 * (1 + 1)


def test_impossible_rows_are_told_by_the_other_columns():
    """A category that no class has adds the same to all of them."""
    X = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [2, 1]])
    with pytest.warns(match="not identifiable"):
        model = LatentClass(2, init=np.eye(2)[[0, 0, 1, 1, 1]]).fit(X, sample_weight=[1, 1, 1, 1, 0])
    np.testing.assert_allclose(model.memberships_[4], [0, 1], atol=1e-12)
    assert model.score_samples([[2, 1]])[0] < -600


# Tables ---------------------------------------------------------------------------------------------------------------


def test_kinds_of_columns():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 90
    y = rng.integers(2, size=n)
    frame = pandas.DataFrame(
        {
            "text": np.where(y, "yes", "no"),
            "category": pandas.Categorical(np.array(["b", "a"])[y], categories=["b", "a", "unused"]),
            "flag": y == 1,
            "nullable": pandas.array(y, dtype="Int64"),
            "code": y + 1,
            "real": rng.normal(5 * y),
        }
    )
    frame.loc[3, ["text", "category", "nullable"]] = None
    model = LatentClass(2, random_state=0).fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.numeric_features_.tolist() == [False] * 5 + [True]
    assert [list(values) for values in model.categories_] == [["no", "yes"], ["a", "b"], [0, 1], [0, 1], [1, 2]]
    assert adjusted_rand_score(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict_memberships(frame), model.memberships_)
    as_objects = LatentClass(2, random_state=0).fit(frame.to_numpy(dtype=object))
    np.testing.assert_allclose(as_objects.memberships_, model.memberships_, atol=1e-12)
    named = LatentClass(2, numeric_features=["real"], random_state=0).fit(frame)
    np.testing.assert_array_equal(named.memberships_, model.memberships_)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])


@pytest.mark.parametrize("chosen", [[0, 2], [True, False, True, False]])
def test_numeric_features_by_index_or_mask(chosen):
    model = LatentClass(3, numeric_features=chosen, random_state=0).fit(mixed())
    assert model.numeric_features_.tolist() == [True, False, True, False]


def test_types_of_categories():
    """1 and 1.0 are one category, '1' is another; numbers come before texts."""
    X = np.array([[1, "a"], [1.0, "b"], ["1", "a"], [True, None], ["2", "b"]], dtype=object)
    with pytest.warns(match="not identifiable"):
        model = LatentClass(2, random_state=0).fit(X)
    assert model.categories_[0].tolist() == [1, "1", "2"]
    np.testing.assert_array_equal(model.predict_memberships([[1.0, "a"]]), model.memberships_[:1])


def test_codes_with_gaps_are_categories():
    model = LatentClass(3, random_state=0).fit(with_gaps(binned(load_iris().data).astype(float)))
    assert not model.numeric_features_.any()
    assert [values.tolist() for values in model.categories_] == [[0, 1, 2, 3]] * 4


@pytest.mark.parametrize("column", [np.arange(60.0), np.arange(8.0) * 1000, np.arange(8) + 0.5])
def test_what_counts_as_numbers(column):
    X = np.column_stack([np.resize(column, 120), np.resize([0, 1, 2], 120)])
    model = LatentClass(2, random_state=0).fit(X)
    assert model.numeric_features_.tolist() == [True, False]
    if len(column) < 50:
        model.set_params(numeric_features=None).fit(X)
        assert model.categories_[0].tolist() == column.tolist()


def test_unknown_category():
    model = LatentClass(3, random_state=0).fit(mixed())
    with pytest.raises(ValueError, match="X has categories in column 1 that were not there in fit: huge"):
        model.predict([[1.0, "huge", 1.0, 1]])
    with pytest.raises(ValueError, match="X has categories in column 3 that were not there in fit: 7"):
        model.predict([[1.0, "high", 1.0, 7]])
    with pytest.raises(ValueError, match="X has categories in column 0 that were not there in fit: high"):
        model.predict([["high", "high", 1.0, 1]])
    np.testing.assert_allclose(model.predict_memberships([[None] * 4])[0], model.weights_, rtol=1e-12)


@pytest.mark.parametrize(
    "numeric, message",
    [
        (
            None,
            "X has more than 50 values in column 0, and they are not whole: declare it in numeric_features, or bin it",
        ),
        ([1], "numeric_features must name columns of numbers. Column 1 of X holds texts"),
        ([9], "numeric_features must be column indices from 0 to 3"),
        (["age"], "numeric_features must name columns of X. Got age"),
    ],
)
def test_wrong_numeric_features(numeric, message):
    with pytest.raises(ValueError, match=message):
        LatentClass(2, numeric_features=numeric).fit(mixed())


@pytest.mark.parametrize(
    "X, message",
    [
        (["a", "b"], r"X must have shape \(n_samples, n_features\)"),
        ([["a", np.inf], ["b", 1.0]], "Input X contains infinity"),
        ([["a", {"b": 1}], ["b", {}]], "X must hold numbers and texts. Column 1"),
        ([["a", None], ["b", None]], "X has no values in the columns 1"),
        ([[None, None], ["b", "c"]], "n_samples=1 should be >= n_clusters=2"),
        (np.array([[2.0**60, 1], [2.0**60 + 256, 2]]), "X has categories above 2\\^53 in column 0"),
    ],
)
def test_refused_tables(X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        LatentClass(2, numeric_features=None).fit(X)


def test_constant_number_in_a_class_without_ridge():
    X = np.column_stack([[0.5] * 20 + np.linspace(1, 9, 20).tolist(), [0] * 20 + [1] * 20])
    with pytest.raises(ValueError, match=r"The variance of column 0 is 0 in class 0.*Increase reg_covar"):
        LatentClass(2, init=np.eye(2)[X[:, 1].astype(int)], numeric_features=[0], reg_covar=0.0).fit(X)


# Warnings and draws ---------------------------------------------------------------------------------------------------


def test_unidentifiable_model_warns():
    with pytest.warns(match="not identifiable: it has 19 free parameters, but the shares of the 16 possible rows have"):
        LatentClass(4, random_state=0).fit(PATTERNS, sample_weight=RESPONDENTS)


def test_draws_have_the_fitted_distribution():
    X = mixed()
    model = LatentClass(3, random_state=0).fit(X)
    drawn, labels = model.sample(20_000)
    assert drawn.dtype == object
    np.testing.assert_allclose(np.bincount(labels) / 20_000, model.weights_, atol=0.02)
    for k in range(3):
        own = drawn[labels == k]
        for at, j in enumerate((1, 3)):
            shares = [(own[:, j] == value).mean() for value in model.categories_[at]]
            np.testing.assert_allclose(shares, model.probabilities_[at][k], atol=0.03)
        for at, j in enumerate((0, 2)):
            scale = np.sqrt(model.numeric_variances_[k, at])
            assert own[:, j].astype(float).mean() == pytest.approx(model.numeric_means_[k, at], abs=0.05 * scale)
            assert own[:, j].astype(float).std() == pytest.approx(scale, rel=0.05)


# Data of the collection -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, K, least", [("vote", 2, 0.5), ("mushroom", 2, 0.55), ("zoo", 7, 0.55)])
def test_known_tables(shared_data, name, K, least):
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv(shared_data / "categorical" / f"{name}.csv")
    model = LatentClass(K, random_state=0).fit(table.iloc[:, :-1])
    assert not model.numeric_features_.any()
    assert adjusted_rand_score(table.iloc[:, -1], model.labels_) > least
    np.testing.assert_array_equal(model.predict_memberships(table.iloc[:, :-1]), model.memberships_)
