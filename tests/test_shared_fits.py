"""Conformance checks share fits without sharing anything else."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from soft_clustering import FCM
from soft_clustering.testing import ALL_CHECKS, check_soft_clusterer, shared_fits
from soft_clustering.testing.harness import _MOST_SHARED, _SHARED, fitted, newly_fitted


class Counting(FCM):
    """Counts the fits of all of its instances."""

    fits = 0

    def fit(self, X, y=None, **keywords):
        type(self).fits += 1
        return super().fit(X, y, **keywords)


def count(run):
    Counting.fits = 0
    run()
    return Counting.fits


def test_fits_are_shared_within_the_context_only():
    def look(times=3):
        for _ in range(times):
            fitted(Counting(2))

    def look_in_two_contexts():
        for _ in range(2):
            with shared_fits():
                look()

    assert count(look) == 3
    assert count(look_in_two_contexts) == 2


def test_a_context_within_another_one_shares_its_fits():
    def nested():
        with shared_fits():
            fitted(Counting(2))
            with shared_fits():
                fitted(Counting(2))
            fitted(Counting(2))

    assert count(nested) == 1


def test_all_checks_together_fit_less_often():
    def alone():
        for check in ALL_CHECKS:
            check(Counting(2))

    assert count(lambda: check_soft_clusterer(Counting(2))) <= count(alone) - 15


def test_other_parameters_and_other_classes_have_fits_of_their_own():
    class Other(FCM):
        pass

    with shared_fits():
        plain = fitted(FCM(2))[0]
        assert fitted(FCM(2, m=3.0))[0].m == 3.0
        assert fitted(FCM(2), m=1.5)[0].m == 1.5
        assert type(fitted(Other(2))[0]) is Other
        start = np.arange(6.0).reshape(2, 3)
        np.testing.assert_array_equal(fitted(FCM(2, init=start))[0].init, start)
        assert np.abs(fitted(FCM(2, m=3.0))[0].memberships_ - plain.memberships_).max() > 0.01


def test_nobody_spoils_the_fit_of_others():
    expected = newly_fitted(FCM(2))[0].memberships_
    with shared_fits():
        for _ in range(3):
            model, sample = fitted(FCM(2))
            np.testing.assert_array_equal(model.memberships_, expected)
            model.memberships_[:] = 0
            model.set_params(m=7)
            model.labels_ = None
            sample.X[:] = np.nan


def test_a_copy_does_what_the_original_does():
    with shared_fits():
        (model, sample), (copy, _) = fitted(FCM(2)), fitted(FCM(2))
        assert copy is not model
        assert vars(copy).keys() == vars(model).keys()
        # The parameters of the fit are still those of the model: setting others is noticed, and nothing else is.
        assert copy._as_fitted() is copy
        predicted = copy.set_params(m=5).predict_memberships(sample.new)
        np.testing.assert_array_equal(predicted, model.predict_memberships(sample.new))


def test_few_fits_are_kept():
    with shared_fits():
        for m in np.linspace(1.5, 3, 2 * _MOST_SHARED):
            fitted(FCM(2, m=m))
        assert len(_SHARED.get()) == _MOST_SHARED
    assert _SHARED.get() is None


def test_the_context_ends_with_an_error():
    with pytest.raises(ZeroDivisionError), shared_fits():
        raise ZeroDivisionError
    assert _SHARED.get() is None


class Locked(FCM):
    """A fitted attribute that cannot be copied."""

    def fit(self, X, y=None, **keywords):
        self._lock = threading.Lock()
        return super().fit(X, y, **keywords)


class Forgets(FCM):
    """Its own deep copy is wrong, which only one check may complain of."""

    def __deepcopy__(self, memo):
        return type(self)()


@pytest.mark.parametrize(
    "estimator",
    [Locked(2), Forgets(2), FCM(2, init=lambda X, K, rng: X[:K])],
    ids=["attribute", "deepcopy", "parameter"],
)
def test_what_cannot_be_copied_or_pickled_is_fitted_anew(estimator):
    with shared_fits():
        for _ in range(2):
            assert fitted(estimator)[0].memberships_.shape == (42, 2)
