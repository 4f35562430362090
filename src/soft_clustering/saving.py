"""Fitted models in files: skops files, which hold data only, and joblib files, which run code when they are loaded."""

from __future__ import annotations

import inspect
import os
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import joblib

from . import __name__ as package
from ._extras import require
from ._text import one_line

__all__ = ["load_model", "save_model"]

SUFFIXES = (".skops", ".joblib")

#: Types of other packages inside our models that skops does not trust by itself. They hold data only.
_HARMLESS = frozenset(
    {
        "numpy.dtype",
        *(f"scipy.sparse._{kind}.{kind}_{form}" for kind in ("csr", "csc") for form in ("array", "matrix")),
        *("sklearn.neighbors._kd_tree.KDTree", "sklearn.neighbors._ball_tree.BallTree"),
        *(f"sklearn.metrics._dist_metrics.{name}Distance64" for name in ("Euclidean", "Manhattan", "Chebyshev")),
    }
)
#: Parts of this package that write files or start processes: no type of theirs belongs to a model.
_TOOLS = ("benchmarking", "cli", "datasets", "plotting", "report", "testing")


def save_model(path: str | os.PathLike[str], model: object) -> None:
    """Save a fitted model, with its preparation if it is a pipeline.

    Parameters
    ----------
    path : str or path
        ``.skops`` files hold data only and can be loaded without trust in who wrote them. ``.joblib`` files hold
        anything, and run code when they are loaded. An existing file is replaced.
    model : estimator
        For example ``make_pipeline(prepare(df), FCM())``, fitted.

    See Also
    --------
    load_model : the way back.

    Examples
    --------
    >>> import tempfile
    >>> from soft_clustering import FCM
    >>> from soft_clustering.saving import load_model, save_model
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> model = FCM(2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(f"{folder}/model.skops", model)
    ...     again = load_model(f"{folder}/model.skops")
    >>> bool((again.predict_memberships(X) == model.predict_memberships(X)).all())
    True
    """
    path = Path(path)
    if _suffix_of(path) == ".joblib":
        joblib.dump(model, path)
        return
    skops = require("skops.io", "Saving a model as .skops needs skops")
    try:
        content = skops.dumps(model)
        foreign = _untrusted(skops.get_untrusted_types(data=content))
    except Exception as error:  # of a type that skops cannot hold
        raise ValueError(f"{path}: skops cannot hold this model: {one_line(error)} Save it as .joblib.") from error
    if foreign:
        warnings.warn(
            f"{path} holds types that load_model trusts only with trust=True: {', '.join(foreign)}.",
            UserWarning,
            stacklevel=2,
        )
    path.write_bytes(content)


def load_model(path: str | os.PathLike[str], *, trust: bool = False) -> Any:
    """Load a model that :func:`save_model` wrote.

    Parameters
    ----------
    path : str or path
        A file that ends in ``.skops`` or ``.joblib``.
    trust : bool, default=False
        Whether you trust who wrote the file. Without trust, a ``.joblib`` file is refused, because it can run any code
        when it is loaded, and a ``.skops`` file may only hold types of this library, and of NumPy, SciPy and
        scikit-learn.

    Returns
    -------
    model : estimator

    See Also
    --------
    save_model : with an example.

    Examples
    --------
    >>> load_model("model.joblib")
    Traceback (most recent call last):
    ...
    ValueError: model.joblib can run any code when it is loaded: if you know who wrote it, load it with trust=True \
(--trust), otherwise ask for a .skops file.
    """
    path = Path(path)
    if _suffix_of(path) == ".joblib":
        if not trust:
            raise ValueError(
                f"{path} can run any code when it is loaded: if you know who wrote it, load it with trust=True "
                "(--trust), otherwise ask for a .skops file."
            )
        try:
            return joblib.load(path)
        except OSError:
            raise
        except Exception as error:
            raise ValueError(f"{path} is damaged or holds no model: {one_line(error)}") from error
    skops = require("skops.io", "Loading a model from .skops needs skops")
    content = path.read_bytes()
    try:
        types = skops.get_untrusted_types(data=content)
        foreign = [] if trust else _untrusted(types)
        if not foreign:
            return skops.loads(content, trusted=types)
    except Exception as error:
        raise ValueError(f"{path} is damaged or holds no model: {one_line(error)}") from error
    raise ValueError(
        f"{path} holds types that are not trusted: {', '.join(foreign)}. If you know who wrote it, load it with "
        "trust=True (--trust)."
    )


def _suffix_of(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path} must end in {' or '.join(SUFFIXES)}.")
    return suffix


def _untrusted(types: list[str]) -> list[str]:
    """Return the types that are neither harmless nor classes of this library that a model consists of."""
    return [name for name in types if name not in _HARMLESS and not _is_ours(name)]


def _is_ours(name: str) -> bool:
    """Whether a class is defined in a part of this library that only computes.

    Examples
    --------
    >>> _is_ours("soft_clustering.fuzzy.fcm.FCM"), _is_ours("soft_clustering.benchmarking.records.Journal")
    (True, False)
    >>> _is_ours("soft_clustering.saving.load_model"), _is_ours("soft_clustering.saving.Path")
    (False, False)
    """
    module, _, attribute = name.rpartition(".")
    top, *parts = module.split(".")
    if top != package or not parts or parts[0] in _TOOLS:
        return False
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError:
        return False
    return inspect.isclass(found) and found.__module__ == module
