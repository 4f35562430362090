"""Fuzzy k-prototypes: fuzzy c-means on indicators, brute force, missing values, categories of new data, noise."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from soft_clustering import FCM, FuzzyKPrototypes
from soft_clustering.fuzzy import mixed_rows
from soft_clustering.fuzzy.fuzzifier import auto_fuzzifier
from soft_clustering.saving import load_model, save_model

pandas = pytest.importorskip("pandas")

WORDS = ["ash", "birch", "cedar", "elm", "fir"]
SETS = ["soybean", "vote", "zoo", "lymph", "audiology", "breast_cancer", "credit_a"]


def planted(n=150, K=3, p=2, q=4, missing=0.0, seed=0):
    """A data frame of p numbers and q columns of words, in K clusters, and the cluster of each row."""
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    means = rng.normal(size=(K, p)) * 4
    frame = pandas.DataFrame({f"x{j}": 10.0**j * (means[y, j] + rng.normal(size=n)) for j in range(p)})
    for t in range(q):
        shares = rng.dirichlet(np.full(len(WORDS), 0.3), K)
        frame[f"c{t}"] = pandas.Series([WORDS[rng.choice(len(WORDS), p=shares[k])] for k in y], dtype=object)
    holes = rng.uniform(size=frame.shape) < missing
    holes[:K] = False
    return frame.mask(pandas.DataFrame(holes, columns=frame.columns)), y


def indicators(frame, model):
    """The rows in the coordinates of the objective, written out by the definition; NaN where a value is missing."""
    parts, scale = [], np.sqrt(model.categorical_weight_ / 2)
    for name, is_categorical in zip(frame.columns, model.is_categorical_, strict=True):
        column = frame[name]
        if not is_categorical:
            x = column.to_numpy(dtype=float)
            x = x if model.scaling is None or np.nanstd(x) == 0 else (x - np.nanmean(x)) / np.nanstd(x)
            parts.append(x[:, None])
    for values, name in zip(model.categories_, frame.columns[model.is_categorical_], strict=True):
        z = scale * (frame[name].to_numpy(dtype=object)[:, None] == values)
        parts.append(np.where(frame[name].isna().to_numpy()[:, None], np.nan, z))
    return np.hstack(parts)


def prototypes(model, frame):
    """The prototypes in the same coordinates."""
    means = model.centers_
    if model.scaling is not None:
        numbers = frame.loc[:, ~model.is_categorical_].to_numpy(dtype=float)
        means = (means - np.nanmean(numbers, axis=0)) / np.nanstd(numbers, axis=0)
    return np.hstack([means, *(np.sqrt(model.categorical_weight_ / 2) * f for f in model.frequencies_)])


def counted(frame, model):
    """What a column of categories counts beside one of scaled numbers, where values are missing."""
    words = [frame[name] for name in frame.columns[model.is_categorical_]]
    differs = [1 - (word.value_counts(normalize=True) ** 2).sum() for word in words]
    return model.categorical_weight_ / 2 * np.mean(differs)


def by_definition(model, rows, frame, by_mode=False):
    """J and memberships by loops over rows, clusters and columns; the scale of numbers is that of ``frame``."""
    K, g = model.n_clusters_, model.categorical_weight_
    numeric, categorical = rows.columns[~model.is_categorical_], rows.columns[model.is_categorical_]
    D, share_of_column = np.zeros((len(rows), K)), counted(frame, model)
    for i, k in itertools.product(range(len(rows)), range(K)):
        seen, distance = 0.0, 0.0
        for j, name in enumerate(numeric):
            x = rows[name].iloc[i]
            if not pandas.isna(x):
                seen += 1
                distance += ((x - model.centers_[k, j]) / np.nanstd(frame[name].to_numpy(dtype=float))) ** 2
        for t, name in enumerate(categorical):
            value = rows[name].iloc[i]
            if not pandas.isna(value):
                seen += share_of_column
                share = dict(zip(model.categories_[t], model.frequencies_[t][k], strict=True))
                if by_mode:
                    share = {c: float(c == model.modes_[k, t]) for c in share}
                z = {value: 1.0}
                distance += g / 2 * sum((z.get(c, 0) - share.get(c, 0)) ** 2 for c in {*share, value})
        D[i, k] = distance * (len(numeric) + share_of_column * len(categorical)) / seen
    U = softmax(-np.log(np.maximum(D, 1e-300)) / (model.m_ - 1), axis=1)
    return float((U**model.m_ * D).sum()), U


def quiet(model, X, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **keywords)


def read(shared_data, name):
    """A table of the shared data, and its classes."""
    frame = pandas.read_csv(shared_data / "categorical" / f"{name}.csv")
    classes = frame.pop(frame.columns[-1])
    return frame.drop(columns="animal", errors="ignore"), classes


# What it is -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1.1, 1.3, 1.5])
def test_categories_alone_are_fcm_on_indicators(m):
    frame, _ = planted(p=0)
    model = FuzzyKPrototypes(3, m=m, init=frame.iloc[[0, 1, 2]], tol=1e-10, max_iter=2000).fit(frame)
    assert model.categorical_weight_ == 1 and model.centers_.shape == (3, 0)
    Z = indicators(frame, model)
    other = FCM(3, m=m, init=Z[:3], tol=1e-10, max_iter=2000).fit(Z)
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-12)
    np.testing.assert_allclose(model.memberships_, other.memberships_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(np.hstack(model.frequencies_), other.centers_ * np.sqrt(2), rtol=0, atol=1e-8)


@pytest.mark.parametrize("scaling", ["standard", None])
def test_numbers_and_categories_are_fcm_on_both(scaling):
    frame, _ = planted()
    frame["x1"] /= 7
    settings = {"m": 1.4, "scaling": scaling, "tol": 1e-10, "accelerate": False}
    model = FuzzyKPrototypes(3, init=frame.iloc[[0, 1, 2]], **settings).fit(frame)
    Z = indicators(frame, model)
    other = FCM(3, m=1.4, init=Z[:3], tol=1e-10, accelerate=False).fit(Z)
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-10)
    np.testing.assert_allclose(model.memberships_, other.memberships_, rtol=0, atol=1e-8)


def test_numbers_alone_are_fcm_on_scaled_numbers():
    X = np.random.default_rng(0).normal(size=(100, 3)) * [1, 10, 100]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model, other = FuzzyKPrototypes(3, init=X[:3], tol=1e-10).fit(X), FCM(3, init=Z[:3], tol=1e-10).fit(Z)
    np.testing.assert_allclose(model.memberships_, other.memberships_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.centers_, other.centers_ * X.std(axis=0) + X.mean(axis=0), rtol=0, atol=1e-6)
    assert model.frequencies_ == model.categories_ == [] and model.modes_.shape == (3, 0)


def test_missing_values_are_fcm_with_weights():
    """The factor of a row is a weight where all its memberships are computed from its own distances."""
    frame, _ = planted(missing=0.2)
    model = FuzzyKPrototypes(3, m=1.4, init=frame.iloc[[0, 1, 2]], tol=1e-11, max_iter=3000).fit(frame)
    Z = indicators(frame, model)
    factor = 6 / (~frame.isna().to_numpy()).sum(axis=1)
    other = FCM(3, m=1.4, init=Z[:3], tol=1e-11, max_iter=3000).fit(Z, sample_weight=factor)
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-10)
    np.testing.assert_allclose(model.memberships_, other.memberships_, rtol=0, atol=1e-7)


@pytest.mark.parametrize("centroid", ["frequency", "mode"])
@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("weight", ["auto", 0.7])
def test_objective_and_memberships_by_definition(centroid, missing, weight):
    frame, _ = planted(60, missing=missing)
    settings = {"m": 1.6, "categorical_weight": weight, "centroid": centroid}
    model = FuzzyKPrototypes(3, **settings, random_state=0).fit(frame)
    objective, U = by_definition(model, frame, frame, centroid == "mode")
    assert model.objective_ == pytest.approx(objective, rel=1e-9)
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-9)
    assert model.score(frame) == -model.objective_


def test_shares_and_means_are_those_of_the_members():
    frame, _ = planted(missing=0.2)
    model = FuzzyKPrototypes(3, m=1.5, tol=1e-10, random_state=0).fit(frame)
    there = ~frame.isna().to_numpy()
    W = model.memberships_**1.5 / there.sum(axis=1, keepdims=True)
    for j in range(2):
        x = frame[f"x{j}"].to_numpy()
        means = np.nansum(W * x[:, None], axis=0) / (W * there[:, [j]]).sum(axis=0)
        np.testing.assert_allclose(model.centers_[:, j], means, rtol=1e-7)
    for t, (values, found) in enumerate(zip(model.categories_, model.frequencies_, strict=True)):
        z = frame[f"c{t}"].to_numpy()[:, None] == values
        np.testing.assert_allclose(found, (W.T @ z) / (W.T @ there[:, [2 + t]]), rtol=0, atol=1e-7)
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
        assert [*model.modes_[:, t]] == [*values[found.argmax(axis=1)]]


def hard_k_modes(codes, modes):
    """Huang's k-modes from given modes: nearest mode, then the most frequent category, the first of several."""
    while True:
        labels = (codes[:, None] != modes).sum(axis=2).argmin(axis=1)
        new = np.array([[np.bincount(c[labels == k]).argmax() for c in codes.T] for k in range(len(modes))])
        if (new == modes).all():
            return labels, modes
        modes = new


@pytest.mark.parametrize("seed", range(3))
def test_modes_near_one_are_k_modes(seed):
    """Of rows whose nearest mode is one, m near 1 gives memberships of 0 and 1: the steps of k-modes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=120)
    codes = np.where(rng.uniform(size=(120, 9)) < 0.3, rng.integers(4, size=(120, 9)), y[:, None])
    start = np.repeat([[0], [1], [2]], 9, axis=1)
    labels, modes = hard_k_modes(codes, start)
    distances = np.sort((codes[:, None] != modes).sum(axis=2), axis=1)
    settings = {"centroid": "mode", "m": 1.01, "categorical_features": np.arange(9), "accelerate": False}
    model = FuzzyKPrototypes(3, init=start, **settings).fit(codes)
    clear = distances[:, 0] < distances[:, 1]
    np.testing.assert_array_equal(model.modes_.astype(int), modes)
    np.testing.assert_array_equal(model.labels_[clear], labels[clear])
    assert model.memberships_[clear].max(axis=1).min() > 1 - 1e-6


@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize("centroid", ["frequency", "mode"])
@pytest.mark.parametrize("name", SETS)
def test_objective_never_rises(name, centroid, accelerate, shared_data):
    frame, classes = read(shared_data, name)
    for m in ("auto", 1.5):
        model = FuzzyKPrototypes(
            classes.nunique(), m=m, centroid=centroid, accelerate=accelerate, n_init=2, random_state=0
        )
        history = quiet(model, frame).objective_history_
        assert np.diff(history).max(initial=0) <= 1e-12 * history[0]


def test_shares_find_the_classes_better_than_modes(shared_data):
    """What the guide says; means over five tables, within the noise of a hundredth of those measured."""
    found = {"frequency": [], "mode": []}
    for centroid, scores in found.items():
        for name in ("soybean", "vote", "lymph", "audiology"):
            frame, classes = read(shared_data, name)
            model = FuzzyKPrototypes(
                classes.nunique(), centroid=centroid, categorical_features=[*frame.columns], random_state=0
            )
            scores.append(adjusted_rand_score(classes, quiet(model, frame).labels_))
    assert np.mean(found["frequency"]) > np.mean(found["mode"]) + 0.03


@pytest.mark.parametrize("name", SETS)
def test_default_fit_does_not_collapse(name, shared_data):
    """A column of L categories counts as L - 1 features in the rule of m; as one, breast_cancer collapses."""
    frame, classes = read(shared_data, name)
    model = FuzzyKPrototypes(classes.nunique(), categorical_features=[*frame.columns], random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="X has 1 rows without any value")
        model.fit(frame)
    assert model.m_ == auto_fuzzifier(
        frame.notna().any(axis=1).sum(), sum(len(values) - 1 for values in model.categories_)
    )


# Parameters -----------------------------------------------------------------------------------------------------------


def test_automatic_weight():
    frame, _ = planted()
    differs = [1 - (frame[f"c{t}"].value_counts(normalize=True) ** 2).sum() for t in range(4)]
    assert FuzzyKPrototypes(3, random_state=0).fit(frame).categorical_weight_ == pytest.approx(2 / np.mean(differs))
    variance = np.mean([frame[f"x{j}"].to_numpy().var() for j in range(2)])
    model = FuzzyKPrototypes(3, scaling=None, random_state=0).fit(frame)
    assert model.categorical_weight_ == pytest.approx(2 * variance / np.mean(differs))
    assert FuzzyKPrototypes(3, categorical_weight=2.5, random_state=0).fit(frame).categorical_weight_ == 2.5


@pytest.mark.parametrize("scaling", ["standard", None])
def test_units_of_numbers_do_not_matter(scaling):
    frame, _ = planted(missing=0.1)
    other = frame.copy()
    other[["x0", "x1"]] = 3e5 * frame[["x0", "x1"]] - 1e4
    starts = (data.iloc[:3] for data in (frame, other))
    a, b = (
        FuzzyKPrototypes(3, scaling=scaling, init=start).fit(data)
        for start, data in zip(starts, (frame, other), strict=True)
    )
    np.testing.assert_allclose(a.memberships_, b.memberships_, rtol=0, atol=1e-6)
    if scaling is None:
        assert b.objective_ == pytest.approx(a.objective_ * 9e10, rel=1e-6)
        assert b.categorical_weight_ == pytest.approx(a.categorical_weight_ * 9e10, rel=1e-9)


def test_large_weight_leaves_the_categories_alone():
    frame, _ = planted()
    heavy = FuzzyKPrototypes(3, m=1.5, categorical_weight=1e9, random_state=0).fit(frame)
    alone = FuzzyKPrototypes(3, m=1.5, random_state=0).fit(frame[[f"c{t}" for t in range(4)]])
    assert heavy.objective_ == pytest.approx(1e9 * alone.objective_, rel=1e-6)


def test_columns_without_variation_do_not_matter():
    frame, _ = planted(missing=0.0)
    more = frame.assign(same=0.1, word="oak")
    a, b = (FuzzyKPrototypes(3, m=1.4, random_state=0).fit(data) for data in (frame, more))
    assert a.categorical_weight_ == pytest.approx(b.categorical_weight_, rel=1e-12)
    start = frame.iloc[[3, 4, 5]]
    a = FuzzyKPrototypes(3, m=1.4, init=start).fit(frame)
    b = FuzzyKPrototypes(3, m=1.4, init=start.assign(same=0.1, word="oak")).fit(more)
    np.testing.assert_allclose(a.memberships_, b.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(b.frequencies_[-1], 1, rtol=1e-12)


def test_order_of_rows_and_names_of_categories_do_not_matter():
    frame, _ = planted(missing=0.1)
    model = FuzzyKPrototypes(3, random_state=0).fit(frame)
    order = np.random.default_rng(1).permutation(len(frame))
    shuffled = FuzzyKPrototypes(3, random_state=0).fit(frame.iloc[order])
    np.testing.assert_allclose(shuffled.memberships_, model.memberships_[order], rtol=0, atol=1e-6)
    renamed = frame.replace(dict(zip(WORDS, "abcde", strict=True)))  # the order stays
    other = FuzzyKPrototypes(3, random_state=0).fit(renamed)
    np.testing.assert_array_equal(other.memberships_, model.memberships_)


def test_weights_are_repetitions():
    frame, _ = planted(missing=0.1)
    weight = np.random.default_rng(2).integers(0, 4, len(frame))
    repeated = frame.iloc[np.repeat(np.arange(len(frame)), weight)]
    for centroid in ("frequency", "mode"):
        settings = {"m": 1.5, "centroid": centroid, "random_state": 0, "noise_distance": "auto"}
        a = quiet(FuzzyKPrototypes(3, **settings), frame, sample_weight=weight)
        b = quiet(FuzzyKPrototypes(3, **settings), repeated)
        np.testing.assert_allclose(a.predict_memberships(frame), b.predict_memberships(frame), rtol=0, atol=1e-6)
        assert a.noise_distance_ == pytest.approx(b.noise_distance_, rel=1e-6)


def test_rows_in_parts(monkeypatch):
    frame, _ = planted(missing=0.1)
    whole = FuzzyKPrototypes(3, random_state=0, noise_distance="auto").fit(frame)
    monkeypatch.setattr(mixed_rows, "_PART", 40)
    parts = FuzzyKPrototypes(3, random_state=0, noise_distance="auto").fit(frame)
    np.testing.assert_allclose(parts.memberships_, whole.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(parts.noise_mass_, whole.noise_mass_, rtol=0, atol=1e-9)
    out = np.empty((len(frame), 3))
    np.testing.assert_allclose(parts.predict_memberships(frame, out=out), whole.memberships_, rtol=0, atol=1e-9)


def test_as_many_categories_as_rows():
    frame = pandas.DataFrame({"word": [f"w{i}" for i in range(60)], "group": ["a", "b", "c"] * 20})
    model = FuzzyKPrototypes(3, m=1.2, random_state=0).fit(frame)
    assert adjusted_rand_score(np.arange(60) % 3, model.labels_) == 1


# Columns and their values ---------------------------------------------------------------------------------------------


def test_kinds_of_columns():
    frame, _ = planted()
    frame["flag"] = frame["x0"] > 0
    frame["level"] = np.arange(len(frame)) % 3
    expected = FuzzyKPrototypes(3, random_state=0).fit(frame)
    assert expected.is_categorical_.tolist() == [False, False, True, True, True, True, True, False]
    assert expected.categories_[4].tolist() == [False, True]
    words = [f"c{t}" for t in range(4)]
    for dtype in ("category", "string", "str"):
        other = FuzzyKPrototypes(3, random_state=0).fit(frame.astype(dict.fromkeys(words, dtype)))
        np.testing.assert_array_equal(other.memberships_, expected.memberships_)
    nullable = frame.convert_dtypes()
    np.testing.assert_array_equal(FuzzyKPrototypes(3, random_state=0).fit(nullable).memberships_, expected.memberships_)
    mask = expected.is_categorical_
    for chosen in (mask, np.flatnonzero(mask), frame.columns[mask].tolist()):
        model = FuzzyKPrototypes(3, categorical_features=chosen, random_state=0).fit(frame)
        np.testing.assert_array_equal(model.memberships_, expected.memberships_)
    as_array = FuzzyKPrototypes(3, categorical_features=mask, random_state=0).fit(frame.to_numpy(dtype=object))
    np.testing.assert_array_equal(as_array.memberships_, expected.memberships_)
    named = FuzzyKPrototypes(3, categorical_features=[*words, "flag", "level"], random_state=0).fit(frame)
    assert named.categories_[5].tolist() == [0, 1, 2]


def test_codes_in_an_array():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (80, 5))
    settings = {"m": 1.2, "random_state": 0}
    model = FuzzyKPrototypes(2, categorical_features=np.ones(5, dtype=bool), **settings).fit(codes)
    words = pandas.DataFrame(np.array(["a", "b", "c"])[codes])
    np.testing.assert_array_equal(FuzzyKPrototypes(2, **settings).fit(words).memberships_, model.memberships_)
    swapped = FuzzyKPrototypes(2, m=model.m_, init=codes[:2], categorical_features=range(5)).fit(codes)
    other = FuzzyKPrototypes(2, m=model.m_, init=2 - codes[:2], categorical_features=range(5)).fit(2 - codes)
    np.testing.assert_allclose(other.memberships_, swapped.memberships_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("gap", [None, np.nan, pandas.NA, pandas.NaT])
def test_ways_to_be_missing(gap):
    frame, _ = planted(60)
    expected = frame.copy()
    expected.loc[10:20, ["c1", "x1"]] = np.nan
    rows = frame.to_numpy(dtype=object)
    rows[10:21, [3, 1]] = gap
    model = FuzzyKPrototypes(3, random_state=0).fit(expected)
    mask = model.is_categorical_
    other = FuzzyKPrototypes(3, categorical_features=mask, random_state=0).fit(rows)
    np.testing.assert_array_equal(other.memberships_, model.memberships_)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda df: df[["x1", "x0", "c0", "c1", "c2", "c3"]], "must be in the same order"),
        (lambda df: df.drop(columns="c1"), "Feature names seen at fit time, yet now missing"),
        (lambda df: df.rename(columns={"c1": "d1"}), "Feature names unseen at fit time"),
        (lambda df: df.to_numpy(dtype=object)[:, :-1], "X has 5 features, but FuzzyKPrototypes is expecting 6"),
        (lambda df: df.assign(c2=np.arange(len(df))), "X must have values of type str in column 'c2', as in fit. Got"),
        (lambda df: df.assign(x1="many"), "X must have numbers.* in column 'x1'"),
        (lambda df: df.assign(x1=np.inf), "X contains infinity"),
        (lambda df: df.assign(x1=pandas.Timestamp("2020-01-01")), "X must have numbers.* in column 'x1'.*datetime"),
    ],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_refused_new_data(change, message):
    frame, _ = planted(60)
    model = FuzzyKPrototypes(3, m=1.5, random_state=0).fit(frame)
    for method in (model.predict_memberships, model.score):
        with pytest.raises(ValueError, match=message):
            method(change(frame))


@pytest.mark.parametrize(
    "parameters, change, message",
    [
        ({}, lambda df: df.to_numpy(dtype=object), "X must hold numbers: name its columns of categories in categor"),
        ({"categorical_features": None}, lambda df: df, "X must hold numbers: name its columns of categories"),
        ({"categorical_features": ["c0"]}, lambda df: df, "X must have numbers.* in column 'c1'"),
        ({"categorical_features": ["c9"]}, lambda df: df, "categorical_features must name columns of X. Got c9"),
        ({"categorical_features": [6]}, lambda df: df, "categorical_features must be column indices from 0 to 5"),
        ({"categorical_features": [True]}, lambda df: df, "categorical_features must be column indices"),
        ({}, lambda df: df.assign(c0=np.nan).astype({"c0": object}), "no values in the columns 2: all are NaN"),
        (
            {},
            lambda df: df.assign(c0=[[1]] * len(df)),
            "X must have values that can be hashed and compared in column 'c0'",
        ),
        ({}, lambda df: df.assign(x0=-np.inf), "X contains infinity"),
        ({}, lambda df: df.assign(x0=pandas.Timestamp("2020-01-01")), "in column 'x0', .*: it has the type datetime64"),
        ({"init": [["a"] * 6] * 3}, lambda df: df, "init must have numbers.* in column 'x0'"),
        ({"init": [[0, 0, "a", "a", "a", "a"]] * 3}, lambda df: df, "init must have complete rows, with categories"),
        ({"init": [[0, None, *["elm"] * 4]] * 3}, lambda df: df, "init must have complete rows"),
        ({"init": [[0, 0]] * 3}, lambda df: df, r"init must have shape \(3, 6\). Got shape \(3, 2\)"),
        ({"categorical_weight": 0.0}, lambda df: df, "categorical_weight"),
        ({"centroid": "mean"}, lambda df: df, "centroid"),
        ({"scaling": "minmax"}, lambda df: df, "scaling"),
    ],
)
def test_refused_in_fit(parameters, change, message):
    frame, _ = planted(60)
    with pytest.raises((ValueError, TypeError), match=message):
        FuzzyKPrototypes(3, **parameters).fit(change(frame))


def test_text_at_prediction_of_a_model_of_numbers():
    frame, _ = planted(60)
    model = FuzzyKPrototypes(3, random_state=0).fit(frame[["x0", "x1"]])
    with pytest.raises(ValueError, match=r"X must hold numbers: all of them were in fit. .*could not convert"):
        model.predict(frame[["x0", "x1"]].assign(x1="many"))


def test_unknown_category_is_one_that_no_cluster_has():
    frame, _ = planted(60)
    model = FuzzyKPrototypes(3, m=1.6, random_state=0).fit(frame)
    new = frame.iloc[:8].copy()
    new.loc[:3, "c1"] = "oak"
    new.loc[2:5, "c3"] = "yew"
    new.loc[5:, "c0"] = None
    _, expected = by_definition(model, new, frame)
    np.testing.assert_allclose(model.predict_memberships(new), expected, rtol=0, atol=1e-9)
    missing = new.replace({"oak": None, "yew": None})
    assert np.abs(model.predict_memberships(missing) - expected).max() > 1e-3


def test_new_data_in_other_types():
    frame, _ = planted(60)
    frame["flag"] = frame["x0"] > 0
    model = FuzzyKPrototypes(3, m=1.5, random_state=0).fit(frame)
    others = [
        frame.astype({"c0": "category", "c1": "string"}),
        frame.assign(flag=frame["flag"].astype(int)),
        frame.assign(flag=frame["flag"].astype(object)),
        frame.astype({"x0": np.float32}).assign(x0=frame["x0"].astype(object)),
    ]
    for other in others:
        np.testing.assert_array_equal(model.predict_memberships(other), model.memberships_)
    one = model.predict_memberships(frame.iloc[[7]])
    np.testing.assert_allclose(one, model.memberships_[[7]], rtol=0, atol=1e-12)


# Missing values -------------------------------------------------------------------------------------------------------


def test_row_without_any_value():
    frame, _ = planted(60)
    empty = frame.copy()
    empty.loc[[10, 20]] = np.nan
    with pytest.warns(ConvergenceWarning, match="X has 2 rows without any value"):
        model = FuzzyKPrototypes(3, random_state=0).fit(empty)
    np.testing.assert_array_equal(model.memberships_[[10, 20]], 1 / 3)
    other = FuzzyKPrototypes(3, random_state=0).fit(frame.drop(index=[10, 20]))
    np.testing.assert_allclose(model.memberships_[:10], other.memberships_[:10], rtol=0, atol=1e-6)


def test_cluster_without_a_column_gets_the_shares_of_all_rows():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    frame = pandas.DataFrame(
        {"x": 1000.0 * y + rng.normal(size=80), "word": np.array(["elm", "fir", "fir"])[np.arange(80) % 3]}
    )
    frame.loc[y == 1, "word"] = None
    model = FuzzyKPrototypes(2, m=1.001, random_state=0).fit(frame)
    far = int(model.centers_[:, 0].argmax())
    shares = frame["word"].value_counts(normalize=True)[["elm", "fir"]]
    np.testing.assert_allclose(model.frequencies_[0][far], shares, rtol=1e-12)
    np.testing.assert_array_equal(model.labels_ == far, y == 1)


# Noise ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_far_noise_is_no_noise(missing):
    frame, _ = planted(missing=missing)
    without = FuzzyKPrototypes(3, m=1.5, random_state=0).fit(frame)
    model = FuzzyKPrototypes(3, m=1.5, noise_distance=1e7, random_state=0).fit(frame)
    np.testing.assert_allclose(model.memberships_, without.memberships_, rtol=0, atol=1e-9)
    assert model.membership_kind == "subpartition" and model.noise_mass_.max() < 1e-9


@pytest.mark.parametrize("centroid", ["frequency", "mode"])
def test_strange_rows_are_noise(centroid):
    frame, _ = planted(p=0, q=12, missing=0.1)
    strange = pandas.DataFrame({f"c{t}": [f"odd {t} {i}" for i in range(6)] for t in range(12)})
    both = pandas.concat([frame, strange], ignore_index=True)
    model = FuzzyKPrototypes(3, centroid=centroid, noise_distance="auto", noise_scale=4, m=1.3, random_state=0)
    model.fit(both)
    assert model.noise_mass_[-6:].min() > 3 * model.noise_mass_[:-6].mean()
    np.testing.assert_allclose(model.memberships_.sum(axis=1) + model.noise_mass_, 1, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.predict(both), model.labels_)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_noise_by_definition(missing):
    """The noise is a further column of distances; the factor of an incomplete row does not concern it."""
    frame, _ = planted(60, missing=missing)
    model = FuzzyKPrototypes(3, m=1.5, noise_distance=1.2, random_state=0)
    quiet(model, frame)
    nobody = quiet(FuzzyKPrototypes(3, m=1.5, random_state=0), frame)
    nobody.centers_, nobody.frequencies_ = model.centers_, model.frequencies_
    _, U = by_definition(nobody, frame, frame)
    ratio = model.memberships_ / model.memberships_.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ratio, U, rtol=0, atol=1e-9)
    history = model.objective_history_
    assert np.diff(history).max() <= 1e-12 * history[0]


# Around it ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".skops", ".joblib"])
def test_saved_and_in_a_pipeline(tmp_path, suffix):
    if suffix == ".skops":
        pytest.importorskip("skops")
    frame, _ = planted(60, missing=0.1)
    frame["flag"] = pandas.Series([True, False, None] * 20, dtype="boolean")
    model = make_pipeline(FuzzyKPrototypes(3, m=1.5, noise_distance="auto", random_state=0)).fit(frame)
    save_model(tmp_path / f"model{suffix}", model)
    again = load_model(tmp_path / f"model{suffix}", trust=suffix == ".joblib")
    np.testing.assert_array_equal(again.transform(frame), model[-1].memberships_)


def test_planted_clusters_are_found():
    frame, y = planted(300, q=8, missing=0.1)
    model = FuzzyKPrototypes(3, random_state=0).fit(frame)
    agreement = np.array([[np.mean((model.labels_ == k) & (y == c)) for c in range(3)] for k in range(3)])
    rows, columns = linear_sum_assignment(-agreement)
    assert agreement[rows, columns].sum() > 0.95


def test_collapse_is_told():
    frame, _ = planted(q=12)
    with pytest.warns(ConvergenceWarning, match="m=2.5 may be too large for 14 columns"):
        FuzzyKPrototypes(3, m=2.5, random_state=0).fit(frame)
