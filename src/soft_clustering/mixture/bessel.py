"""Modified Bessel functions of the first kind, and the von Mises-Fisher distributions that they normalise.

On the unit sphere in d dimensions the density is c_d(kappa) exp(kappa mu.x) with

    log c_d(kappa) = v log kappa - d/2 log(2 pi) - log I_v(kappa),    v = d/2 - 1.

The mean of mu.x is A(kappa) = I_{v+1}(kappa) / I_v(kappa), which rises from 0 to 1. I_v underflows if its order is
large, so its logarithm and the ratio have ways of their own.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ive

from .._types import Array

LEAST, MOST = 1e-8, 1e7  # bounds of a concentration: uniform, and where 1 - A keeps enough digits to find it again
_PLAIN = 1e-280  # scipy's values above this have all their digits
_LARGE = 50  # from this order on the uniform expansion is at least as good as scipy's values
_TERMS = 200  # of the continued fraction
_STEPS = 5  # of Newton's method: the first guess is good


def log_bessel(order: float, x: Array) -> Array:
    """log(exp(-x) I_order(x)) for x > 0.

    By scipy, or by Debye's uniform expansion to its fourth term (Abramowitz & Stegun 9.7.7) for large orders, and where
    the function itself underflows.

    Examples
    --------
    >>> log_bessel(0.5, np.array([1.0])).round(6)  # sqrt(2 / pi) sinh(1) / e
    array([-1.064352])
    >>> log_bessel(5e4, np.array([1.0, 1e5])).round(3)
    array([-525653.602,  -12263.924])
    """
    plain = ive(order, x)
    return np.where((plain > _PLAIN) & (order < _LARGE), np.log(np.maximum(plain, _PLAIN)), _debye(max(order, 1.0), x))


def _debye(order: float, x: Array) -> Array:
    r = np.hypot(order, x)
    p = order / r
    q = p * p
    terms = (
        p * (3 - 5 * q) / 24,
        q * (81 + q * (-462 + q * 385)) / 1152,
        p * q * (30375 + q * (-369603 + q * (765765 - q * 425425))) / 414720,
        q * q * (4465125 + q * (-94121676 + q * (349922430 + q * (-446185740 + q * 185910725)))) / 39813120,
    )
    series = sum(term / order ** (k + 1) for k, term in enumerate(terms))
    answer: Array = order * order / (r + x) - order * np.arcsinh(order / x) - 0.5 * np.log(2 * np.pi * r)
    return answer + np.log1p(series)


def bessel_ratio(order: float, x: Array) -> Array:
    """I_{order+1}(x) / I_order(x) for x > 0, between 0 and 1.

    Where the functions underflow, x is small beside the square of the order, and the continued fraction from Amos's
    bound converges.

    Examples
    --------
    >>> bessel_ratio(0.5, np.array([1.0])).round(6)  # coth(1) - 1
    array([0.313035])
    """
    below, above = ive(order, x), ive(order + 1, x)
    if above.min() > _PLAIN:
        plain: Array = above / below
        return plain
    far = order + _TERMS
    ratio = x / (far + 0.5 + np.hypot(x, far + 1.5))
    for k in range(_TERMS, 0, -1):
        ratio = 1 / (2 * (order + k) / x + ratio)
    return np.where(above > _PLAIN, above / np.maximum(below, _PLAIN), ratio)


def log_peak(d: int, concentration: Array) -> Array:
    """The log density at the mean direction: log c_d(kappa) + kappa."""
    order = d / 2 - 1
    answer: Array = order * np.log(concentration) - d / 2 * np.log(2 * np.pi) - log_bessel(order, concentration)
    return answer


def concentration_of(length: Array, d: int, most: float) -> Array:
    """The kappa with A(kappa) = ``length``, the maximum-likelihood estimate from a mean resultant length in [0, 1].

    Newton's method from the approximation of Banerjee et al. (2005), within [``LEAST``, ``most``].

    Examples
    --------
    >>> concentration_of(np.array([0.313035, 0.0, 1.0]), 3, 1e6).round(4)
    array([1.e+00, 0.e+00, 1.e+06])
    """
    length = np.minimum(length, 1 - np.finfo(np.float64).epsneg)
    squared = length * length
    kappa: Array = np.clip(length * (d - squared) / (1 - squared), LEAST, most)
    for _ in range(_STEPS):
        ratio = bessel_ratio(d / 2 - 1, kappa)
        slope = 1 - ratio * ratio - (d - 1) / kappa * ratio
        kappa = np.clip(kappa - (ratio - length) / slope, LEAST, most)
    return kappa


def draw_gaps(concentration: Array, d: int, rng: np.random.RandomState) -> Array:
    """1 - mu.x (n,) of draws x of each concentration, by rejection from a transformed beta distribution (Wood 1994).

    Examples
    --------
    >>> gaps = draw_gaps(np.full(100_000, 1.0), 3, np.random.RandomState(0))
    >>> float((1 - gaps).mean().round(2))  # A(1) = coth(1) - 1
    0.31
    """
    kappa = np.asarray(concentration, dtype=np.float64)
    b = (d - 1) / (2 * kappa + np.hypot(2 * kappa, d - 1))
    gap, left = np.empty(len(kappa)), np.arange(len(kappa))
    while len(left):
        b_, z = b[left], rng.beta((d - 1) / 2, (d - 1) / 2, len(left))
        # Both terms are differences from the values at 1 - mu.x = 2 b / (1 + b), so that they stay small.
        proposed = 2 * b_ * z / (1 - (1 - b_) * z)
        mode = 2 * b_ / (1 + b_)
        x0 = (1 - b_) / (1 + b_)
        advantage = kappa[left] * (mode - proposed) + (d - 1) * np.log((1 - x0 * (1 - proposed)) / (1 - x0 * x0))
        accepted = np.log1p(-rng.uniform(size=len(left))) <= advantage
        gap[left[accepted]], left = proposed[accepted], left[~accepted]
    return gap
