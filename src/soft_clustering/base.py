"""The protocol that every estimator follows; nothing algorithmic lives here.

* :class:`BaseSoftClusterer`: ``fit``, then ``memberships_``, ``labels_``, ``n_clusters_``, ``get_cover``.
* :class:`InductiveSoftClusterer`: adds prediction for new data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from operator import is_
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags, TransformerTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ._rows import at_least, largest_columns, only_largest

if TYPE_CHECKING:
    import dask.array

Method = TypeVar("Method", bound=Callable[..., Any])
MembershipKind = Literal["partition", "possibilistic", "affiliation", "credal", "subpartition"]
Modality = Literal["features", "graph", "documents", "partitions", "image", "clients"]

__all__ = ["BaseSoftClusterer", "InductiveSoftClusterer"]


def labels_from_memberships(
    memberships: NDArray[Any] | sparse.csr_array | dask.array.Array,
    noise_mass: NDArray[Any] | dask.array.Array | float = 0.0,
) -> Any:
    """The argmax of each row, -1 where it is at most the noise mass; lazy if the memberships are a Dask array.

    Examples
    --------
    >>> import numpy as np
    >>> labels_from_memberships(np.array([[0.2, 0.8], [0.0, 0.0]]))
    array([ 1, -1])
    >>> labels_from_memberships(np.array([[0.2, 0.5], [0.1, 0.4]]), np.array([0.3, 0.5]))
    array([ 1, -1])
    """
    if sparse.issparse(memberships):
        return largest_columns(memberships)
    if not isinstance(memberships, np.ndarray):
        noise = noise_mass if isinstance(noise_mass, float) else noise_mass[:, None]
        return memberships.map_blocks(labels_from_memberships, noise, drop_axis=1, dtype=np.intp)
    if memberships.shape[1] == 0:
        return np.full(len(memberships), -1)
    labels = memberships.argmax(axis=1)
    labels[memberships[np.arange(len(labels)), labels] <= np.ravel(noise_mass)] = -1
    return labels


def without_noise(memberships: NDArray[Any], noise_mass: NDArray[Any] | None) -> NDArray[Any]:
    """The memberships with rows of zeros for samples that are noise, so that they count nowhere.

    Examples
    --------
    >>> import numpy as np
    >>> without_noise(np.array([[0.2, 0.5], [0.1, 0.4]]), np.array([0.3, 0.5]))
    array([[0.2, 0.5],
           [0. , 0. ]])
    """
    if noise_mass is None:
        return memberships
    return np.where(labels_from_memberships(memberships, noise_mass)[:, None] < 0, 0.0, memberships)


def check_top_k(top_k: object) -> None:
    """Raise an error unless this many entries of a row can be kept."""
    if not isinstance(top_k, (int, np.integer)) or top_k < 1:
        raise ValueError(f"top_k must be an int >= 1 or None. Got {top_k!r} instead.")


def as_fitted(method: Method) -> Method:
    """Decorate a method that reads parameters after the fit: it sees their values at the fit, whatever is set later."""

    @wraps(method)
    def with_parameters_of_fit(self: Any, *args: Any, **keywords: Any) -> Any:
        return method(self._as_fitted(), *args, **keywords)

    return cast(Method, with_parameters_of_fit)


def continues_fit(method: Method) -> Method:
    """Decorate ``partial_fit``: it continues with the parameters of ``fit`` or of its own first call."""

    @wraps(method)
    def with_parameters_of_fit(self: Any, *args: Any, **keywords: Any) -> Any:
        parameters = self.get_params(deep=False)
        fitted = vars(self).get("_fitted_parameters", parameters)
        vars(self).update(fitted)
        try:
            method(self, *args, **keywords)
        finally:
            vars(self).update(parameters)
        self._fitted_parameters = fitted
        return self

    return cast(Method, with_parameters_of_fit)


class BaseSoftClusterer(ClusterMixin, BaseEstimator):
    """A clusterer whose result is a membership matrix.

    A subclass writes ``fit``, which ends by calling ``_set_memberships``. Class attributes describe it:

    * ``modality``: what ``fit`` takes;
    * ``membership_kind``: ``"partition"`` (rows sum to 1), ``"possibilistic"`` (each entry in [0, 1]),
      ``"affiliation"`` (unbounded strength), ``"credal"`` (pignistic probabilities, rows sum to 1) or
      ``"subpartition"`` (the rest of a row is noise, ``noise_mass_``); a property where a parameter decides.
      ``partition_constrained`` tells whether the rows sum to 1;
    * ``finds_n_clusters``: whether ``n_clusters=None`` makes the method find the number of clusters. If False, None
      stands for the number of classes in ``y``.

    Parameters set after ``fit`` do not matter before the next one: a method that reads a parameter after the fit is
    decorated with ``as_fitted``, ``partial_fit`` with ``continues_fit``.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Finite and non-negative. Methods that compute sparse rows give a CSR array where an array would be too large.
    labels_ : ndarray of shape (n_samples,)
        The cluster of largest membership; -1 where a row is all zero, or the noise mass is at least as large.
    n_clusters_ : int
        The number of columns of ``memberships_``.
    noise_mass_ : ndarray of shape (n_samples,)
        The membership in the noise, if the kind is ``"subpartition"``.
    """

    modality: ClassVar[Modality] = "features"
    membership_kind: ClassVar[MembershipKind] = "partition"
    finds_n_clusters: ClassVar[bool] = True
    memberships_: NDArray[Any]
    labels_: NDArray[np.intp]
    n_clusters_: int
    noise_mass_: NDArray[Any]

    @property
    def partition_constrained(self) -> bool:
        """Whether the rows of ``memberships_`` sum to 1, as ``membership_kind`` says."""
        return self.membership_kind in ("partition", "credal")

    _partition_constrained = partition_constrained  # its name in the listings of the paper

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """The names of the constructor's parameters, cached: scikit-learn inspects the signature at every call."""
        names: list[str] = super()._get_param_names()
        return names

    def _as_fitted(self) -> Any:
        """The estimator with the parameters of its fit: a copy if others were set since."""
        fitted = self.__dict__.get("_fitted_parameters", {})
        if all(map(is_, map(self.__dict__.get, fitted), fitted.values())):
            return self
        model: Any = object.__new__(type(self))
        model.__dict__.update(self.__dict__ | fitted)
        return model

    def _forget(self, *names: str) -> None:
        """Drop these attributes, by default those that say that there was a fit."""
        fitted = [name for name in vars(self) if name.endswith("_")]
        for name in names or (*fitted, "_state", "_fitted_parameters"):
            self.__dict__.pop(name, None)

    def _set_memberships(self, memberships: NDArray[Any], noise_mass: NDArray[Any] | None = None) -> None:
        self.memberships_ = memberships
        if noise_mass is None:
            self.labels_ = labels_from_memberships(memberships)
        else:
            self.noise_mass_, self.labels_ = noise_mass, labels_from_memberships(memberships, noise_mass)
        self.n_clusters_ = memberships.shape[1]
        self._fitted_parameters = {name: getattr(self, name) for name in self._get_param_names()}

    def fit_predict(self, X: Any, y: ArrayLike | None = None, **fit_params: Any) -> NDArray[np.intp]:
        """Fit and return ``labels_``.

        Parameters
        ----------
        X : data of the estimator's modality
        y : array-like, default=None
            Passed on to ``fit``.
        **fit_params : dict
            Further keyword arguments of ``fit``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        labels: NDArray[np.intp] = self.fit(X, y, **fit_params).labels_
        return labels

    @as_fitted
    def get_cover(self, threshold: float | None = None, top_k: int | None = None) -> NDArray[np.bool_]:
        """The overlapping clusters: which sample belongs to which clusters.

        Parameters
        ----------
        threshold : float, default=None
            A sample belongs to a cluster when its membership is positive and at least this. ``None`` takes the
            method's own rule: its published threshold or approximation, otherwise 1 / K if rows sum to 1,
            1 / (K + 1) if the rest of a row is noise, and 0.5 for possibilistic memberships.
        top_k : int, default=None
            Keep at most this many clusters per sample, the ones of largest membership.

        Returns
        -------
        cover : ndarray or, if ``memberships_`` is one, CSR array of shape (n_samples, n_clusters), bool
        """
        check_is_fitted(self, "memberships_")
        memberships = self.memberships_
        cover: NDArray[np.bool_] = self._default_cover() if threshold is None else at_least(memberships, threshold)
        if top_k is not None:
            check_top_k(top_k)
            cover = only_largest(cover, memberships, top_k)
        return cover

    def _default_cover(self) -> NDArray[np.bool_]:
        if hasattr(self, "threshold_"):
            return self.get_cover(self.threshold_)
        shares = self.n_clusters_ + (self.membership_kind == "subpartition")
        threshold = 0.5 if self.membership_kind == "possibilistic" else 1 / shares
        # A row of equal memberships belongs to all clusters, whichever way 1 / K was rounded.
        cover: NDArray[np.bool_] = at_least(self.memberships_, threshold * (1 - 1e-6))
        return cover

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags(preserves_dtype=["float64", "float32"])
        return tags


def _rows_sum_to_one(estimator: BaseSoftClusterer) -> bool:
    return estimator.partition_constrained


class InductiveSoftClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseSoftClusterer):
    """A soft clusterer with a rule for new data: a subclass writes ``predict_memberships``.

    ``train_rule`` says what predicting the training data gives: ``"exact"``, the same memberships to 1e-9, or
    ``"reinferred"``, the memberships of a new sample in the same place.
    """

    train_rule: ClassVar[Literal["exact", "reinferred"]] = "exact"
    predict_noise_mass: Callable[..., NDArray[Any]]  # where the kind is "subpartition"

    def predict_memberships(self, X: Any) -> NDArray[Any]:
        """Memberships of new data.

        Parameters
        ----------
        X : data of the estimator's modality

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        raise NotImplementedError

    def predict(self, X: Any, **keywords: Any) -> NDArray[np.intp]:
        """The cluster of largest membership for new data; -1 where a row is all zero, or is noise.

        Parameters
        ----------
        X : data of the estimator's modality
        **keywords : dict
            Those of ``predict_memberships``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        memberships = self.predict_memberships(X, **keywords)
        noise_mass = self.predict_noise_mass(X) if self.membership_kind == "subpartition" else 0.0
        labels: NDArray[np.intp] = labels_from_memberships(memberships, noise_mass)
        return labels

    @available_if(_rows_sum_to_one)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, **keywords: Any) -> NDArray[Any]:
        """Memberships of new data; exists only if rows sum to 1.

        Parameters
        ----------
        X : data of the estimator's modality
        **keywords : dict
            Those of ``predict_memberships``.

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        return self.predict_memberships(X, **keywords)

    def transform(self, X: Any, **keywords: Any) -> NDArray[Any]:
        """Memberships of new data as features.

        Parameters
        ----------
        X : data of the estimator's modality
        **keywords : dict
            Those of ``predict_memberships``.

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        return self.predict_memberships(X, **keywords)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_clusters_)


class ImageResults:
    """Results per pixel in the shape of the image, for estimators that set ``image_shape_``."""

    memberships_: NDArray[Any]
    labels_: NDArray[np.intp]
    image_shape_: tuple[int, ...]

    @property
    def membership_image_(self) -> NDArray[Any]:
        """``memberships_`` on the grid of the pixels: a view of shape image_shape_ + (n_clusters,)."""
        return self.memberships_.reshape(*self.image_shape_, -1)

    @property
    def label_image_(self) -> NDArray[np.intp]:
        """``labels_`` on the grid of the pixels: a view of shape image_shape_."""
        return self.labels_.reshape(self.image_shape_)
