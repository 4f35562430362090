"""Every registered estimator follows the protocol, works inside scikit-learn, and every check can fail."""

from __future__ import annotations

import ast
import inspect
import os
import random
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from sklearn.base import ClusterMixin, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

import soft_clustering
from soft_clustering._registry import REGISTRY
from soft_clustering.base import BaseSoftClusterer, InductiveSoftClusterer
from soft_clustering.engine.loop import Policy
from soft_clustering.testing import (
    ALL_CHECKS,
    SAMPLES,
    SETTING_CHECKS,
    check_soft_clusterer,
    make_sample,
    quick,
    shared_fits,
)
from soft_clustering.testing.harness import captured_output, fit_takes

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = {"deep": "torch"}  # the module that an extra of the registry brings
OPTIONS = {"metis": "pymetis"}  # the module that the value of a parameter needs

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module", autouse=True)
def one_fit_for_many_checks():
    with shared_fits():
        yield


def build(row):
    if row.extra is not None:
        pytest.importorskip(EXTRAS[row.extra], reason=f"{row.name} needs the extra {row.extra!r}")
    return quick(getattr(soft_clustering, row.name)())


def by_name(rows):
    return [pytest.param(row, id=row.name) for row in rows]


each = pytest.mark.parametrize("row", by_name(REGISTRY))
each_feature = pytest.mark.parametrize(
    "row", by_name(row for row in REGISTRY if getattr(soft_clustering, row.name).modality == "features")
)


# Conformance --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", ALL_CHECKS, ids=lambda check: check.__name__)
@each
def test_conformance(row, check):
    check(build(row))


@pytest.mark.parametrize("n_clusters", [1, 2, 5])
@each
def test_conformance_at_other_numbers_of_clusters(row, n_clusters):
    estimator = build(row)
    if "n_clusters" not in estimator.get_params():
        pytest.skip("no parameter n_clusters")
    estimator.set_params(n_clusters=n_clusters)
    for check in SETTING_CHECKS:
        check(estimator)


def options():
    """Every value of every parameter that names its choices, but for the default."""
    for row in REGISTRY:
        cls = getattr(soft_clustering, row.name)
        for name, constraints in getattr(cls, "_parameter_constraints", {}).items():
            values = [True, False] if "boolean" in constraints else []
            for constraint in constraints:
                values += sorted(constraint.options) if isinstance(constraint, StrOptions) else []
            for value in values:
                # A precomputed matrix is another kind of data, and so are colours (tests/fuzzy/test_fcc.py).
                if value not in (cls().get_params()[name], "precomputed", "lab", "rgb"):
                    # A start that finds the number takes none.
                    finds = {"n_clusters": None} if (name, value) == ("init", "propagation") else {}
                    yield pytest.param(row, {name: value} | finds, id=f"{row.name}-{name}={value}")


@pytest.mark.parametrize("row, setting", list(options()))
def test_conformance_of_every_option(row, setting):
    estimator = build(row).set_params(**setting)
    for value in setting.values():
        if value in OPTIONS:
            pytest.importorskip(OPTIONS[value], reason=f"{setting} needs {OPTIONS[value]}")
    for check in SETTING_CHECKS:
        # A start with a draw per row cannot know that two rows are copies.
        if check.__name__ != "check_weight_integer":
            check(estimator)


# Inside scikit-learn ------------------------------------------------------------------------------------------------


def partition_coefficient(estimator, X, y=None):
    return float(np.square(estimator.predict_memberships(X)).sum(axis=1).mean())


def seeded(row):
    estimator = build(row)
    return estimator.set_params(random_state=0) if "random_state" in estimator.get_params() else estimator


def inductive(row):
    estimator = seeded(row)
    if not hasattr(estimator, "predict_memberships"):
        pytest.skip("no rule for new data")
    return estimator


@quiet
@each_feature
def test_pipeline(row):
    estimator, sample = inductive(row), make_sample(build(row))
    pipeline = Pipeline([("scale", StandardScaler()), ("cluster", clone(estimator))]).fit(sample.X)
    Z = StandardScaler().fit(sample.X)
    expected = clone(estimator).fit(Z.transform(sample.X))
    np.testing.assert_array_equal(pipeline["cluster"].memberships_, expected.memberships_)
    np.testing.assert_array_equal(pipeline.predict(sample.new), expected.predict(Z.transform(sample.new)))
    np.testing.assert_array_equal(pipeline.transform(sample.new), expected.transform(Z.transform(sample.new)))
    np.testing.assert_array_equal(pipeline.fit_predict(sample.X), expected.labels_)


@quiet
@each_feature
def test_pipeline_passes_weights_on(row):
    estimator, sample = inductive(row), make_sample(build(row))
    if not fit_takes(estimator, "sample_weight"):
        pytest.skip("no sample_weight")
    weight = np.geomspace(0.01, 10, len(sample.X))  # strong enough to move medoids
    pipeline = Pipeline([("cluster", clone(estimator))]).fit(sample.X, cluster__sample_weight=weight)
    expected = clone(estimator).fit(sample.X, sample_weight=weight).memberships_
    np.testing.assert_array_equal(pipeline["cluster"].memberships_, expected)
    assert not np.array_equal(expected, clone(estimator).fit(sample.X).memberships_)


@quiet
@each_feature
def test_memberships_are_features(row):
    sample = make_sample(build(row))
    # Rows that do not sum to 1 (typicalities may all be small) are made comparable; the others stay as they are.
    # Centred they lie around the origin, so that their directions differ, too.
    parts = StandardScaler(with_std=False), inductive(row), Normalizer("l1"), LogisticRegression()
    model = make_pipeline(*parts).fit(sample.X, sample.labels)
    # The clusters are Gaussian: a model of another shape need not find every border, but most samples.
    assert model.score(sample.X, sample.labels) > 0.85


@quiet
@each_feature
def test_grid_search(row):
    estimator, sample = inductive(row), make_sample(build(row))
    if "n_clusters" not in estimator.get_params():
        pytest.skip("no parameter n_clusters")
    search = GridSearchCV(
        estimator, {"n_clusters": [2, 3, 4]}, scoring=partition_coefficient, cv=3, error_score="raise"
    )
    search.fit(sample.X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(set(search.cv_results_["mean_test_score"])) == 3
    best = search.best_estimator_
    assert best.n_clusters_ == search.best_params_["n_clusters"]
    assert search.predict(sample.new).shape == (sample.n_new,)
    assert search.score(sample.X) == pytest.approx(partition_coefficient(best, sample.X))


@quiet
@each_feature
def test_cross_val_score_uses_score(row):
    estimator, sample = inductive(row), make_sample(build(row))
    if not hasattr(estimator, "score"):
        pytest.skip("no score")
    scores = cross_val_score(estimator, sample.X, cv=3, error_score="raise")
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()


@quiet
@each_feature
def test_set_output_in_a_pipeline(row):
    sample = make_sample(build(row))
    pipeline = make_pipeline(StandardScaler(), inductive(row)).set_output(transform="pandas").fit(sample.frame)
    frame = pipeline.transform(sample.frame)
    assert list(frame.columns) == list(pipeline.get_feature_names_out())
    assert list(frame.index) == list(sample.frame.index)
    assert all(name.startswith(row.name.lower()) for name in frame.columns)


@quiet
@each_feature
@pytest.mark.parametrize("name", ["glass", "ecoli"])
def test_real_data(row, name, shared_data):
    X = np.load(shared_data / "tabular" / f"{name}.npz")["X"]
    estimator = seeded(row)
    model = estimator.fit(StandardScaler().fit_transform(X))
    assert model.memberships_.shape == (len(X), model.n_clusters_)
    assert np.isfinite(model.memberships_).all()
    if model.partition_constrained:
        np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-9)


# The package --------------------------------------------------------------------------------------------------------


def python(*arguments):
    path = os.pathsep.join(part for part in (str(ROOT / "src"), os.environ.get("PYTHONPATH")) if part)
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, timeout=120)


def test_import_is_lazy():
    code = "import sys, soft_clustering; print(*sys.modules)"
    result = python("-c", code)
    assert result.returncode == 0, result.stderr
    loaded = set(result.stdout.split())
    assert "soft_clustering" in loaded
    heavy = {"sklearn", "scipy", "torch", "pandas", "joblib"} | {row.module for row in REGISTRY}
    assert not heavy & loaded


def test_importing_the_estimators_loads_no_extra():
    result = python("-c", "import sys; from soft_clustering import *; print(*sys.modules)")
    assert result.returncode == 0, result.stderr
    loaded = set(result.stdout.split())
    assert {row.module for row in REGISTRY} <= loaded
    # scikit-learn itself loads pandas where it is installed.
    assert not {"torch", "networkx", "pymetis", "dask", "matplotlib", "flwr"} & loaded


@each
def test_registry_row(row):
    cls = getattr(soft_clustering, row.name)
    assert cls.__name__ == row.name
    assert cls.__module__ == row.module
    assert row.module.startswith(f"soft_clustering.{row.family}.")
    assert issubclass(cls, BaseSoftClusterer)
    assert row.name in dir(soft_clustering)
    assert row.name in soft_clustering.__all__
    assert row.citation
    assert row.use_when
    namespace = {}
    exec(f"from soft_clustering import {row.name}", namespace)
    assert namespace[row.name] is cls


@each
def test_documented_defaults(row):
    cls = getattr(soft_clustering, row.name)
    documented = {}
    for names, default in re.findall(r"^([\w, ]+) : .*default=(.+)$", inspect.getdoc(cls), re.MULTILINE):
        documented |= dict.fromkeys(names.split(", "), ast.literal_eval(default))
    for name, parameter in inspect.signature(cls).parameters.items():
        assert repr(documented[name]) == repr(parameter.default)


def test_registry_names_are_unique():
    assert len({row.name for row in REGISTRY}) == len(REGISTRY)


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="no attribute 'NoSuchEstimator'"):
        soft_clustering.NoSuchEstimator  # noqa: B018
    with pytest.raises(ImportError, match="NoSuchEstimator"):
        from soft_clustering import NoSuchEstimator  # noqa: F401


def test_stub_is_up_to_date():
    result = python(str(ROOT / "tools" / "make_stub.py"), "--check")
    assert result.returncode == 0, result.stderr


LISTING = """
from sklearn.datasets import load_iris
from soft_clustering import FCM

X, y = load_iris(return_X_y=True)
model = FCM(n_clusters=3, m=2.0, random_state=0).fit(X)
U = model.memberships_        # (150, 3), rows sum to 1
centers = model.centers_      # (3, 4)
labels = model.labels_        # (150,), argmax over U
"""


def test_first_listing_of_the_paper():
    names = {}
    exec(LISTING, names)
    assert names["U"].shape == (150, 3)
    np.testing.assert_allclose(names["U"].sum(axis=1), 1, rtol=1e-12)
    assert names["centers"].shape == (3, 4)
    np.testing.assert_array_equal(names["labels"], names["U"].argmax(axis=1))
    y = load_iris(return_X_y=True)[1]
    agreement = sum(np.bincount(y[names["labels"] == k]).max() for k in range(3)) / 150
    assert agreement > 0.85


# Estimators that are right ------------------------------------------------------------------------------------------


class Right(InductiveSoftClusterer):
    """A small fuzzy c-means (m = 2) that follows the protocol without the library's engine."""

    _policy = Policy(sense="min")

    def __init__(self, n_clusters=3, *, init=None, max_iter=2000, tol=1e-9, random_state=None, verbose=0):
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y=None, *, sample_weight=None):
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        weight = _check_sample_weight(weight, X, dtype=np.float64, ensure_non_negative=True)
        self._weighted_fit(X, weight)
        return self

    def _weighted_fit(self, X, weight):
        V = self._start(X[weight > 0].astype(np.float64))
        history, self.converged_ = [], False
        for self.n_iter_ in range(1, self.max_iter + 1):  # noqa: B020
            U, J = self._step(X, V)
            history.append(weight @ J)
            W = weight[:, None] * U**2
            moved = (W.T @ X) / W.sum(axis=0)[:, None]
            change, V = np.abs(moved - V).max(), moved
            if self.verbose:
                print(f"pass {self.n_iter_}: {history[-1]:.6g}")
            if change <= self.tol:
                self.converged_ = True
                break
        self._finish(X, weight, V, history)
        if not self.converged_:
            warnings.warn("not converged", ConvergenceWarning, stacklevel=2)

    def _finish(self, X, weight, V, history):
        self._V = V
        U, J = self._step(X, V)
        self.objective_history_ = np.array([*history, weight @ J])
        self.objective_ = self.objective_history_[-1]
        self.centers_ = V.astype(X.dtype)
        self._set_memberships(U.astype(X.dtype))

    def _start(self, X):
        """The given centres, or each time the point farthest from those chosen: weights and copies do not matter."""
        if self.init is not None:
            if np.shape(self.init) != (self.n_clusters, X.shape[1]):
                raise ValueError("init has the wrong shape")
            return np.array(self.init, dtype=np.float64)
        V = X[[np.lexsort(X.T)[0]]]
        while len(V) < self.n_clusters:
            D = np.square(X[:, None] - V).sum(axis=2).min(axis=1)
            V = np.vstack([V, X[D.argmax()]])
        return V

    def _step(self, X, V):
        D = np.square(X[:, None].astype(np.float64) - V).sum(axis=2) + 1e-12
        total = (1 / D).sum(axis=1)
        return 1 / D / total[:, None], 1 / total

    def _check(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)

    def predict_memberships(self, X):
        X = self._check(X)
        return self._step(X, self._V)[0].astype(X.dtype)

    def score(self, X, y=None):
        return -self._step(self._check(X), self._V)[1].sum()


class RightPossibilistic(Right):
    """Memberships between 0 and 1 that do not sum to 1; some rows are all zero."""

    membership_kind = "possibilistic"

    def _step(self, X, V):
        D = np.square(X[:, None].astype(np.float64) - V).sum(axis=2)
        U = np.exp(-D / 20)
        U[U < 0.4] = 0
        return U, np.minimum(D, 50).min(axis=1)

    def _weighted_fit(self, X, weight):
        V = self._start(X[weight > 0].astype(np.float64))
        self.n_iter_, self.converged_ = 1, False
        if self.verbose:
            print("one pass")
        self._finish(X, weight, V, [])
        if self.max_iter == 2:
            warnings.warn("not converged", ConvergenceWarning, stacklevel=2)


class RightTransductive(BaseSoftClusterer):
    """No rule for new data, no iterations, no n_clusters."""

    def __init__(self, *, sharpness=1.0):
        self.sharpness = sharpness

    def fit(self, X, y=None):
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        U = 1 / (1 + np.exp(-self.sharpness * (X[:, 0] - X[:, 0].mean(dtype=np.float64)).astype(np.float64)))
        self._set_memberships(np.column_stack([U, 1 - U]).astype(X.dtype))
        return self


@pytest.mark.parametrize("check", ALL_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("cls", [Right, RightPossibilistic, RightTransductive])
def test_right_estimators_pass(cls, check):
    check(cls())


def test_checks_do_not_touch_the_estimator():
    estimator = Right(n_clusters=2)
    before = dict(vars(estimator))
    check_soft_clusterer(estimator)
    assert vars(estimator) == before


# Estimators that are wrong, each in one way -------------------------------------------------------------------------

WRONG = []


def wrong(check, message):
    """Register a class that ``check`` must catch with ``message``."""

    def register(cls):
        WRONG.append(pytest.param(cls, check, message, id=f"{check}-{cls.__name__}"))
        return cls

    return register


class RightUntilFit(Right):
    """Changes what a right fit left behind."""

    def _weighted_fit(self, X, weight):
        super()._weighted_fit(X, weight)
        self.spoil(X)


@wrong("check_class_attributes", "membership_kind is 'fuzzy'")
class UnknownKind(Right):
    membership_kind = "fuzzy"


@wrong("check_class_attributes", "modality is 'sound'")
class UnknownModality(Right):
    modality = "sound"


@wrong("check_class_attributes", "does not derive")
class NotASoftClusterer(ClusterMixin):
    pass


@wrong("check_default_construction", "missing 1 required")
class NeedsArgument(Right):
    def __init__(self, n_clusters):
        self.n_clusters = n_clusters


@wrong("check_init_stores_parameters", "looks at its parameters")
class ValidatesInInit(Right):
    def __init__(self, n_clusters=3):
        self.n_clusters = int(n_clusters)


@wrong("check_init_stores_parameters", "n_clusters is not stored")
class ConvertsInInit(Right):
    def __init__(self, n_clusters=3):
        self.n_clusters = [n_clusters]


@wrong("check_init_stores_parameters", r"also sets \['history'\]")
class ExtraInInit(Right):
    def __init__(self, n_clusters=3):
        self.n_clusters = n_clusters
        self.history = []


@wrong("check_positional_parameters", "tol is not keyword-only")
class PositionalTol(Right):
    def __init__(self, n_clusters=3, tol=1e-9):
        self.n_clusters = n_clusters
        self.tol = tol


@wrong("check_positional_parameters", "n_clusters is a parameter, but not the first")
class ClustersSecond(Right):
    def __init__(self, tol=1e-9, *, n_clusters=3):
        self.n_clusters = n_clusters
        self.tol = tol


@wrong("check_set_params", r"set_params\(tol=...\) is not what get_params returns")
class ForgetfulSetParams(Right):
    def set_params(self, **params):
        return super().set_params(**{k: v for k, v in params.items() if k != "tol"})


@wrong("check_set_params", "does not return the estimator")
class SetParamsReturnsClone(Right):
    def set_params(self, **params):
        return clone(super().set_params(**params))


@wrong("check_clone", "clone changes tol")
class WrongClone(Right):
    def __sklearn_clone__(self):
        return type(self)(tol=2 * self.tol)


@wrong("check_fit_signature", "sample_weight is not keyword-only")
class PositionalWeight(Right):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, y, sample_weight=sample_weight)


@wrong("check_fit_signature", "fit takes")
class NoTarget(Right):
    def fit(self, X):
        return super().fit(X)


@wrong("check_fit_returns_self", "returned a NoneType")
class ReturnsNone(Right):
    def fit(self, X, y=None, *, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)


@wrong("check_shapes", "memberships_ has shape")
class Transposed(RightUntilFit):
    def spoil(self, X):
        self.memberships_ = self.memberships_.T


@wrong("check_shapes", "labels_ is not an integer array")
class FloatLabels(RightUntilFit):
    def spoil(self, X):
        self.labels_ = self.labels_.astype(float)


@wrong("check_shapes", "centers_ has shape")
class TransposedCenters(RightUntilFit):
    def spoil(self, X):
        self.centers_ = self.centers_[:2]


@wrong("check_membership_values", "NaN")
class NaNMemberships(RightUntilFit):
    def spoil(self, X):
        self.memberships_[3, 0] = np.nan


@wrong("check_membership_values", "negative")
class NegativeMemberships(RightUntilFit):
    def spoil(self, X):
        self.memberships_[3] = [-0.5, 1, 0.5]


@wrong("check_membership_values", "above 1")
class LargePossibilistic(RightPossibilistic):
    def _finish(self, X, weight, V, history):
        super()._finish(X, weight, V, history)
        self.memberships_ = 3 * self.memberships_


@wrong("check_row_sums", "row sums")
class HalfMemberships(RightUntilFit):
    def spoil(self, X):
        self.memberships_[7] *= 1 + 1e-7


@wrong("check_labels", "1 labels differ")
class OneWrongLabel(RightUntilFit):
    def spoil(self, X):
        self.labels_[5] = (self.labels_[5] + 1) % 3


@wrong("check_labels", "labels differ")
class ZeroRowLabelled(RightPossibilistic):
    def _finish(self, X, weight, V, history):
        super()._finish(X, weight, V, history)
        self.labels_ = self.memberships_.argmax(axis=1)


@wrong("check_n_clusters", "n_clusters_ is 4, but")
class WrongWidth(RightUntilFit):
    def spoil(self, X):
        self.n_clusters_ = 4


@wrong("check_parameters_kept", "fit changed init")
class OverwritesInit(RightUntilFit):
    def spoil(self, X):
        self.init = "given"


@wrong("check_parameters_kept", "fit changed n_clusters")
class OverwritesClusters(RightUntilFit):
    def spoil(self, X):
        self.n_clusters = np.int64(3)


@wrong("check_not_fitted", "predict before fit raises AttributeError")
class UncheckedPrediction(Right):
    def _check(self, X):
        return np.asarray(X)


@wrong("check_not_fitted", "get_cover before fit raises AttributeError")
class UncheckedCover(Right):
    def get_cover(self, threshold=None, top_k=None):
        return self.memberships_ > 0


@wrong("check_fit_predict", "without y")
class MixinFitPredict(Right):
    fit_predict = ClusterMixin.fit_predict


@wrong("check_fit_predict", "calls fit with")
class LosesWeights(Right):
    def fit_predict(self, X, y=None, **fit_params):
        return self.fit(X, y).labels_


@wrong("check_fit_predict", "does not return labels_")
class OtherLabels(Right):
    def fit_predict(self, X, y=None, **fit_params):
        return self.fit(X, y, **fit_params).labels_ + 1


class Jitter(Right):
    def _start(self, X):
        return super()._start(X) + self.draw((self.n_clusters, X.shape[1]))


@wrong("check_same_seed", "differs")
class Unseeded(Jitter):
    def draw(self, shape):
        return np.random.default_rng().normal(size=shape)


@wrong("check_global_random_state", "numpy")
class SeedsGlobally(Jitter):
    def draw(self, shape):
        np.random.seed(self.random_state)  # noqa: NPY002
        return np.random.normal(size=shape)  # noqa: NPY002


@wrong("check_global_random_state", "random")
class UsesRandom(Jitter):
    def draw(self, shape):
        return 0.1 * random.random()


@wrong("check_refit", "memberships_ differs")
class WarmStart(Right):
    def _start(self, X):
        # The centres of the last fit, in the features that are left
        V = super()._start(X)
        if hasattr(self, "_V"):
            V[:, :2] = self._V[:, :2]
            V = V[::-1]
        return V


@wrong("check_refit", r"different attributes: \['narrow_'\]")
class Leftover(RightUntilFit):
    def spoil(self, X):
        if X.shape[1] == 2:
            self.narrow_ = True


@wrong("check_pickle", "predict_memberships differs")
class LossyPickle(Right):
    def __getstate__(self):
        state = super().__getstate__()
        return state | {"_V": state["_V"].round(3)} if "_V" in state else state


@wrong("check_deepcopy", "only one has memberships_")
class DeepcopyForgets(Right):
    def __deepcopy__(self, memo):
        return clone(self)


@wrong("check_silent", "printed 'hello")
class Prints(RightUntilFit):
    def spoil(self, X):
        print("hello")


@wrong("check_silent", "printed 'from below")
class PrintsFromBelow(RightUntilFit):
    def spoil(self, X):
        os.write(2, b"from below")


@wrong("check_silent", "printed 'predicting")
class PrintsInPrediction(Right):
    def predict_memberships(self, X):
        sys.stderr.write("predicting")
        return super().predict_memberships(X)


@wrong("check_verbose", "printed nothing")
class NeverPrints(Right):
    def _weighted_fit(self, X, weight):
        with captured_output():
            super()._weighted_fit(X, weight)


@wrong("check_verbose", "no parameter verbose")
class NoVerbose(Right):
    def __init__(self, n_clusters=3, *, max_iter=10):
        self.n_clusters = n_clusters
        self.max_iter = max_iter


@wrong("check_cover", "is not memberships_ >= 0.333")
class HalfCover(Right):
    def get_cover(self, threshold=None, top_k=None):
        return super().get_cover(0.5 if threshold is None else threshold, top_k)


@wrong("check_cover", "is not u >= threshold")
class StrictCover(Right):
    def get_cover(self, threshold=None, top_k=None):
        if threshold is None or top_k is not None:
            return super().get_cover(threshold, top_k)
        return self.memberships_ > threshold


@wrong("check_cover", "is not u >= threshold")
class ZeroCover(RightPossibilistic):
    def get_cover(self, threshold=None, top_k=None):
        return super().get_cover(threshold, top_k) if threshold != 0 else np.ones_like(self.memberships_, dtype=bool)


@wrong("check_cover", "does not keep the 1 largest")
class CoverWithoutTop(Right):
    def get_cover(self, threshold=None, top_k=None):
        return super().get_cover(threshold)


@wrong("check_cover", "top_k=0")
class CoverAcceptsAnything(Right):
    def get_cover(self, threshold=None, top_k=None):
        return super().get_cover(threshold, max(1, int(top_k)) if top_k is not None else None)


@wrong("check_cover", "bool array")
class IndexCover(Right):
    def get_cover(self, threshold=None, top_k=None):
        return super().get_cover(threshold, top_k).astype(int)


@wrong("check_objective", "gets worse")
class WrongSense(Right):
    _policy = Policy(sense="max")


@wrong("check_objective", "the history ends in")
class StaleObjective(RightUntilFit):
    def spoil(self, X):
        self.objective_ = self.objective_history_[0]


@wrong("check_objective", "no _policy that says its sense")
class NoSense(Right):
    _policy = None


@wrong("check_n_iter", "n_iter_ is 4, max_iter is 3")
class OneTooMany(RightUntilFit):
    def spoil(self, X):
        self.n_iter_ += 1


@wrong("check_n_iter", "no n_iter_")
class NoCount(RightUntilFit):
    def spoil(self, X):
        del self.n_iter_


@wrong("check_convergence_warning", "did not warn")
class SilentFailure(Right):
    def _weighted_fit(self, X, weight):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            super()._weighted_fit(X, weight)


@wrong("check_convergence_warning", "converged_ is True")
class AlwaysConverged(RightUntilFit):
    def spoil(self, X):
        self.converged_ = True


@wrong("check_method_availability", r"hasattr\(predict_proba\) is True")
class ProbabilitiesThatDoNotSum(RightPossibilistic):
    def predict_proba(self, X):
        return self.predict_memberships(X)


@wrong("check_method_availability", r"hasattr\(predict\) is True")
class PredictsWithoutRule(RightTransductive):
    def predict(self, X):
        return self.labels_


@wrong("check_method_availability", "NotImplementedError")
class NoRule(InductiveSoftClusterer):
    def fit(self, X, y=None):
        self._set_memberships(np.ones((len(X), 1)))
        return self


@wrong("check_prediction_values", "row sums")
class UnnormalisedPrediction(Right):
    def predict_memberships(self, X):
        return 0.9 * super().predict_memberships(X)


@wrong("check_training_data", "largest difference")
class OtherFuzzifier(Right):
    def predict_memberships(self, X):
        U = super().predict_memberships(X) ** 2
        return U / U.sum(axis=1, keepdims=True)


@wrong("check_training_data", "Only 0%")
class TurnedColumns(Right):
    train_rule = "reinferred"

    def predict_memberships(self, X):
        return np.roll(super().predict_memberships(X), 1, axis=1)


@wrong("check_predict", "not the argmax")
class PredictsTrainingLabels(Right):
    def predict(self, X):
        return self.labels_


@wrong("check_predict", "not the argmax")
class NeverOutlier(RightPossibilistic):
    def predict(self, X):
        return self.predict_memberships(X).argmax(axis=1)


@wrong("check_transform", "transform is not predict_memberships")
class Distances(Right):
    def transform(self, X):
        return -np.log(self.predict_memberships(X))


@wrong("check_transform", "fit_transform and fit")
class OtherFitTransform(Right):
    def fit_transform(self, X, y=None):
        return self.fit(X).memberships_[::-1]


@wrong("check_batches", "in batches and at once")
class CentresTheBatch(Right):
    def predict_memberships(self, X):
        X = self._check(X)
        return self._step(X - X.mean(axis=0), self._V)[0]


@wrong("check_prediction_keeps_model", r"changed \['seen_'\]")
class Counts(Right):
    def predict_memberships(self, X):
        self.seen_ = getattr(self, "seen_", 0) + 1
        return super().predict_memberships(X)


@wrong("check_prediction_keeps_model", "second prediction differs")
class Drifts(Right):
    def predict_memberships(self, X):
        U = super().predict_memberships(X)
        self._V = self._V + 0.01
        return U


@wrong("check_fitted_parameters", r"set_params\(tol=.*\) after fit changes \['predict_memberships\(X\)', ")
class ReadsParameters(Right):
    def _as_fitted(self):
        return self

    def predict_memberships(self, X):
        U = super().predict_memberships(X) ** (1 + self.tol)
        return U / U.sum(axis=1, keepdims=True)


@wrong("check_score", "with noise")
class ScoreIsTheObjective(Right):
    def score(self, X, y=None):
        return -super().score(X)


@wrong("check_score", "score and objective_")
class OtherScore(Right):
    def score(self, X, y=None):
        return super().score(X) / len(X)


@wrong("check_score", "returns array")
class ScoreOfRows(Right):
    def score(self, X, y=None):
        return -self._step(self._check(X), self._V)[1]


@wrong("check_input_kept", "X changed")
class CentresInPlace(Right):
    def fit(self, X, y=None, *, sample_weight=None):
        if isinstance(X, np.ndarray) and X.flags.writeable:
            X -= X.mean(axis=0, dtype=X.dtype)
        return super().fit(X, y, sample_weight=sample_weight)


@wrong("check_input_kept", "sample_weight changed")
class NormalisesWeights(Right):
    def fit(self, X, y=None, *, sample_weight=None):
        if sample_weight is not None:
            sample_weight /= sample_weight.sum()
        return super().fit(X, y, sample_weight=sample_weight)


@wrong("check_input_kept", "init changed")
class MovesTheStart(Right):
    def _start(self, X):
        V = super()._start(X)
        if self.init is not None:
            self.init += 1
        return V


@wrong("check_input_kept", "new data changed")
class CentresNewData(Right):
    def predict_memberships(self, X):
        X -= 0.5
        return super().predict_memberships(X)


@wrong("check_refused_input", "fit accepts a wrong X")
class TakesAnything(Right):
    def fit(self, X, y=None, *, sample_weight=None):
        return super().fit(np.nan_to_num(X, posinf=1e6), y, sample_weight=sample_weight)


@wrong("check_refused_input", "predict accepts a wrong X")
class PredictsAnything(Right):
    def _check(self, X):
        return np.nan_to_num(X, posinf=1e6)


@wrong("check_refused_input", "fit does not say that X is wrong: array must not contain infs or NaNs")
class ErrorFromBelow(Right):
    def fit(self, X, y=None, *, sample_weight=None):
        scipy.linalg.svd(X)
        return super().fit(X, y, sample_weight=sample_weight)


@wrong("check_refused_input", "fit accepts a wrong sample_weight")
class TakesAnyWeight(Right):
    def fit(self, X, y=None, *, sample_weight=None):
        return super().fit(X, y, sample_weight=None if sample_weight is None else np.abs(sample_weight))


@wrong("check_float32", "memberships_ is float64 for float32")
class AlwaysDouble(RightUntilFit):
    def spoil(self, X):
        self.memberships_ = self.memberships_.astype(np.float64)


@wrong("check_float32", "memberships_ of float32 and float64 data")
class InaccurateSingle(RightUntilFit):
    def spoil(self, X):
        if X.dtype == np.float32:
            self.memberships_ = self.memberships_[:, ::-1]


@wrong("check_containers", "as Fortran order")
class ReadsMemoryOrder(Right):
    def fit(self, X, y=None, *, sample_weight=None):
        return super().fit(np.asarray(X).ravel(order="K").reshape(np.shape(X)))


@wrong("check_containers", "TypeError: list indices")
class NeedsArrays(Right):
    def fit(self, X, y=None, *, sample_weight=None):
        return super().fit(X[::1, ::1].copy())


@wrong("check_feature_names", "does not set feature_names_in_")
class DropsNames(Right):
    def fit(self, X, y=None, *, sample_weight=None):
        return super().fit(np.asarray(X), y, sample_weight=sample_weight)


@wrong("check_feature_names", "gives 2 names for 3 columns")
class TooFewNames(Right):
    def get_feature_names_out(self, input_features=None):
        return np.array(["a", "b"])


@wrong("check_set_output", "returns a ndarray|set_output")
class NoSetOutput(Right, auto_wrap_output_keys=None):
    pass


@wrong("check_weight_zero", "rows removed")
class NoZeroWeight(Right):
    def _weighted_fit(self, X, weight):
        super()._weighted_fit(X, weight + 1e-3)


@wrong("check_weight_zero", "prediction of removed rows")
class ZeroWeightZeroMembership(Right):
    def _weighted_fit(self, X, weight):
        super()._weighted_fit(X, weight)
        self.memberships_[weight == 0] = 1 / self.n_clusters


@wrong("check_weight_integer", "with repeated rows")
class RootWeights(Right):
    def _weighted_fit(self, X, weight):
        super()._weighted_fit(X, np.sqrt(weight))


@wrong("check_weight_uniform", "without weights")
class AbsoluteWeights(Right):
    def _weighted_fit(self, X, weight):
        self._offset = 1e-3 * bool(np.all(weight == 2.5))
        super()._weighted_fit(X, weight)

    def _step(self, X, V):
        return super()._step(X, V + self._offset)


CHECKS = {check.__name__: check for check in ALL_CHECKS}


@pytest.mark.parametrize("cls, check, message", WRONG)
def test_wrong_estimators_are_caught(cls, check, message):
    with pytest.raises(AssertionError, match=message) as caught:
        CHECKS[check](cls() if check != "check_default_construction" else cls(3))
    assert str(caught.value).startswith(f"{cls.__name__} breaks the rule of {check} (")


def test_every_check_can_fail():
    assert {parameters.values[1] for parameters in WRONG} == set(CHECKS)
    assert len(CHECKS) == len(ALL_CHECKS)


def test_check_soft_clusterer_runs_all_checks():
    with pytest.raises(AssertionError, match="AbsoluteWeights breaks the rule of check_weight_uniform"):
        check_soft_clusterer(AbsoluteWeights())


def test_modality_without_data():
    class Sound(Right):
        modality = "sound"

    assert "sound" not in SAMPLES
    with pytest.raises(NotImplementedError, match=r"add a row to soft_clustering\.testing\.SAMPLES"):
        make_sample(Sound())
