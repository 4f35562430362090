"""scikit-learn's own estimator checks over every registered estimator of feature matrices; none is expected to fail."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import soft_clustering
from soft_clustering._registry import REGISTRY

EXTRAS = {"deep": "torch"}


def estimators():
    classes = [
        getattr(soft_clustering, row.name)
        for row in REGISTRY
        if row.extra is None or find_spec(EXTRAS[row.extra]) is not None
    ]
    return [cls() for cls in classes if cls.modality == "features"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(estimators())
def test_sklearn_check(estimator, check):
    check(estimator)
