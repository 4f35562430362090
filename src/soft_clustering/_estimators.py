"""Estimators with scikit-learn's interface, from this library or another."""

from __future__ import annotations

from typing import Any, Protocol


class Estimator(Protocol):
    """What this library asks of an estimator that it is given."""

    def fit(self, X: Any) -> Any:
        """Fit to the data and return the estimator."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by their names."""

    def set_params(self, **parameters: Any) -> Any:
        """Set parameters and return the estimator."""


def is_estimator(value: object) -> bool:
    """Whether the value is an instance with ``fit`` and ``get_params``, not a class.

    Examples
    --------
    >>> from soft_clustering import FCM
    >>> is_estimator(FCM()), is_estimator(FCM), is_estimator("FCM")
    (True, False, False)
    """
    return not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "get_params")


def set_seeds(estimator: Estimator, seed: int) -> None:
    """Set every ``random_state`` that is None, of the estimator and of those inside it.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from soft_clustering import FCM
    >>> pipeline = make_pipeline(FCM())
    >>> set_seeds(pipeline, 7)
    >>> pipeline.get_params()["fcm__random_state"]
    7
    """
    parameters = estimator.get_params(deep=True)
    names = [name for name in parameters if name.rpartition("__")[2] == "random_state" and parameters[name] is None]
    estimator.set_params(**dict.fromkeys(names, seed))
