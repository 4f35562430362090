"""The rule of hostile input: a valid result, or an error that says what is wrong.

Valid are finite, non-negative memberships, rows that sum to 1 (with the noise), right labels; warnings are allowed. An
error is a ValueError or TypeError that names what is wrong. Never allowed are NaN, an error from below, or a
RuntimeWarning.
"""

from __future__ import annotations

import re
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from soft_clustering.testing.harness import argmax_labels, noise_of

WEIGHT_WORDS = r"sample_weight|\bSample weights\b"
X_WORDS = r"\bX\b|\b[Aa]rray|\bsamples?\b|\bfeatures?\b|\bn_samples\b|\b[Dd]ata\b"


class Outcome(NamedTuple):
    """What came out of a fit: a valid model with its warnings, or an error that was clear."""

    model: Any
    warnings: list[warnings.WarningMessage]
    error: Exception | None

    @property
    def warned(self) -> bool:
        return any(issubclass(w.category, ConvergenceWarning) for w in self.warnings)


def assert_valid_memberships(model, U, n):
    assert U.shape == (n, model.n_clusters_)
    assert np.isfinite(U).all()
    assert (U >= 0).all()
    if model.partition_constrained:
        assert_sum_to_one(U)


def assert_sum_to_one(U, noise_mass=0.0):
    sums = U.sum(axis=1, dtype=np.float64) + noise_mass
    np.testing.assert_allclose(sums, 1, atol=1e-5 if U.dtype == np.float32 else 1e-9)


def assert_valid(model, n):
    assert_valid_memberships(model, model.memberships_, n)
    if model.membership_kind == "subpartition":
        assert_sum_to_one(model.memberships_, model.noise_mass_)
    np.testing.assert_array_equal(model.labels_, argmax_labels(model.memberships_, noise_of(model)))
    for name, value in vars(model).items():
        if name.endswith("_") and not name.startswith("_"):
            for part in value if isinstance(value, list) else [value]:
                assert np.asarray(part).dtype.kind != "f" or not np.isnan(part).any(), f"{name} has NaN"
    if hasattr(model, "centers_"):
        assert np.isfinite(model.centers_).all(), "centers_ is not finite"


def assert_clear(error, naming):
    assert isinstance(error, (ValueError, TypeError)), f"{type(error).__name__}: {error}"
    assert not isinstance(error, np.linalg.LinAlgError), f"LinAlgError: {error}"
    assert re.search(naming, str(error)), f"the message does not name {naming!r}: {error}"


def valid_or_clear_error(estimator, X, *, expect="either", naming=None, **fit_params) -> Outcome:
    """Fit, and demand a valid model or a clear error.

    ``expect`` is "valid", "error" or "either"; ``naming`` is the pattern that an error message must match, by default
    X or any parameter.
    """
    if naming is None:
        names = "|".join(estimator.get_params())
        naming = rf"{X_WORDS}|\b({names}|sample_weight)\b"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        error = None
        try:
            estimator.fit(X, **fit_params)
        except Exception as raised:
            error = raised
    if error is not None:
        assert_clear(error, naming)
        assert expect != "valid", f"{type(error).__name__}: {error}"
        return Outcome(None, caught, error)
    assert expect != "error", "accepted"
    assert_valid(estimator, X.shape[0] if hasattr(X, "shape") else len(X))
    return Outcome(estimator, caught, None)


def edit(X, index, value):
    X = X.copy()
    X[index] = value
    return X


def int64_csr(X):
    S = sparse.csr_array(X)
    return sparse.csr_array((S.data, S.indices.astype(np.int64), S.indptr.astype(np.int64)), shape=S.shape)


def unsorted(X):
    S = sparse.csr_array(X)
    for lo, hi in zip(S.indptr[:-1], S.indptr[1:], strict=True):
        S.indices[lo:hi] = S.indices[lo:hi][::-1].copy()
        S.data[lo:hi] = S.data[lo:hi][::-1].copy()
    S.has_sorted_indices = False
    return S


def explicit_zeros(X):
    rows, columns = np.indices(X.shape).reshape(2, -1)
    return sparse.csr_array((X.ravel(), (rows, columns)), shape=X.shape)
