"""Documents: texts, lists of tokens, or counts of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.feature_extraction.text import CountVectorizer

from .. import kernels
from .._types import DocumentsLike, Matrix, MatrixLike
from .features import is_dask, validate_features

_LARGEST = 1e90  # largest count: sums over words and documents stay finite
_FEW = 20  # with fewer documents no word is too rare
_METHODS = ("fit_transform", "transform", "get_feature_names_out")


def given_tokens(document: Iterable[str]) -> Iterable[str]:
    """Analyze a document that is a list of tokens: return it unchanged."""
    return document


def rare(n_documents: int) -> int:
    """Return the default for the least number of documents that a word must be in."""
    return 2 if n_documents >= _FEW else 1


def is_text(X: DocumentsLike) -> bool:
    """Whether X is a sequence of texts or of lists of tokens, rather than a matrix of counts.

    Examples
    --------
    >>> is_text(["some words", ""]), is_text([["some", "words"], []]), is_text([[1, 0], [0, 2]])
    (True, True, False)
    """
    if sparse.issparse(X) or is_dask(X) or hasattr(X, "columns"):
        return False
    if isinstance(X, np.ndarray) or hasattr(X, "to_numpy"):
        X = np.asarray(X)
        return X.ndim == 1 and X.dtype.kind in "OUS"
    if not isinstance(X, Sequence):
        return False
    heads = [next(iter(document), "") if isinstance(document, (list, tuple)) else document for document in X]
    return len(heads) > 0 and not all(isinstance(head, (int, float, np.number, np.ndarray)) for head in heads)


def validate_documents(
    estimator: BaseEstimator, X: DocumentsLike, *, vectorizer: Any, default: Callable[[int], Any], reset: bool
) -> Any:
    """Return documents as a CSR matrix (n, V) of non-negative numbers in canonical form; float32 is kept.

    Parameters
    ----------
    estimator : estimator
        ``words_``, ``n_features_in_``, for texts ``vectorizer_`` and for data frames ``feature_names_in_`` are set on
        it (``reset=True``) or read from it.
    X : sequence of str, sequence of sequences of str, or matrix of shape (n, V)
    vectorizer : estimator or None
        The vectorizer of the user, which is cloned.
    default : callable
        Returns the default vectorizer for a number of documents. If it leaves no word, it is tried again without limits
        on the number of documents of a word, and then with stop words.
    reset : bool
        True in ``fit``, False in prediction.
    """
    if isinstance(X, (str, bytes)):
        raise TypeError("X must be a list of documents. Got a single string instead: pass [X].")
    if not is_text(X):
        if reset:
            estimator.__dict__.pop("vectorizer_", None)
        return _validate_counts(estimator, X, reset)
    documents = _validate_texts(X)
    if reset:
        # nothing is stored before the vectorizer is fitted, so that a failed fit changes nothing
        fitted, counts = _vectorized(documents, vectorizer, default)
        estimator.vectorizer_ = fitted
        estimator.words_ = np.asarray(fitted.get_feature_names_out(), dtype=object)
        estimator.n_features_in_ = len(estimator.words_)
        estimator.__dict__.pop("feature_names_in_", None)
    else:
        if not hasattr(estimator, "vectorizer_"):
            raise ValueError(
                f"This {type(estimator).__name__} was fitted on counts: X must be a matrix with "
                f"{estimator.n_features_in_} columns. Got texts instead."
            )
        counts = estimator.vectorizer_.transform(documents)
    return _canonical(counts)


def _validate_counts(estimator: BaseEstimator, X: MatrixLike, reset: bool) -> Any:
    if is_dask(X):
        raise TypeError(f"{type(estimator).__name__} takes no Dask array: pass X.compute().")
    X = validate_features(estimator, X, reset=reset, accept_sparse=True)
    if reset:
        names = getattr(estimator, "feature_names_in_", None)
        words = [f"x{j}" for j in range(X.shape[1])] if names is None else names
        estimator.words_ = np.asarray(words, dtype=object)
    return _canonical(X)


def _canonical(X: Matrix) -> Any:
    """Return a sorted CSR matrix of non-negative floats."""
    counts = sparse.csr_array(X)
    if counts.dtype not in (np.float64, np.float32):
        counts = counts.astype(np.float64)
    if counts.nnz:
        least, most = float(counts.data.min()), float(np.abs(counts.data).max())
        if not np.isfinite(counts.data).all():
            raise ValueError("The vectorizer gave entries that are not finite.")
        if least < 0:
            # the checks of scikit-learn look for these words
            raise ValueError(f"Negative values in data passed to X: counts must be >= 0. Got {least:.3g}.")
        if most > _LARGEST:
            raise ValueError(f"X must have entries below {_LARGEST:g}. Got {most:.3g} instead.")
    if not counts.has_canonical_format:
        counts = counts.copy()
        counts.sum_duplicates()
    if not counts.data.flags.c_contiguous or counts.indices.dtype != counts.indptr.dtype:
        counts = counts.copy()
    return counts


def _validate_texts(X: Any) -> list[Any]:
    """Return a list of strings, or of lists of strings."""
    documents = X.tolist() if isinstance(X, np.ndarray) else list(X)
    tokens = isinstance(documents[0], (list, tuple, np.ndarray)) if documents else False
    for i, document in enumerate(documents):
        right = (
            isinstance(document, (list, tuple, np.ndarray)) and all(isinstance(token, str) for token in document)
            if tokens
            else isinstance(document, str)
        )
        if not right:
            kind = "lists of strings" if tokens else "strings"
            raise TypeError(
                f"X must hold only {kind}. Got {document!r:.60} (a {type(document).__name__}) at {i} instead."
            )
    return documents


def _vectorized(documents: list[Any], vectorizer: Any, default: Callable[[int], Any]) -> tuple[Any, Any]:
    """Return a fitted vectorizer and the counts of the documents that it was fitted to."""
    if not documents:
        raise ValueError("X must hold at least one document. Got none: Found array with 0 sample(s).")
    if vectorizer is not None:
        missing = [name for name in _METHODS if not hasattr(vectorizer, name)]
        if missing or isinstance(vectorizer, type):
            raise TypeError(f"vectorizer must have {', '.join(_METHODS)}. Got {vectorizer!r} instead.")
        fitted = clone(vectorizer)
        return fitted, _not_empty(fitted, documents)
    tries: list[dict[str, Any]] = [{}, {"min_df": 1, "max_df": 1.0}, {"min_df": 1, "max_df": 1.0, "stop_words": None}]
    for changes in tries:
        fitted = default(len(documents)).set_params(**changes)
        if not isinstance(documents[0], str):
            fitted.set_params(analyzer=given_tokens, stop_words=None)
        elif kernels.use_compiled() and (counts := _counted(fitted, documents)) is not None:
            return fitted, counts
        try:
            return fitted, _not_empty(fitted, documents)
        except ValueError as error:
            if changes is tries[-1]:
                raise ValueError(f"X holds no words to cluster by: {error}") from error
    raise AssertionError


def _not_empty(vectorizer: Any, documents: list[Any]) -> Any:
    counts = vectorizer.fit_transform(documents)
    if counts.shape[1] == 0:
        raise ValueError("the vocabulary is empty")
    return counts


def _counted(vectorizer: CountVectorizer, documents: list[str]) -> Any:
    """Fit one of the default vectorizers to texts, quickly: the counts that its ``fit_transform`` gives, or None.

    None if no word is left.
    """
    words, counts, indices, indptr = kernels.compiled.count_tokens(documents)
    frequency, n = np.bincount(indices, minlength=len(words)), len(documents)
    limits = vectorizer.min_df, vectorizer.max_df
    least, most = (df if isinstance(df, int) else df * n for df in limits)
    skipped = vectorizer.get_stop_words() or ()
    found = np.flatnonzero((frequency >= least) & (frequency <= most)).tolist()
    found = sorted((j for j in found if words[j] not in skipped), key=words.__getitem__)
    if not found:
        return None
    vectorizer.fixed_vocabulary_ = False
    vectorizer.vocabulary_ = {words[j]: rank for rank, j in enumerate(found)}
    X = sparse.csr_array((counts, indices, indptr), shape=(n, len(words)))
    return X.tocsc()[:, found].tocsr()  # sorted by word, in linear time


def count_vectorizer(n_documents: int, **settings: Any) -> CountVectorizer:
    """Return a vectorizer that counts words that are neither English stop words nor rare."""
    return CountVectorizer(stop_words="english", **({"min_df": rare(n_documents)} | settings))


def words_of(weights: NDArray[np.float64], words: NDArray[Any], n_words: int) -> list[list[str]]:
    """Return the words of largest weight of each row of ``weights`` (K, V), heaviest first, without those of weight 0.

    Examples
    --------
    >>> words_of(np.array([[0.1, 0.0, 0.9], [0.2, 0.2, 0.1]]), np.array(["a", "b", "c"]), 2)
    [['c', 'a'], ['a', 'b']]
    """
    order = np.argsort(-weights, axis=1, kind="stable")[:, :n_words]
    return [[str(words[j]) for j in row if mine[j] > 0] for row, mine in zip(order, weights, strict=True)]
