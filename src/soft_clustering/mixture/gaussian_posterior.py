"""The prior and the approximate posterior of a Bayesian Gaussian mixture; ``bayesian_gmm.py`` has the method.

The weights have a Dirichlet distribution, or their sticks have beta distributions; the mean and the precision of a
component have a Gaussian-Wishart distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, digamma, gammaln

from .._types import Array
from ..kernels.gauss import GaussStatistics
from .gaussian import Components, factors_of, shift_and_covariances

_LOG_2 = float(np.log(2))


class Prior(NamedTuple):
    """The prior, in the coordinates of the frame, and what else the posterior is computed with."""

    process: bool  # whether the weights are sticks
    concentration: float
    mean: Array  # m_0 (d,)
    mean_precision: float  # beta_0
    dof: float  # nu_0
    covariance: Array  # S_0: full and tied (d, d), diag (d,), spherical ()
    covariance_type: str
    ridge: float  # reg_covar
    weight: float  # of all rows
    least: float  # added to each N_k
    log_unit: float  # logarithm of the volume of the unit cube of the input


class Posterior(NamedTuple):
    """The distributions of the parameters, and the Gaussian components that give their memberships."""

    prior: Prior
    gaussian: Components  # expected weights, means m_k, covariances W_k^-1 / nu_k and their factors
    concentration: Array  # (K,), or (2, K) for sticks
    mean_precision: Array  # beta_k (K,)
    dof: Array  # nu_k (K,)

    @property
    def weights(self) -> Array:
        """Expected weights (K,)."""
        return self.gaussian.weights

    @property
    def log_constants(self) -> Array:
        """What the log memberships have beside the squared distances in the metrics of the covariances (K,)."""
        d = self.gaussian.means.shape[1]
        volumes = self.log_wisharts + 0.5 * (self.over_halves(digamma) + d * _LOG_2 - d / self.mean_precision)
        constants: Array = self.log_weights + volumes - 0.5 * d * np.log(2 * np.pi)
        return constants

    @property
    def log_weights(self) -> Array:
        """E log pi_k (K,)."""
        if not self.prior.process:
            expected: Array = digamma(self.concentration) - digamma(self.concentration.sum())
            return expected
        taken, left = digamma(self.concentration) - digamma(self.concentration.sum(axis=0))
        sticks: Array = taken + np.append(0, np.cumsum(left[:-1]))
        return sticks

    @property
    def log_wisharts(self) -> Array:
        """Half the log determinants (K,) of the matrices W_k, in the coordinates of the frame."""
        d = self.gaussian.means.shape[1]
        halves: Array = self.gaussian.log_volumes() - 0.5 * d * np.log(self.dof)
        return halves

    def over_halves(self, function: Callable[[Array], Array]) -> Array:
        """sum_j function((nu_k - j) / 2) (K,), j = 0 .. d - 1."""
        j = np.arange(self.gaussian.means.shape[1])
        total: Array = function(0.5 * (self.dof[:, None] - j)).sum(axis=1)
        return total

    @property
    def bound(self) -> float:
        """The lower bound in input units without the entropy of the memberships, which the parameters are best for.

        Constants that depend on the prior alone are left out, as in scikit-learn.
        """
        d = self.gaussian.means.shape[1]
        volumes = self.log_wisharts + self.prior.log_unit
        wisharts = self.dof * (volumes + 0.5 * d * _LOG_2) + self.over_halves(gammaln)
        if self.prior.process:
            weights = betaln(*self.concentration).sum()
        else:
            weights = gammaln(self.concentration).sum() - gammaln(self.concentration.sum())
        return float(wisharts.sum() + weights - 0.5 * d * np.log(self.mean_precision).sum())


def posterior(prior: Prior, origin: Array, moments: GaussStatistics) -> Posterior:
    """The posterior of the parameters, from moments about ``origin``."""
    N = moments.weight + prior.least
    mass, kind, K = N[:, None], prior.covariance_type, len(N)
    shift, spread = shift_and_covariances(kind, moments, mass, mass, prior.ridge)
    xbar = origin + shift
    mean_precision = prior.mean_precision + N
    means = (prior.mean_precision * prior.mean + mass * xbar) / mean_precision[:, None]
    pull, off = N * prior.mean_precision / mean_precision, xbar - prior.mean
    if kind == "full":
        outer = off[:, :, None] * off[:, None, :]
        scatter = prior.covariance + N[:, None, None] * spread + pull[:, None, None] * outer
    elif kind == "tied":
        scatter = prior.covariance + (N.sum() * spread + (pull * off.T) @ off) / K
    elif kind == "diag":
        scatter = prior.covariance + mass * spread + pull[:, None] * off**2
    else:
        scatter = prior.covariance + N * spread + pull * (off**2).mean(axis=1)
    dof = prior.dof + (np.full(K, N.sum() / K) if kind == "tied" else N)
    covariances = scatter / (dof[0] if kind == "tied" else dof.reshape(-1, *[1] * (scatter.ndim - 1)))
    factors, failed = factors_of(kind, covariances)
    if failed is not None:
        raise ValueError(
            f"The covariance of component {failed} is not positive definite: X has constant or dependent features. "
            "Drop them, pass a positive definite covariance_prior, or increase reg_covar."
        )
    if prior.process:
        taken, later = 1 + N, prior.concentration + np.append(np.cumsum(N[:0:-1])[::-1], 0)
        concentration = np.stack([taken, later])
        both = taken + later
        weights = taken / both * np.append(1, np.cumprod(later / both)[:-1])
    else:
        weights = concentration = prior.concentration + N
    gaussian = Components(weights / weights.sum(), means, covariances, factors, kind in ("full", "tied"))
    return Posterior(prior, gaussian, concentration, mean_precision, dof)
