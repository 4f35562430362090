"""metric='gower': data frames of numbers and categories, with gaps."""

import pickle
import warnings

import numpy as np
import pandas
import pytest
from helpers.gower import MIXED, OF_DAISY
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import EVCLUS, FuzzyCMedoids, RelationalFCM, SoftHDBSCAN, explain
from soft_clustering.engine.dissimilarities import Dissimilarities, validate_objects
from soft_clustering.testing import check_soft_clusterer

METHODS = [
    RelationalFCM(3, m=1.5, metric="gower", random_state=0),
    RelationalFCM(3, m=1.5, metric="gower", noise_distance="auto", random_state=0),
    FuzzyCMedoids(3, m=1.5, metric="gower", random_state=0),
    EVCLUS(3, metric="gower", random_state=0),
    SoftHDBSCAN(10, metric="gower"),
]
WEIGHTED = [model for model in METHODS if not isinstance(model, EVCLUS)]


def table(n=120, gaps=0.1, seed=0):
    """Three groups in columns of all kinds, and the groups."""
    rng = np.random.RandomState(seed)
    group = rng.randint(3, size=n)
    frame = pandas.DataFrame(
        {
            "age": rng.normal(20 + 15 * group, 4).round(),
            "time": 1e9 + rng.normal(group, 0.3),
            "plan": np.where(rng.uniform(size=n) < 0.8, np.array(["a", "b", "c"])[group], "d"),
            "member": rng.uniform(size=n) < 0.2 + 0.3 * group,
            "city": pandas.Categorical(np.array(["x", "y", "z"])[(group + (rng.uniform(size=n) < 0.1)) % 3]),
        }
    )
    return frame.mask(rng.uniform(size=frame.shape) < gaps), group


def by_definition(frame, others):
    """The dissimilarities of rows to others, by loops; the ranges are those of the others."""
    ranges = {name: others[name].max() - others[name].min() for name in ("age", "time")}
    D = np.ones((len(frame), len(others)))
    for i, row in enumerate(frame.to_dict("records")):
        for j, other in enumerate(others.to_dict("records")):
            parts = [
                min(abs(row[name] - other[name]) / ranges[name], 1) if name in ranges else row[name] != other[name]
                for name in frame
                if not (pandas.isna(row[name]) or pandas.isna(other[name]))
            ]
            if parts:
                D[i, j] = np.mean(parts)
    return D


def test_it_is_that_of_r():
    X, metric = validate_objects(RelationalFCM(), MIXED, "gower", reset=True)
    objects = Dissimilarities(X, metric)
    np.testing.assert_allclose(objects.between(slice(None), slice(None)), OF_DAISY, rtol=0, atol=1e-12)
    assert objects.metric.unit == 1


@pytest.mark.parametrize("gaps", [0.0, 0.15])
@pytest.mark.parametrize("model", METHODS, ids=str)
def test_it_is_the_given_matrix(model, gaps):
    """Fit and prediction; new rows are measured in the ranges of the training rows, and may have other categories."""
    X, group = table(gaps=gaps)
    new, _ = table(20, gaps, seed=1)
    new.loc[:3, "age"], new.loc[2:5, "plan"] = [-50, 60, 1e300, 90], ["a", "other", "other", "b"]
    ours, given = clone(model).fit(X), clone(model).set_params(metric="precomputed")
    D = by_definition(X, X)
    np.fill_diagonal(D, 0)
    given.fit(D)
    np.testing.assert_allclose(ours.memberships_, given.memberships_, atol=1e-7)
    of_new = given.predict_memberships(by_definition(new, X))
    np.testing.assert_allclose(ours.predict_memberships(new), of_new, atol=1e-7)
    if not isinstance(model, SoftHDBSCAN):
        assert adjusted_rand_score(group, ours.memberships_.argmax(axis=1)) > 0.6
    if ours.train_rule == "exact":
        np.testing.assert_array_equal(ours.predict_memberships(X), ours.memberships_)
    assert not hasattr(ours, "centers_") and not hasattr(ours, "X_fit_")
    again = pickle.loads(pickle.dumps(ours)).predict_memberships(new)
    np.testing.assert_array_equal(again, ours.predict_memberships(new))


@pytest.mark.parametrize("model", WEIGHTED, ids=str)
def test_rows_of_weight_zero_and_rows_without_any_value_have_no_influence(model):
    X, _ = table()
    more = pandas.concat([X, X.iloc[:5].assign(age=1000.0), pandas.DataFrame(None, range(3), X.columns)])
    more = more.astype(X.dtypes.to_dict() | {"plan": object, "member": object})
    weight = np.repeat([1.0, 0.0, 1.0], [len(X), 5, 3])
    ours, plain = clone(model).fit(more, sample_weight=weight), clone(model).fit(X)
    np.testing.assert_allclose(ours.memberships_[: len(X)], plain.memberships_, atol=1e-9)
    np.testing.assert_allclose(ours.predict_memberships(X), plain.predict_memberships(X), atol=1e-9)
    np.testing.assert_array_equal(ours.memberships_[len(X) :], ours.predict_memberships(more.iloc[len(X) :]))
    if isinstance(model, FuzzyCMedoids):
        np.testing.assert_allclose(ours.memberships_[-3:], 1 / 3)


@pytest.mark.parametrize("model", [RelationalFCM(2, m=1.5, random_state=0), FuzzyCMedoids(2, random_state=0)], ids=str)
def test_no_difference_overflows(model):
    X = np.array([[-1e308, 0.0], [-1.1e308, 0.0], [1.7e308, 5e-324], [1.5e308, 0.0]])
    model.set_params(metric="gower").fit(X)
    assert model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    assert model.predict_memberships([[np.nan, 0.0], [0.0, np.nan]]).sum() == pytest.approx(2)


@pytest.mark.parametrize("model", METHODS, ids=str)
def test_refused_tables(model):
    X, _ = table()
    model = clone(model)
    with pytest.raises(ValueError, match=r"no values in the columns 0: all are missing"):
        model.fit(X.assign(age=np.nan))
    with pytest.raises(ValueError, match=r"all are missing|should be >= n_clusters"):
        model.fit(X.mask(X.notna()))
    with pytest.raises(ValueError, match=r"columns of categories must be those of a data frame"):
        model.fit(X.to_numpy())
    with pytest.raises(ValueError, match=r"must have numbers in column 'day'"):
        model.fit(X.assign(day=pandas.Timestamp(0)))
    model.fit(X)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.drop(columns="plan"))
    with pytest.raises(ValueError, match=r"values of type str in column 'plan', as in fit\. Got numbers"):
        model.predict(X.assign(plan=3))


@pytest.mark.parametrize("model", METHODS, ids=str)
def test_conformance(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check_soft_clusterer(clone(model))


@pytest.mark.parametrize("cls", [RelationalFCM, FuzzyCMedoids])
@pytest.mark.parametrize("metric", ["gower", "euclidean", "precomputed"])
def test_prediction_takes_the_metric_of_the_fit(cls, metric):
    X, _ = table(gaps=0.0)
    X = {"gower": X, "euclidean": X[["age", "time"]], "precomputed": by_definition(X, X)}[metric]
    model = cls(2, metric=metric, random_state=0).fit(X)
    before = model.predict_memberships(X)
    for other in ("gower", "precomputed", "cityblock"):
        np.testing.assert_array_equal(model.set_params(metric=other).predict_memberships(X), before)


def test_tags_and_explanations():
    X, _ = table()
    tags = METHODS[0].__sklearn_tags__().input_tags
    assert tags.allow_nan and tags.categorical and not tags.pairwise
    plain = RelationalFCM().__sklearn_tags__().input_tags
    assert not plain.allow_nan and not plain.categorical
    assert "plan = " in str(explain(clone(METHODS[0]).fit(X), X))
