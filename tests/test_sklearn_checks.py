"""scikit-learn's own estimator checks over every registered estimator of matrices: features, or counts of words."""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import (
    check_estimator_sparse_array,
    check_estimator_sparse_matrix,
    parametrize_with_checks,
)

import soft_clustering
from soft_clustering._registry import REGISTRY
from soft_clustering.testing import quick

EXTRAS = {"deep": "torch"}
FEW_CLUSTERS = [  # checks that ask for fewer clusters than y has classes; names of several versions
    check
    for name in (
        *("check_dont_overwrite_attributes", "check_dont_overwrite_parameters", "check_fit2d_1feature"),
        *("check_fit2d_predict1d", "check_methods_sample_order_invariance", "check_methods_subset_invariance"),
    )
    if (check := getattr(estimator_checks, name, None)) is not None
]


def estimators():
    classes = [
        getattr(soft_clustering, row.name)
        for row in REGISTRY
        if row.extra is None or find_spec(EXTRAS[row.extra]) is not None
    ]
    return [quick(cls()) for cls in classes if cls.modality in ("features", "documents")]


def reads_labels(estimator):
    """Whether y holds labels to the estimator: it then refuses more classes than clusters."""
    if estimator.get_params().get("n_clusters", 0) is not None:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            clone(estimator).set_params(n_clusters=1).fit(np.eye(4), [0, 1, 0, 1])
        except ValueError as error:
            return "classes in y" in str(error)
    return False


def expected_failures(estimator):
    """Checks that cannot pass, each with its reason."""
    expected = {}
    if estimator.__sklearn_tags__().input_tags.sparse and hasattr(estimator, "predict_proba"):
        # Run below without predict_proba instead.
        reason = "the check takes every estimator with predict_proba for a classifier and reads its classifier_tags"
        expected |= {"check_estimator_sparse_array": reason, "check_estimator_sparse_matrix": reason}
    if estimator.__sklearn_tags__().input_tags.positive_only:
        # Run below on counts instead.
        expected["check_clustering"] = "the check clusters negative numbers, whatever the tag positive_only says"
    if reads_labels(estimator):
        # Run below without y instead.
        reason = "the check asks for fewer clusters than there are classes in y, which a semi-supervised method refuses"
        expected |= {check.__name__: reason for check in FEW_CLUSTERS}
    if type(estimator).__name__ in ("GMM", "BayesianGMM"):
        expected["check_sample_weight_equivalence_on_dense_data"] = (
            "init='kmeans' is scikit-learn's own KMeans, to agree with its mixtures; its draws depend on the number of "
            "rows (scikit-learn expects the same failure of KMeans). Given a start, weights are repetitions: "
            "tests/mixture/test_gmm.py, test_bayesian_gmm.py"
        )
    return expected


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(estimators(), expected_failed_checks=expected_failures)
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", [check_estimator_sparse_array, check_estimator_sparse_matrix])
@pytest.mark.parametrize(
    "cls", [type(e) for e in estimators() if e.__sklearn_tags__().input_tags.sparse], ids=lambda cls: cls.__name__
)
def test_sparse_check_without_predict_proba(cls, check):
    hidden = type(cls.__name__, (cls,), {"predict_proba": property()})
    assert not hasattr(hidden(), "predict_proba")
    check(cls.__name__, hidden())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("check", FEW_CLUSTERS)
@pytest.mark.parametrize("cls", [type(e) for e in estimators() if reads_labels(e)], ids=lambda cls: cls.__name__)
def test_few_clusters_check_without_labels(cls, check):
    unlabelled = type(cls.__name__, (cls,), {"fit": lambda self, X, y=None: cls.fit(self, X)})
    check(cls.__name__, unlabelled())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("readonly_memmap", [False, True])
@pytest.mark.parametrize(
    "cls",
    [type(e) for e in estimators() if e.__sklearn_tags__().input_tags.positive_only],
    ids=lambda cls: cls.__name__,
)
def test_clustering_check_on_counts(cls, readonly_memmap):
    positive = type(cls.__name__, (cls,), {"fit": lambda self, X, y=None: cls.fit(self, places(X))})
    estimator_checks.check_clustering(cls.__name__, positive(), readonly_memmap=readonly_memmap)


def places(X):
    """Points of the plane as documents whose words are the places nearby, on a grid of 7 by 7."""
    grid = np.stack(np.meshgrid(np.arange(-3, 4), np.arange(-3, 4)), axis=-1).reshape(-1, 2)
    square = ((np.asarray(X)[:, None] - grid) ** 2).sum(axis=2)
    return np.round(10 * np.exp(-2 * square))
