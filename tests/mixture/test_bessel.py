"""Bessel functions of any order and argument, and the concentrations that follow from them, against mpmath."""

import mpmath
import numpy as np
import pytest
from scipy.special import gammaln

from soft_clustering.mixture.bessel import bessel_ratio, concentration_of, log_bessel, log_peak

DIMENSIONS = [2, 3, 4, 10, 40, 62, 101, 102, 300, 2000, 20_000, 100_000]
ARGUMENTS = [1e-8, 1e-3, 0.1, 1.0, 10.0, 100.0, 3e3, 1e5, 1e6]


@pytest.fixture(autouse=True)
def forty_digits():
    with mpmath.workdps(40):
        yield


def exact_log(order, x):
    """log(exp(-x) I_order(x)) by the power series, whose terms are positive, from its largest term on in both ways."""
    order, x = mpmath.mpf(order), mpmath.mpf(x)
    top = int((mpmath.sqrt(order * order + x * x) - order) / 2)
    log_top = (2 * top + order) * mpmath.log(x / 2) - mpmath.loggamma(top + 1) - mpmath.loggamma(order + top + 1)
    total, term, k = mpmath.mpf(1), mpmath.mpf(1), top
    while term > 1e-35 * total:
        k += 1
        term *= x * x / 4 / k / (order + k)
        total += term
    term, k = mpmath.mpf(1), top
    while k > 0 and term > 1e-35 * total:
        term *= 4 * k * (order + k) / (x * x)
        total += term
        k -= 1
    return log_top + mpmath.log(total) - x


def exact_ratio(order, x):
    return mpmath.exp(exact_log(order + 1, x) - exact_log(order, x))


@pytest.mark.parametrize("d", DIMENSIONS)
def test_log_bessel(d):
    order = mpmath.mpf(d) / 2 - 1
    found = log_bessel(d / 2 - 1, np.array(ARGUMENTS))
    for x, value in zip(ARGUMENTS, found, strict=True):
        exact = exact_log(order, x)
        # scipy's values have about 14 digits; the expansion of order 30 and more has a relative error of 1e-10 at most
        assert abs(value - exact) <= (5e-15 * (1 + abs(exact)) if order < 30 else 1e-15 * abs(exact) + 1e-10), x


def test_the_series_is_that_of_mpmath():
    for order, x in ((0, 1.0), (0.5, 30.0), (7, 0.01), (100, 55.0)):
        assert abs(exact_log(order, x) - mpmath.log(mpmath.besseli(order, x)) + x) < 1e-30


@pytest.mark.parametrize("d", DIMENSIONS)
def test_ratio(d):
    order = mpmath.mpf(d) / 2 - 1
    for x, value in zip(ARGUMENTS, bessel_ratio(d / 2 - 1, np.array(ARGUMENTS)), strict=True):
        exact = exact_ratio(order, x)
        assert abs(value - exact) <= 1e-11 * exact, x
        assert bessel_ratio(d / 2 - 1, np.array([x])) == pytest.approx(value, rel=1e-12)  # alone as among others


@pytest.mark.parametrize("d", [2, 3, 10, 101, 1000, 100_000])
@pytest.mark.parametrize("kappa", [1e-6, 0.01, 1.0, 30.0, 1e3, 1e5, 1e6])
def test_concentration_solves_the_likelihood_equation(d, kappa):
    order = mpmath.mpf(d) / 2 - 1
    ratio = exact_ratio(order, kappa)
    (found,) = concentration_of(np.array([float(ratio)]), d, 1e7)
    slope = 1 - ratio * ratio - (d - 1) / mpmath.mpf(kappa) * ratio
    rounding = float(ratio * 2.0**-52 / slope / kappa)  # what the rounding of the length itself moves
    assert found == pytest.approx(kappa, rel=1e-10 + 10 * rounding)


def test_concentration_is_bounded():
    np.testing.assert_array_equal(concentration_of(np.array([0.0, 1.0]), 5, 1e4), [1e-8, 1e4])
    lengths = np.linspace(0, 1, 1001)
    for d in (2, 3, 50, 10_000):
        kappa = concentration_of(lengths, d, 1e6)
        assert np.isfinite(kappa).all()
        assert (np.diff(kappa) >= 0).all()


@pytest.mark.parametrize("d", [2, 3, 50, 1001, 100_000])
def test_density_of_almost_no_concentration_is_uniform(d):
    log_area = np.log(2) + d / 2 * np.log(np.pi) - gammaln(d / 2)
    assert log_peak(d, np.array([1e-8]))[0] == pytest.approx(-log_area, rel=1e-12, abs=2e-8)


def test_closed_form_in_three_dimensions():
    kappa = np.array([1e-3, 0.5, 2.0, 700.0, 1e6])
    expected = np.log(kappa / (2 * np.pi)) - np.log(-np.expm1(-2 * kappa))
    np.testing.assert_allclose(log_peak(3, kappa), expected, rtol=1e-13)
