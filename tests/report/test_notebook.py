"""What a notebook shows of an estimator: scikit-learn's diagram, with the fitted attributes."""

import importlib.util

import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from soft_clustering import FCM

X = load_iris().data


def test_diagram():
    before, after = (model._repr_html_() for model in (FCM(3, m=1.5), FCM(3, m=1.5).fit(X)))
    assert "Not fitted" in before
    assert "Not fitted" not in after
    for html in (before, after):
        assert "FCM" in html
        assert "1.5" in html


def test_diagram_of_a_pipeline():
    html = make_pipeline(StandardScaler(), FCM(3)).fit(X)._repr_html_()
    assert html.count("StandardScaler") >= 1
    assert html.count("FCM") >= 1


@pytest.mark.skipif(
    importlib.util.find_spec("sklearn.utils._repr_html") is None
    or importlib.util.find_spec("sklearn.utils._repr_html.fitted_attributes") is None,
    reason="this version of scikit-learn shows no fitted attributes",
)
def test_diagram_shows_fitted_attributes():
    before, after = (model._repr_html_() for model in (FCM(3), FCM(3).fit(X)))
    for name in ("memberships_", "labels_", "centers_", "n_clusters_", "objective_"):
        assert name in after
        assert name not in before
    assert "float64](150, 3)" in after
