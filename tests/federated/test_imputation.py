"""Multiple imputation: the conditional Gaussian by its textbook form, EM against a direct maximisation."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from soft_clustering.engine import missing
from soft_clustering.engine.missing import gaps_of
from soft_clustering.federated import imputation
from soft_clustering.federated.imputation import impute

COVARIANCE = np.array([[1.0, 0.8, 0.3], [0.8, 1.0, 0.5], [0.3, 0.5, 1.0]])


def sample(n=400, share=0.3, seed=0):
    """Standardised rows of a Gaussian, with gaps but never a whole row."""
    rng = np.random.default_rng(seed)
    Z = rng.multivariate_normal(np.zeros(3), COVARIANCE, n)
    gaps = rng.uniform(size=Z.shape) < share
    gaps[gaps.all(axis=1), 0] = False
    Z[gaps] = np.nan
    return (Z - np.nanmean(Z, axis=0)) / np.nanstd(Z, axis=0)


def fitted(Z):
    mean, factor = imputation._gaussian(Z, gaps_of(np.isnan(Z)))
    return mean, np.linalg.inv(factor.T @ factor)


def test_complete_data_are_one_copy():
    Z = np.arange(6.0).reshape(3, 2)
    copies = impute(Z, 5, np.random.RandomState(0))
    assert len(copies) == 1
    assert copies[0] is Z


def test_observed_values_stay_and_gaps_are_filled():
    Z = sample()
    copies = impute(Z, 4, np.random.RandomState(0))
    there = ~np.isnan(Z)
    assert len(copies) == 4
    for copy in copies:
        np.testing.assert_array_equal(copy[there], Z[there])
        assert np.isfinite(copy).all()
    assert np.abs(copies[0] - copies[1])[~there].min() > 0


def test_expected_rows_and_spread_by_the_textbook(monkeypatch):
    Z = sample(60)
    mean, covariance = np.array([0.1, -0.2, 0.3]), COVARIANCE
    monkeypatch.setattr(
        imputation, "_gaussian", lambda Z, groups: (mean, np.linalg.inv(np.linalg.cholesky(covariance)))
    )
    copies = np.array(impute(Z, 4000, np.random.RandomState(0)))
    for row, gaps in enumerate(np.isnan(Z)):
        if not gaps.any():
            continue
        there = ~gaps
        gain = covariance[np.ix_(gaps, there)] @ np.linalg.inv(covariance[np.ix_(there, there)])
        expected = mean[gaps] + gain @ (Z[row, there] - mean[there])
        spread = covariance[np.ix_(gaps, gaps)] - gain @ covariance[np.ix_(there, gaps)]
        drawn = copies[:, row][:, gaps]
        np.testing.assert_allclose(drawn.mean(axis=0), expected, atol=0.08)
        np.testing.assert_allclose(np.cov(drawn.T).reshape(spread.shape), spread, atol=0.1)


def test_em_maximises_the_likelihood_of_what_is_observed(monkeypatch):
    monkeypatch.setattr(imputation, "_PRIOR", 1e-9)
    monkeypatch.setattr(imputation, "_TOL", 1e-10)
    monkeypatch.setattr(imputation, "_MAX_ITER", 5000)
    Z = sample(80)
    mean, covariance = fitted(Z)

    def loss(parameters):
        mu, L = parameters[:3], np.zeros((3, 3))
        L[np.tril_indices(3)] = parameters[3:]
        sigma = L @ L.T
        total = 0.0
        for there in np.unique(~np.isnan(Z), axis=0):
            rows = Z[(np.isnan(Z) != there).all(axis=1)][:, there]
            total -= multivariate_normal.logpdf(rows, mu[there], sigma[np.ix_(there, there)]).sum()
        return total

    start = np.concatenate([mean, np.linalg.cholesky(covariance)[np.tril_indices(3)]])
    best = minimize(loss, start + 0.05, method="BFGS")
    assert loss(start) <= best.fun + 1e-6
    np.testing.assert_allclose(start, best.x, atol=1e-3)


def test_covariance_is_recovered():
    _, covariance = fitted(sample(4000))
    np.testing.assert_allclose(covariance, COVARIANCE, atol=0.06)


def test_groups_do_not_matter(monkeypatch):
    Z = sample(100)
    mean, covariance = fitted(Z)
    monkeypatch.setattr(missing, "_NUMBERS", 10)
    assert len(gaps_of(np.isnan(Z))) > 5
    again = fitted(Z)
    np.testing.assert_allclose(again[0], mean, atol=1e-10)
    np.testing.assert_allclose(again[1], covariance, atol=1e-10)


def test_same_seed_same_copies():
    Z = sample(50)
    for a, b in zip(impute(Z, 3, np.random.RandomState(7)), impute(Z, 3, np.random.RandomState(7)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("n, d", [(1, 2), (2, 5), (5, 40), (30, 3)])
def test_few_rows_and_collinear_columns(n, d):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, 1)) * np.ones(d)
    Z[0, : d // 2] = np.nan
    for copy in impute(Z, 2, np.random.RandomState(0)):
        assert np.isfinite(copy).all()
    if n == 30:  # the other columns tell the value, up to the prior
        assert np.abs(copy[0] - Z[0, -1]).max() < 0.5
