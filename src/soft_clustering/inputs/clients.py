"""Tables of several clients: feature matrices with missing values (NaN) that share features by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _get_feature_names, check_array

from .._types import MatrixLike, Names

_LARGEST = 1e307  # the standard deviation of larger entries would overflow
_LARGEST_32 = 1e37


class Client(NamedTuple):
    """The canonical form of a client's table."""

    X: NDArray[Any]  # (n, d), float64 or float32, NaN where a value is missing
    features: tuple[str, ...]  # (d,)
    named: bool  # whether the names were given


def validate_client(X: MatrixLike, feature_names: Names | None = None, name: str = "X") -> Client:
    """Validate one table: finite or missing numbers, with a name per feature.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
    feature_names : sequence of d str, default=None
        None takes the column names of a data frame, and ``x0``, ``x1``, ... for other tables.
    name : str
        The name of the table in errors.
    """
    try:
        # check_array sums the entries to look for NaN; entries near the largest float overflow there.
        with np.errstate(over="ignore", invalid="ignore"):
            table: NDArray[Any] = check_array(
                X, dtype=[np.float64, np.float32], order="C", ensure_all_finite="allow-nan", input_name=name
            )
    except (ValueError, TypeError) as error:
        raise type(error)(f"{name} must be a matrix of numbers, NaN where one is missing: {error}") from error
    largest = _LARGEST if table.dtype == np.float64 else _LARGEST_32
    if np.nanmax(np.abs(table), initial=0.0) > largest:
        raise ValueError(f"{name} must have entries below {largest:g} in absolute value.")
    names = _get_feature_names(X) if feature_names is None else feature_names
    if names is None:
        return Client(table, tuple(f"x{j}" for j in range(table.shape[1])), False)
    if isinstance(names, str) or not all(isinstance(feature, str) for feature in names):
        raise TypeError(f"feature_names of {name} must be strings. Got {names!r} instead.")
    if len(names) != table.shape[1] or len(set(names)) != len(names):
        raise ValueError(
            f"feature_names of {name} must be {table.shape[1]} different names, one per column. Got {list(names)} "
            "instead."
        )
    return Client(table, tuple(str(feature) for feature in names), True)


def validate_clients(
    X: Sequence[MatrixLike], feature_names: Names | Sequence[Names | None] | None = None
) -> list[Client]:
    """Validate the tables of all clients.

    Parameters
    ----------
    X : list or tuple of array-likes of shapes (n_c, d_c)
    feature_names : sequence of str or sequence of those, default=None
        Names that all clients share, or one sequence of names per client. Without names all tables need the same
        number of columns.
    """
    if not isinstance(X, (list, tuple)):
        raise TypeError(
            "X must be a list of matrices (n_samples, n_features), one per client: pass [X] for a single client. Got "
            f"{type(X).__name__} instead."
        )
    if len(X) == 0:
        raise ValueError("X must hold at least one client. Got an empty list instead.")
    names = _names_per_client(feature_names, len(X))
    clients = [validate_client(table, own, f"X[{c}]") for c, (table, own) in enumerate(zip(X, names, strict=True))]
    if len({client.named for client in clients}) > 1:
        raise ValueError("feature_names must be known for all clients or for none: some of X are data frames.")
    if not clients[0].named and len({len(client.features) for client in clients}) > 1:
        widths = [len(client.features) for client in clients]
        raise ValueError(f"feature_names is required if clients differ in their number of features. Got {widths}.")
    return clients


def _names_per_client(feature_names: Names | Sequence[Names | None] | None, n_clients: int) -> Sequence[Any]:
    if feature_names is None:
        return [None] * n_clients
    if isinstance(feature_names, str) or not isinstance(feature_names, (Sequence, np.ndarray)):
        raise TypeError(
            "feature_names must be a sequence of strings, or one such sequence per client. Got "
            f"{feature_names!r} instead."
        )
    if all(isinstance(feature, str) for feature in feature_names):
        return [feature_names] * n_clients
    if len(feature_names) != n_clients:
        raise ValueError(f"feature_names must have an entry per client, {n_clients}. Got {len(feature_names)} instead.")
    return list(feature_names)


def align_features(tables: Iterable[Sequence[str]], align: Literal["union", "intersection"]) -> list[str]:
    """Return the features of any table (union) or of all (intersection), in the order in which they first appear.

    Examples
    --------
    >>> align_features([["a", "b"], ["c", "b"]], "union")
    ['a', 'b', 'c']
    >>> align_features([["a", "b"], ["c", "b"]], "intersection")
    ['b']
    """
    tables = [list(table) for table in tables]
    union = dict.fromkeys(feature for table in tables for feature in table)
    return [feature for feature in union if align == "union" or all(feature in table for table in tables)]
