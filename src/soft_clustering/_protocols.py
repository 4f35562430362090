"""What this library asks of objects that others write."""

from __future__ import annotations

from typing import Any, Protocol


class Estimator(Protocol):
    """A clusterer with scikit-learn's interface, from this library or another."""

    def fit(self, X: Any) -> Any:
        """Fit to the data and return the estimator."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by their names."""

    def set_params(self, **parameters: Any) -> Any:
        """Set parameters and return the estimator."""
