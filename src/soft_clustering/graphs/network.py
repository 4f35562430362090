"""What the estimators of graphs share: input, new nodes, a spectral start."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import ArpackError, eigsh
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..base import InductiveSoftClusterer, Modality
from ..engine.alternating import Run, best_run, objective_change
from ..engine.threads import single_threaded_blas
from ..inputs.features import check_enough_samples
from ..inputs.graphs import validate_graph, validate_links

Array = NDArray[np.float64]
_SMALL = 50  # nodes, up to which all eigenvectors are computed


class GraphClusterer(InductiveSoftClusterer):
    """A soft clusterer of the nodes of a graph. New nodes come as rows of links to the nodes of ``fit``.

    ``_binary`` says whether the model knows only links that are there or not.
    """

    modality: ClassVar[Modality] = "graph"
    train_rule: ClassVar[Literal["exact", "reinferred"]] = "reinferred"
    _binary: ClassVar[bool] = False

    def _graph(self, X: Any) -> Any:
        """The adjacency matrix for ``fit``: symmetric CSR without a diagonal, in float64 or float32."""
        self._forget("memberships_", "labels_")  # a failed fit is no fit
        A = validate_graph(self, X, binary=self._binary)
        if self.n_clusters is not None:
            check_enough_samples(A.shape[0], self.n_clusters)
        return A

    def _links(self, X: Any) -> Any:
        """Links of new nodes."""
        check_is_fitted(self, "memberships_")
        return validate_links(self, X, binary=self._binary)

    def get_communities(self, threshold: float | None = None, top_k: int | None = None) -> list[list[Any]]:
        """The overlapping communities as lists of nodes.

        Parameters
        ----------
        threshold, top_k : as for ``get_cover``

        Returns
        -------
        communities : list of list
            The nodes of each community, in the order of the columns of ``memberships_`` and with the names of
            ``node_names_``; a community without nodes is an empty list.
        """
        cover = self.get_cover(threshold, top_k)
        return [self.node_names_[members].tolist() for members in cover.T]

    def _strengths(self) -> NDArray[Any]:
        """What ``threshold_`` is compared with."""
        return self.memberships_

    def _default_cover(self) -> NDArray[np.bool_]:
        """Strengths from ``threshold_`` on; a node that has none belongs to its strongest community, as ``labels_``."""
        if not hasattr(self, "threshold_"):
            return super()._default_cover()
        strengths = self._strengths()
        # Equal strengths are members of all, whichever way they were rounded.
        least = np.minimum(self.threshold_, strengths.max(axis=1, keepdims=True)) * (1 - 1e-6)
        cover: NDArray[np.bool_] = (strengths >= least) & (strengths > 0)
        return cover

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        return tags


def row_sums(links: Any) -> Array:
    """Sums of the rows of a matrix, (n,), in double precision: those of large weights are no float32."""
    return np.asarray(links.astype(np.float64).sum(axis=1)).ravel()


def soft_modularity(A: Any, C: Any) -> float:
    """tr(C^T B C) / 2m: for memberships of 0 and 1 the modularity of the partition.

    Examples
    --------
    >>> A = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> soft_modularity(A, np.repeat(np.eye(2), 2, axis=0))
    0.5
    """
    A = A.astype(np.float64)
    degrees = row_sums(A)
    total = degrees.sum()
    return float(np.vdot(C, A @ C) / total - np.square(degrees / total @ C).sum())


def mean_weight(A: Any) -> float:
    """The mean weight of a link: the unit in which nothing depends on the unit of the weights."""
    return float(A.data.mean(dtype=np.float64))


def neighbour_means(links: Any, rows: NDArray[Any]) -> Array:
    """Mean of the rows of the linked nodes, weighted by the links; zeros without a link."""
    links = links.astype(np.float64)
    sums = row_sums(links)[:, None]
    means: Array = (links @ rows) / np.where(sums > 0, sums, 1.0)
    return means


def spectral_labels(A: Any, K: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Clusters of the nodes in the leading eigenvectors of the regularised normalised adjacency matrix.

    Degrees are raised by their mean, which keeps small components from taking the eigenvectors.
    """
    n = A.shape[0]
    if K == 1:
        return np.zeros(n, dtype=np.intp)
    degree = row_sums(A)
    root = sparse.diags_array(1 / np.sqrt(degree + max(degree.mean(), np.finfo(float).tiny)))
    L = root @ A.astype(np.float64) @ root
    start = rng.uniform(size=n)
    if n <= max(_SMALL, 3 * K):
        vectors = np.linalg.eigh(L.toarray())[1][:, -K:]
    else:
        try:
            vectors = eigsh(L, k=K, which="LA", v0=start)[1]
        except ArpackError:
            vectors = rng.normal(size=(n, K))
    return cluster_directions(vectors, K, 10, rng)


def cluster_directions(vectors: Array, K: int, n_init: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Clusters of vectors by their directions, by k-means."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = vectors / np.where(norms > 0, norms, 1.0)
    seed = rng.randint(2**31 - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different directions than clusters
        labels: NDArray[np.intp] = KMeans(K, n_init=n_init, random_state=seed).fit(rows).labels_
    return labels


class Interrupted(KeyboardInterrupt):
    """KeyboardInterrupt with the run that it ended."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run


def iterate(
    model: Any, state: Any, step: Callable[[Any], tuple[Any, float]], change: Callable[..., float] = objective_change
) -> Run:
    """Repeat ``step``, from a state to the next one and its objective, until ``change`` is at most ``model.tol``."""
    run = Run(state)
    for _ in range(model.max_iter):
        try:
            new, objective = step(run.state)
        except KeyboardInterrupt as interrupt:
            raise Interrupted(run) from interrupt
        run.n_iter += 1
        run.history.append(objective)
        run.residual = change(run.state, new, run.history)
        run.state = new
        if model.verbose > 1:
            print(f"{type(model).__name__} pass {run.n_iter}: objective {objective:.8g}, change {run.residual:.3g}")
        if run.residual <= model.tol:
            run.converged = True
            break
    return run


def best_of_starts(
    model: Any, n_init: int, start: Callable[[], Run], limit: Literal["max_iter", "max_epochs"] = "max_iter"
) -> Run:
    """The best of ``n_init`` runs; its history becomes the model's. ``limit`` is the parameter that may end a run.

    An interrupted run may be the best one too, if it has made a pass: it comes with the exception.
    """
    unit = {"max_iter": "passes", "max_epochs": "epochs"}[limit]
    rivals: list[Run] = []  # the best so far; the others are not needed, and a state may be large
    for i in range(n_init):
        try:
            with single_threaded_blas():
                rivals.append(start())
        except Interrupted as interrupt:
            run = best_run([*rivals, interrupt.run], model._objective_sense)
            if run is None:
                raise KeyboardInterrupt from interrupt
            _store_history(model, run)
            raise Interrupted(run) from interrupt
        if model.verbose:
            ending = "converged" if rivals[-1].converged else "not converged"
            shown = f"objective {rivals[-1].history[-1]:.8g}, {rivals[-1].n_iter} {unit}, {ending}"
            print(f"{type(model).__name__} start {i + 1}/{n_init}: {shown}")
        run = best_run(rivals, model._objective_sense)
        assert run is not None
        rivals = [run]
    run = rivals[0]
    _store_history(model, run)
    most = getattr(model, limit)
    if not run.converged and most > 1 and model.tol is not None:
        warnings.warn(
            f"{type(model).__name__} did not converge in {limit}={most} {unit} (last change {run.residual:.2g}, "
            f"tol={model.tol:.2g}). Increase {limit} or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return run


def _store_history(model: Any, run: Run) -> None:
    model.objective_history_ = np.array(run.history)
    model.objective_ = float(run.history[-1])
    model.n_iter_, model.converged_ = run.n_iter, run.converged


def without_links(model: Any, memberships: NDArray[Any]) -> None:
    """Fitted attributes of a graph without links, where there is nothing to learn."""
    model.objective_, model.objective_history_ = 0.0, np.zeros(1)
    model.n_iter_, model.converged_ = 1, True
    model._set_memberships(memberships)
