"""Overlapping communities by label propagation with the influence of neighbours.

Every node begins with a label of its own and hears those of its neighbours, who do not count alike:

* importance I_u: of d_u + t_u, the links of node u and the triangles that it is in, scaled to [0.5, 1];
* similarity of linked nodes: s_uv = 1 + c_uv / 2 + w_uv / 3 by walks of one, two and three steps from u to v that do
  not come back to u, divided by the root of sum_w s_uw * sum_w s_vw;
* influence of v on u: f_uv = sqrt(I_v sim_uv / max_w sim_uw).

In a sweep each node, the least important one first, hears the first label of each neighbour, with the coefficient that
the neighbour has for it times f_uv. It keeps the labels that it hears at least as much as the mean one; their sums,
divided to add up to 1, are its coefficients, and the largest is its first label. The sweeps end when no first label
changes.

References
----------
M. Lu, Z. Zhang, Z. Qu, Y. Kang (2019). LPANNI: overlapping community detection using label propagation in large-scale
complex networks. IEEE Transactions on Knowledge and Data Engineering 31(9), 1736-1749.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval

from .._rows import dense_unless_large, entries, largest_columns, row_maxima, with_even_rows, with_sum_1
from .._types import Array, GraphLike, MatrixLike
from ..base import as_fitted
from ..engine.fitting import Fit, not_converged, say
from ..engine.loop import Policy, Run, silent
from ..kernels.propagation import EQUAL, Labels, propagate, walks, walks_from
from .louvain import clearly_better_labels
from .network import in_units, row_sums, weight_unit
from .shares import CommunityFinder, communities

if TYPE_CHECKING:
    from typing import Self

_THRESHOLD = 0.25  # coefficient of a member
_MIN_SIZE, _MAX_ITER = 3, 100
_HUB = 10  # in roots of the number of links: the degree from which on no walk is made over a node
_LEAST_HUB = 10_000  # the walks over a node of fewer links take no time


class LPANNI(CommunityFinder):
    """Overlapping communities by label propagation, in which more important and more similar neighbours count more.

    It finds the number of communities, draws no random numbers, and takes about as long as reading the graph.

    Parameters
    ----------
    min_size : int, default=3
        A label that fewer nodes hold is no community: its nodes go to their other labels or, if they have none, to the
        communities of their neighbours. If these have none, either, the label stays: a separate part of the graph is a
        community of its own.
    max_iter : int, default=100
        Largest number of sweeps.
    verbose : int, default=0
        1 prints a line, 2 a line per sweep.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_nodes, n_clusters_)
        Coefficients of the communities, rows sum to 1; equal ones for a node without links. A CSR array if it has more
        than 1e8 entries.
    labels_ : ndarray of shape (n_nodes,)
        Community of largest coefficient.
    n_clusters_ : int
        Also readable as ``n_clusters`` after ``fit``; it cannot be prescribed. The largest community is the first one.
    importances_ : ndarray of shape (n_nodes,)
        In [0.5, 1]; 1 if all are the same.
    threshold_ : float
        0.25: the coefficient from which on a node is a member, for ``get_cover``, beside the largest one.
    node_names_ : ndarray of shape (n_nodes,)
    n_iter_ : int
        Sweeps.
    converged_ : bool

    See Also
    --------
    soft_clustering.LinkMixture : takes these communities as its start.
    soft_clustering.BayesianNMF : finds the number of communities, too.

    Notes
    -----
    The rule is that of [1]_ as public code states it; we have not compared it with the paper. Ours are the use of
    weights, of which a triangle and a walk have the product, the removal of small labels, the threshold, the order of
    equal labels (the present one, then by the number of the neighbour), and the rule for new nodes: one step of the
    method, with what the nodes of ``fit`` have in the end.

    Dense communities inside each other become one. Where labels tie, the order of the nodes decides. Where communities
    are large and sparse, or many nodes are in several, one label may run over all of them. A warning says so if the
    communities that are left have less modularity than the best ones of a random graph (by the formula of [2]_), while
    the Louvain method finds 1.2 times as much as that.

    The influences take O(sum of squared degrees) time, on all cores, a sweep O(links); memory is O(links). Of nodes
    with more than 10 sqrt(links) neighbours, and at least 10,000, this would be too much: walks over them are left
    out, with a warning.

    References
    ----------
    .. [1] M. Lu, Z. Zhang, Z. Qu, Y. Kang (2019). LPANNI: overlapping community detection using label propagation in
       large-scale complex networks. IEEE Transactions on Knowledge and Data Engineering 31(9), 1736-1749.
    .. [2] J. Reichardt, S. Bornholdt (2006). When are networks truly modular? Physica D 224, 20-26.

    Examples
    --------
    Two groups of six, and a node with two links to each:

    >>> import numpy as np
    >>> from soft_clustering import LPANNI
    >>> A = np.zeros((13, 13))
    >>> A[:6, :6] = A[7:, 7:] = 1
    >>> A[6, [4, 5, 7, 8]] = A[[4, 5, 7, 8], 6] = 1
    >>> model = LPANNI().fit(A)
    >>> model.n_clusters_
    2
    >>> model.memberships_[[0, 6, 12]].round(2)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """

    importances_: Array
    _state: Heard
    _policy = Policy(place=None)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_size": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
    }

    def __init__(self, *, min_size: int = _MIN_SIZE, max_iter: int = _MAX_ITER, verbose: int = 0) -> None:
        self.min_size = min_size
        self.max_iter = max_iter
        self.verbose = verbose

    def fit(self, X: GraphLike, y: object = None) -> Self:
        """Find the communities of a graph.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of edges
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[Labels](self) as fit:
            fit.unit = "sweep"
            A = self._graph(X)
            self.threshold_ = _THRESHOLD
            influences = Influences.of(A)
            if not influences.passable.all():
                fit.warn(
                    f"LPANNI leaves out walks over {np.count_nonzero(~influences.passable)} nodes of more than "
                    f"{np.diff(A.indptr)[influences.passable].max(initial=0)} neighbours, which would take too long"
                )
            run = Run(Labels.of_nodes(A))

            def store(run: Run[Labels]) -> list[str]:
                self.importances_ = influences.importances
                rows = communities(influences.A, run.state.rows(A), self.min_size)[0]
                self._state = Heard.of(influences, rows)
                self._set_memberships(dense_unless_large(with_even_rows(rows).astype(A.dtype)))
                say(self, f"{self.n_clusters_} communities, {run.n_iter} sweeps, {run.ending}")
                return [*not_converged(self, run, passes="sweeps", remedy=""), *ran_over(A, rows)]

            fit.stores(store)
            fit.runs.append(run)
            spread(influences, run, self.max_iter, fit.report)
        return self

    @as_fitted
    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Coefficients of new nodes, each for itself.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_nodes)
            Links of the new nodes to the nodes of ``fit``.

        Returns
        -------
        memberships : ndarray of shape (n_new, n_clusters)
            A CSR array if it has more than 1e8 entries.
        """
        links = self._links(X)
        rows = self._state.coefficients(links.astype(np.float64))
        memberships: NDArray[Any] = dense_unless_large(with_even_rows(rows).astype(links.dtype))
        return memberships


class Influences(NamedTuple):
    """How much the nodes of a graph say to each other."""

    A: sparse.csr_array  # the weights of the links, in units of one
    unit: float
    passable: NDArray[np.bool_]  # (n,), whether walks are made over a node
    importances: Array  # (n,)
    sums: Array  # (n,), sums of the similarities s_uv; 1 for a node without links
    values: Array  # (links,)

    @classmethod
    def of(cls, A: sparse.csr_array) -> Influences:
        """The influences in a graph; those of equal weights are those of no weights."""
        unit = weight_unit(A)
        A, degree = in_units(A, unit), np.diff(A.indptr)
        passable = degree <= max(_HUB * np.sqrt(A.nnz), _LEAST_HUB)
        two, three = walks(A, passable)
        triangles = row_sums(sparse.csr_array((A.data * two, A.indices, A.indptr), shape=A.shape)) / 2
        importances = scaled(row_sums(A) + triangles, degree > 0)
        similar = sparse.csr_array((A.data + two / 2 + three / 3, A.indices, A.indptr), shape=A.shape)
        sums = np.where(degree > 0, row_sums(similar), 1.0)
        return cls(A, unit, passable, importances, sums, influence(A, similar.data, importances, sums))


def scaled(x: Array, counts: NDArray[np.bool_]) -> Array:
    """0.5 for the least and 1 for the largest of the numbers that count, 1 if all are the same; 0.5 for the others."""
    least, most = x[counts].min(initial=np.inf), x[counts].max(initial=-np.inf)
    return np.where(counts, 0.5 + 0.5 * (x - least) / (most - least) if most > least else 1.0, 0.5)


def influence(links: sparse.csr_array, similar: Array, importances: Array, sums: Array) -> Array:
    """The weights of links to nodes of a graph times the influence of these nodes."""
    similar = similar / np.sqrt(sums[links.indices])
    most = row_maxima(sparse.csr_array((similar, links.indices, links.indptr), shape=links.shape))[:, 0]
    relative = similar / np.repeat(most, np.diff(links.indptr))
    values: Array = links.data * np.sqrt(importances[links.indices] * relative)
    return values


def spread(
    influences: Influences, run: Run[Labels], max_iter: int, report: Callable[[Run[Labels]], None] = silent
) -> None:
    """Sweep until no first label changes; the state of the run changes in place."""
    order = np.argsort(influences.importances, kind="stable")
    while not run.converged and run.n_iter < max_iter:
        run.residual = propagate(influences.A, influences.values, order, run.state)
        run.n_iter += 1
        run.converged = run.residual == 0
        report(run)


def propagated_labels(A: sparse.csr_array) -> NDArray[np.intp]:
    """The labels that LPANNI gives to the nodes of a graph; -1 without a community."""
    influences, run = Influences.of(A), Run(Labels.of_nodes(A))
    spread(influences, run, _MAX_ITER)
    return largest_columns(communities(influences.A, run.state.rows(A), _MIN_SIZE)[0])


def ran_over(A: sparse.csr_array, rows: sparse.csr_array) -> list[str]:
    """What to warn of if the labels of these coefficients have run over communities."""
    better = clearly_better_labels(A, largest_columns(rows))
    if better is None:
        return []
    return [
        f"LPANNI: labels ran over most of the graph. The {rows.shape[1]} communities that are left have less "
        f"modularity than those of a random graph; Louvain's method finds {better.max() + 1}, and LinkMixture() "
        "begins with these"
    ]


def found_labels(A: sparse.csr_array) -> tuple[NDArray[np.intp], str]:
    """The communities of nodes to start from, -1 for none, and where they are from.

    They are from ``'propagation'``, by LPANNI, or from ``'modularity'`` where its labels have run over them.
    """
    labels = propagated_labels(A)
    better = clearly_better_labels(A, labels)
    return (labels, "propagation") if better is None else (better, "modularity")


class Heard(NamedTuple):
    """What new nodes hear from the nodes of ``fit``."""

    influences: Influences
    first: sparse.csr_array  # (n, K), the largest coefficient of each node

    @classmethod
    def of(cls, influences: Influences, rows: sparse.csr_array) -> Heard:
        """What is heard of nodes with these coefficients."""
        label = largest_columns(rows)
        nodes = np.flatnonzero(label >= 0)
        first = sparse.csr_array((row_maxima(rows)[nodes, 0], (nodes, label[nodes])), shape=rows.shape)
        return cls(influences, first)

    def coefficients(self, links: sparse.csr_array) -> sparse.csr_array:
        """The coefficients after one step; an empty row for a node that hears nothing."""
        links = in_units(links, self.influences.unit)
        two, three = walks_from(links, self.influences.A, self.influences.passable)
        similar = links.data + two / 2 + three / 3
        values = influence(links, similar, self.influences.importances, self.influences.sums)
        heard = sparse.csr_array((values, links.indices, links.indptr), shape=links.shape) @ self.first
        heard.sort_indices()
        counts = np.diff(heard.indptr)
        least = np.repeat(row_sums(heard) / np.maximum(counts, 1), counts) * EQUAL
        return with_sum_1(entries(heard, heard.data >= least))
