"""What the displays take: estimators that predict or not, projections, choices of rows, messages."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from soft_clustering import FCM, SoftHDBSCAN
from soft_clustering.base import BaseSoftClusterer
from soft_clustering.plotting import MembershipHeatmapDisplay, MembershipScatterDisplay, TernaryDisplay
from soft_clustering.plotting.data import estimator_memberships, in_the_plane, sample_rows

X = load_iris().data


class Transductive(BaseSoftClusterer):
    """Cannot predict."""

    def fit(self, X, y=None):
        self._set_memberships(np.full((len(X), 2), 0.5))
        return self


def test_prediction_where_there_is_a_rule():
    model = FCM(3, random_state=0).fit(X)
    np.testing.assert_allclose(estimator_memberships(model, X[:7]), model.memberships_[:7], atol=1e-9)
    assert estimator_memberships(model) is model.memberships_


def test_training_memberships_where_there_is_no_rule():
    model = Transductive().fit(X)
    assert estimator_memberships(model, X) is model.memberships_
    with pytest.raises(
        ValueError, match=r"X must be the training data: Transductive cannot predict. Got 7 samples.* 150"
    ):
        estimator_memberships(model, X[:7])


def test_unfitted_and_unfit_estimators():
    with pytest.raises(NotFittedError):
        estimator_memberships(FCM(3), X)
    with pytest.raises(TypeError, match=r"estimator must have memberships_\. Got a PCA"):
        estimator_memberships(PCA().fit(X), X)


def test_projection_is_pca_with_centers():
    points, centers, names = in_the_plane(X, X[:3])
    expected = PCA(2).fit_transform(X)
    np.testing.assert_allclose(points, expected, atol=1e-10)
    np.testing.assert_allclose(centers, expected[:3], atol=1e-10)
    assert names == ["PC 1 (92% of the variance)", "PC 2 (5% of the variance)"]
    np.testing.assert_array_equal(in_the_plane(X)[0], points)


def test_projection_of_sparse_huge_and_constant_data():
    dense = np.random.RandomState(0).poisson(0.3, (60, 8)).astype(float)
    points = in_the_plane(sparse.csr_array(dense))[0]
    np.testing.assert_allclose(np.abs(points), np.abs(in_the_plane(dense)[0]), atol=1e-8)
    np.testing.assert_allclose(in_the_plane(X * 1e300)[0], in_the_plane(X)[0] * 1e300, rtol=1e-9)
    points, _, names = in_the_plane(np.ones((5, 3)))
    np.testing.assert_array_equal(points, 0)
    assert names[0] == "PC 1 (0% of the variance)"


def test_two_features_keep_their_names():
    frame = pd.DataFrame(X[:, :2], columns=["a_$", "b<c"])
    points, _, names = in_the_plane(frame)
    np.testing.assert_array_equal(points, X[:, :2])
    assert names == ["a_$", "b<c"]
    assert in_the_plane(X[:, :1])[2] == ["feature 0"]
    assert in_the_plane(pd.DataFrame(X[:, :1]))[2] == ["feature 0"]
    np.testing.assert_array_equal(in_the_plane(sparse.csr_array(X[:, :2]))[0], X[:, :2])


@pytest.mark.parametrize(
    "wrong, message",
    [
        (X[:1], "X must have at least 2 samples"),
        (X[0], r"X must have shape \(n_samples, n_features\)"),
        (np.where(X > 5, np.nan, X), "X contains NaN"),
        ([["a", "b", "c"]], "X must be numeric"),
    ],
)
def test_wrong_features(wrong, message):
    with pytest.raises(ValueError, match=message):
        in_the_plane(wrong)


def test_wrong_centers():
    with pytest.raises(ValueError, match=r"centers must have shape \(n_clusters, 4\). Got shape \(3, 2\)"):
        in_the_plane(X, X[:3, :2])


def test_rows_are_a_permutation_or_a_part_of_it():
    assert sorted(sample_rows(50, 100)) == list(range(50))
    chosen = sample_rows(1000, 100)
    assert len(set(chosen)) == 100
    np.testing.assert_array_equal(chosen, sample_rows(1000, 100))
    # all parts of the data are there, in no order
    assert np.histogram(chosen, bins=4, range=(0, 1000))[0].min() > 10
    assert (np.diff(chosen) < 0).sum() > 25


@pytest.mark.parametrize("wrong, error", [(0, ValueError), (10.5, TypeError)])
def test_wrong_number_of_points(wrong, error):
    with pytest.raises(error, match="max_points"):
        sample_rows(5, wrong)


@pytest.mark.parametrize("display", [MembershipScatterDisplay, MembershipHeatmapDisplay, TernaryDisplay])
@pytest.mark.filterwarnings("ignore:SoftHDBSCAN found no cluster")
def test_a_fit_without_clusters_cannot_be_drawn(display):
    model = SoftHDBSCAN(100).fit(X)
    with pytest.raises(
        ValueError, match=r"memberships must have a column per cluster\. Got none: no cluster was found"
    ):
        display.from_estimator(model, X)
