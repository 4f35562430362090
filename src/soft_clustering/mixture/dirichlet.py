"""Maximum likelihood of Dirichlet distributions; with two parameters these are beta distributions.

Given the mean logarithms s of the observations, the mean log likelihood of shapes a is, up to a constant,

    g(a) = log Gamma(sum_j a_j) - sum_j log Gamma(a_j) + sum_j a_j s_j,

which is strictly concave. It is maximised by Newton's method: the Hessian is a diagonal matrix plus a constant, so a
step costs O(p). The kernels have a compiled twin.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, psi, zeta

from .. import kernels
from .._types import Array

LEAST, MOST = 1e-3, 1e6  # shapes: the upper bound keeps the likelihood of equal observations finite
_STEPS = 100
_HALVINGS = 40
_SMALL = 1e-6  # relative step after which the next one would be rounding: convergence is quadratic


def log_normaliser(shapes: Array) -> Array:
    """The normaliser log Gamma(sum_j a_j) - sum_j log Gamma(a_j), over the last axis.

    Examples
    --------
    >>> log_normaliser(np.array([[1.0, 1.0], [2.0, 2.0]])).round(4)
    array([0.    , 1.7918])
    """
    answer: Array = gammaln(shapes.sum(axis=-1)) - gammaln(shapes).sum(axis=-1)
    return answer


def maximum_likelihood(mean_logs: Array, start: Array | None = None) -> Array:
    """Shapes (r, p) of r Dirichlet distributions of largest likelihood, within ``LEAST`` and ``MOST``.

    Parameters
    ----------
    mean_logs : array of shape (r, p)
        Mean logarithms of the p parts.
    start : array of shape (r, p), default=None
        Shapes to start from. The answer is never less likely; within the bounds it does not depend on the start.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> logs = np.log(rng.dirichlet([2.0, 3.0, 0.5], 100_000)).mean(axis=0)
    >>> maximum_likelihood(logs[None]).round(1)
    array([[2. , 3. , 0.5]])
    """
    shapes = _guess(mean_logs) if start is None else start.copy()
    if kernels.use_compiled():
        kernels.compiled.dirichlet_maxima(
            shapes, np.ascontiguousarray(mean_logs), LEAST, MOST, _STEPS, _HALVINGS, _SMALL
        )
        return shapes
    moving = np.arange(len(shapes))
    for _ in range(_STEPS):
        a, s = shapes[moving], mean_logs[moving]
        new = _ascend(a, s, _newton_step(a, s))
        shapes[moving] = new
        moving = moving[np.abs(new / a - 1).max(axis=1) > _SMALL]
        if len(moving) == 0:
            break
    return shapes


def _guess(s: Array) -> Array:
    """A start from two terms of Stirling's formula: shapes proportional to exp(s), whose sum is accurate if large."""
    parts = np.exp(s)
    total = parts.sum(axis=1, keepdims=True)  # below 1, except for rounding if all observations are equal
    concentration = 0.5 * (s.shape[1] - 1) / np.maximum(-np.log(total), 1e-15)
    return _bounded(concentration * parts / total)


def _newton_step(a: Array, s: Array) -> Array:
    """Hessian^-1 gradient, for the Hessian diag(q) + z 1 1^T."""
    total = a.sum(axis=1, keepdims=True)
    gradient = psi(total) - psi(a) + s
    q, z = -zeta(2, a), zeta(2, total)
    shift = (gradient / q).sum(axis=1, keepdims=True) / (1 / z + (1 / q).sum(axis=1, keepdims=True))
    step: Array = (gradient - shift) / q
    return step


def _ascend(a: Array, s: Array, step: Array) -> Array:
    """The shapes a - length * step, the length halved until the shapes are positive and g does not fall."""
    value, rounding = _value(a, s)
    answer, length, left = a.copy(), np.ones((len(a), 1)), np.arange(len(a))
    for _ in range(_HALVINGS):
        proposed = a[left] - length[left] * step[left]
        positive = proposed.min(axis=1) > 0
        proposed = _bounded(np.where(positive[:, None], proposed, a[left]))
        found = positive & (_value(proposed, s[left])[0] >= value[left] - rounding[left])
        answer[left[found]] = proposed[found]
        left = left[~found]
        if len(left) == 0:
            break
        length[left] /= 2
    return answer


def _value(a: Array, s: Array) -> tuple[Array, Array]:
    """The function g and its rounding error."""
    product = (a * s).sum(axis=1)
    rounding = 1e-15 * (1 + np.abs(gammaln(a.sum(axis=1))) + np.abs(product))
    return log_normaliser(a) + product, rounding


def _bounded(a: Array) -> Array:
    """Shapes within the bounds. Too large ones shrink all together, which keeps their mean."""
    bounded: Array = np.clip(a * np.minimum(1, MOST / a.max(axis=1, keepdims=True)), LEAST, MOST)
    return bounded
