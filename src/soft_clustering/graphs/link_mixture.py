"""A mixture over the links of a graph: every link comes from one community, and a node's shares are those of its links.

The number of links between i and j, or their weight A_ij, is Poisson with mean sum_z theta_iz theta_jz. The log
likelihood, but for a constant, is sum_{i<j} A_ij log(theta_i . theta_j) - sum_z (sum_i theta_iz)^2 / 2. A pass of EM:

* q_ij(z) = theta_iz theta_jz / theta_i . theta_j, the probability that a link comes from community z;
* k_iz = sum_j A_ij q_ij(z), the links that node i has there, which add up to all its links; kappa_z = sum_i k_iz;
* theta_iz = k_iz / sqrt(kappa_z).

The memberships are k_iz / sum_z k_iz. What is 0 stays 0, so rows are sparse: a node begins with its own community and
those of its neighbours.

References
----------
B. Ball, B. Karrer, M. E. J. Newman (2011). Efficient and principled method for detecting communities in networks.
Phys. Rev. E 84, 036103.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from .._rows import dense_unless_large, entries, with_even_rows, with_sum_1
from .._types import Array, GraphLike, MatrixLike, Seed
from ..base import as_fitted
from ..engine.alternating import PARAMETERS, is_drawn
from ..engine.fitting import Fit, not_converged
from ..engine.loop import Policy, Run, finished, iterate, objective_change
from ..inputs.features import naming, validate_matrix
from ..kernels.links import link_rows
from .louvain import louvain_labels
from .lpanni import found_labels, propagated_labels
from .network import GraphClusterer, in_units, one_hot, row_sums, weight_unit
from .spectral import spectral_labels

if TYPE_CHECKING:
    from typing import Self

_PREDICTION_STEPS = 100
Labels = NDArray[np.intp]  # of the nodes to start from, -1 for none
#: The starts that find the number of communities: from links, resolution and random state.
FINDING: dict[str, Callable[[sparse.csr_array, float, np.random.RandomState], Labels]] = {
    "propagation": lambda A, resolution, rng: propagated_labels(A),
    "modularity": louvain_labels,
}


class LinkMixture(GraphClusterer):
    """Mixture over links: every link belongs to one community, and a node to those of its links, by their shares.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of communities. None takes that of the start, or of ``'auto'`` for a start that needs it.
    init : {'auto', 'propagation', 'modularity', 'spectral', 'random'} or array of shape (n_nodes, n_clusters), \
            default='auto'
        Starting communities. Two kinds find their number: ``'propagation'``, those of
        :class:`~soft_clustering.LPANNI`, and ``'modularity'``, those of large modularity (Louvain's method). The others
        are ``'spectral'``, clusters of a spectral embedding; ``'random'``, random memberships, which need several
        starts; or memberships, which force one start. A node begins half with its own and half with the communities
        of its neighbours. ``'auto'`` is ``'spectral'`` where ``n_clusters`` is given. Where it is None, it is
        ``'propagation'``, or ``'modularity'`` of resolution 1 on a graph whose communities the labels of LPANNI run
        over, see Notes; both without random numbers.
    resolution : float, default=1.0
        Of ``'modularity'``: the larger, the more communities.
    prune_tol : float, default=1e-3
        Memberships that shrink and together explain less than this part of each link are set to 0.
    n_init : int, default=1
        Starts that draw random numbers; the one of largest likelihood is kept.
    max_iter : int, default=500
        Passes per start.
    tol : float, default=1e-6
        Converged when the log likelihood changes by at most this part of itself.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_nodes, n_clusters_)
        Shares of a node's links, rows sum to 1; equal ones for a node without links. A CSR array if it has more than
        1e8 entries.
    labels_ : ndarray of shape (n_nodes,)
        Community of largest share.
    n_clusters_ : int
    strengths_ : ndarray of shape (n_nodes, n_clusters_), or CSR array as ``memberships_``
        theta: the expected weight of a link is the product of two rows.
    init_ : str
        The start that was used; ``'array'`` for memberships.
    link_weights_ : ndarray of shape (n_clusters_,)
        kappa: expected weight of the link ends in each community.
    threshold_ : float
        0.25: the share from which on a node is a member, for ``get_cover``, beside the largest one.
    node_names_ : ndarray of shape (n_nodes,)
    objective_ : float
        Log likelihood without its constant, in units of the mean weight; maximised.
    objective_history_ : ndarray
        The log likelihood before each pass.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.LPANNI : finds the communities of the default start, in a fraction of the time.
    soft_clustering.MMSB : for blocks with any pattern of links.

    Notes
    -----
    Model and passes are those of [1]_; with weights the likelihood is a quasi-likelihood. The starts, the sparse rows,
    the threshold and the rule for new nodes are ours. Degrees need no correction: a node of many links has large
    strengths.

    The likelihood always rises with the number of communities, so it cannot choose it, and nothing in a pass splits a
    community: without ``n_clusters`` there are as many as the start finds, less those that lose all links.

    Labels run over communities that are large and sparse or share many nodes, and LPANNI then finds one community, or
    a few with one much too large. ``'auto'`` takes those of Louvain's method instead if those of LPANNI have less
    modularity than the best ones of a random graph of this density have by the formula of [2]_, while Louvain's have
    1.2 times as much as that. In graphs drawn at random the labels run over all, too, and one community remains.

    For new nodes the strengths of the nodes of ``fit`` are kept, and the passes run for the new rows alone.

    A pass costs O(links times communities that two linked nodes have), on all cores; memory is
    O(links + memberships that are not 0). Results are bitwise the same for any number of threads.

    References
    ----------
    .. [1] B. Ball, B. Karrer, M. E. J. Newman (2011). Efficient and principled method for detecting communities in
       networks. Phys. Rev. E 84, 036103.
    .. [2] J. Reichardt, S. Bornholdt (2006). When are networks truly modular? Physica D 224, 20-26.

    Examples
    --------
    Two groups of six that share a node:

    >>> import numpy as np
    >>> from soft_clustering import LinkMixture
    >>> A = np.zeros((11, 11))
    >>> A[:6, :6] = A[5:, 5:] = 1
    >>> model = LinkMixture(n_clusters=2, random_state=0).fit(A)
    >>> model.memberships_[5].round(2)
    array([0.5, 0.5])
    >>> model.get_cover().sum(axis=1)
    array([1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1])
    >>> model.predict_links([[0, 1], [5, 6]]).max(axis=1).round(2)
    array([1., 1.])
    """

    init_: str
    link_weights_: Array
    threshold_: float
    _policy = Policy(sense="max", residual=objective_change, by_objective=True, place=None)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "n_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"auto", "spectral", "random", *FINDING}), "array-like"],
        "resolution": [Interval(Real, 0, None, closed="neither")],
        "prune_tol": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        init: str | ArrayLike = "auto",
        resolution: float = 1.0,
        prune_tol: float = 1e-3,
        n_init: int = 1,
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.resolution = resolution
        self.prune_tol = prune_tol
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: GraphLike, y: object = None) -> Self:
        """Fit the communities of a graph.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of edges
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[sparse.csr_array](self) as fit:
            A = self._graph(X)
            self.threshold_ = 0.25
            self._unit = weight_unit(A)
            links = in_units(A, self._unit)
            found = self._resolve_start(links)
            rng = check_random_state(self.random_state)
            # A membership may be set to 0 if it explains little of the faintest link of its node.
            faintest = np.full(A.shape[0], np.inf)
            linked = np.diff(A.indptr) > 0
            faintest[linked] = np.minimum.reduceat(links.data, A.indptr[:-1][linked]) if A.nnz else []

            def step(theta: sparse.csr_array) -> tuple[sparse.csr_array, float]:
                k, logs = link_rows(links, theta, theta)
                totals = column_sums(theta)
                counts = np.diff(theta.indptr)
                least = np.repeat(self.prune_tol * faintest / np.maximum(counts, 1), counts)
                kept = (k >= least) | (k >= theta.data * totals[theta.indices])
                ends = sparse.csr_array((k, theta.indices, theta.indptr), shape=theta.shape)
                return strengths(entries(ends, kept & (k > 0))), float(logs.sum() - totals @ totals) / 2

            def starts() -> Iterator[sparse.csr_array]:
                drawn = self.init_ in ("spectral", "random") or (self.init_ == "modularity" and found is None)
                for _ in range(self.n_init if drawn else 1):
                    yield strengths(half_of_neighbours(links, self._start(links, found, rng)))

            def store(run: Run[sparse.csr_array]) -> list[str]:
                return [*self._store(run.state, A), *not_converged(self, run)]

            fit.stores(store)
            if A.nnz == 0:
                fit.runs.append(finished(sparse.csr_array((A.shape[0], self.n_clusters or 1))))
                return self
            loop = partial(iterate, step=step, policy=self._policy, max_iter=self.max_iter, tol=self.tol)
            fit.run_starts(starts(), partial(loop, report=fit.report))
        return self

    @property
    def strengths_(self) -> NDArray[Any]:
        """The strengths theta, (n_nodes, n_clusters_), made anew at each access."""
        check_is_fitted(self, "memberships_")
        theta = self._state * np.sqrt(self._unit)
        made: NDArray[Any] = dense_unless_large(theta.astype(self.memberships_.dtype))
        return made

    def _link_factors(self) -> tuple[Any, Any]:
        return self._state, self._state

    def _resolve_start(self, A: sparse.csr_array) -> Labels | None:
        """Set ``init_``; gives the communities of ``'auto'`` if they or their number are needed.

        Raises an error if ``init`` does not go with ``n_clusters``.
        """
        self.init_ = "array" if not is_drawn(self.init) else str(self.init)
        if self.n_clusters is not None:
            if self.init_ in FINDING:
                raise ValueError(
                    f"init={self.init!r} finds the number of communities: n_clusters must be None. "
                    f"Got {self.n_clusters!r}."
                )
            self.init_ = "spectral" if self.init_ == "auto" else self.init_
            return None
        if self.init_ == "array" or self.init_ in FINDING:
            return None
        found, start = found_labels(A)
        self.init_ = start if self.init_ == "auto" else self.init_
        return found

    def _start(self, A: sparse.csr_array, found: Labels | None, rng: np.random.RandomState) -> sparse.csr_array:
        """Memberships to start from; rows of nodes without a community are empty."""
        n, K = A.shape[0], self.n_clusters
        if self.init_ == "array":
            U = validate_matrix("init", self.init, (n, np.shape(self.init)[-1] if K is None else K))
            if (U < 0).any() or (U.sum(axis=1) == 0).any():
                raise ValueError("init must have entries >= 0, not all 0 in any row.")
            return with_sum_1(sparse.csr_array(U))
        if K is None:
            labels = FINDING[self.init_](A, self.resolution, rng) if found is None else found
            K = int(labels.max()) + 1
        if self.init_ == "random":
            return sparse.csr_array(rng.dirichlet(np.ones(K), n))
        if self.init_ == "spectral":
            labels = spectral_labels(A, K, rng)
        return one_hot(labels, K)

    def _store(self, theta: sparse.csr_array, A: sparse.csr_array) -> list[str]:
        """Set the results; gives what to warn of."""
        totals = column_sums(theta)
        empty = totals == 0
        if self.n_clusters is None and A.nnz:
            theta, totals = theta[:, ~empty], totals[~empty]
        self._state = theta
        self.link_weights_ = np.square(totals) * self._unit
        ends = sparse.csr_array((theta.data * totals[theta.indices], theta.indices, theta.indptr), shape=theta.shape)
        self._set_memberships(dense_unless_large(with_even_rows(with_sum_1(ends)).astype(A.dtype)))
        if self.n_clusters is None or A.nnz == 0 or not empty.any():
            return []
        return [f"LinkMixture: {empty.sum()} of n_clusters={self.n_clusters} communities lost all links"]

    @as_fitted
    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Shares of the links of new nodes, each for itself.

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
        k = self._link_ends(links)[0]
        memberships: NDArray[Any] = dense_unless_large(with_even_rows(with_sum_1(k)).astype(links.dtype))
        return memberships

    @as_fitted
    def score(self, X: MatrixLike, y: object = None) -> float:
        """Mean logarithm of the expected weight of the links of new nodes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_nodes)
            Links of the new nodes to the nodes of ``fit``.
        y : ignored

        Returns
        -------
        score : float
            Each node has the strengths that fit its links best, and each link counts by its weight; in units of the
            mean weight in ``fit``. 0 without links.
        """
        links = self._links(X)
        logs = self._link_ends(links)[1]
        return float(logs.sum() / in_units(links, self._unit).data.sum()) if links.nnz else 0.0

    def _link_ends(self, links: sparse.csr_array) -> tuple[sparse.csr_array, Array]:
        """The k of new nodes, and sum_j a_ij log(t_i . theta_j) for each."""
        links, totals = in_units(links, self._unit), column_sums(self._state)
        k = links @ self._state
        k.sort_indices()
        for _ in range(_PREDICTION_STEPS):
            t = sparse.csr_array((k.data / totals[k.indices], k.indices, k.indptr), shape=k.shape)
            ends, logs = link_rows(links, t, self._state)
            k = sparse.csr_array((ends, k.indices, k.indptr), shape=k.shape)
        return k, logs

    def predict_links(self, pairs: ArrayLike) -> NDArray[Any]:
        """The communities that links come from.

        Parameters
        ----------
        pairs : array-like of shape (n_links, 2)
            The places of two nodes of ``fit``, linked or not.

        Returns
        -------
        shares : ndarray of shape (n_links, n_clusters)
            Probabilities of the communities, rows sum to 1; the mean of both memberships for nodes that have no
            community in common. A CSR array if it has more than 1e8 entries.
        """
        check_is_fitted(self, "memberships_")
        with naming("pairs"):
            places = check_array(pairs, dtype=None, input_name="pairs")
        n = self.n_features_in_
        if places.shape[1] != 2 or places.dtype.kind not in "iu" or places.min() < 0 or places.max() >= n:
            raise ValueError(
                f"pairs must have two columns of whole numbers from 0 to n_nodes - 1 = {n - 1}. "
                f"Got shape {places.shape} and entries from {places.min()} to {places.max()} of type {places.dtype}."
            )
        first, second = places.T
        common = with_sum_1(sparse.csr_array(self._state[first].multiply(self._state[second])))
        U = sparse.csr_array(self.memberships_)
        apart = sparse.diags_array((np.diff(common.indptr) == 0) / 2) @ (U[first] + U[second])
        shares: NDArray[Any] = dense_unless_large(sparse.csr_array(common + apart).astype(self.memberships_.dtype))
        return shares


def half_of_neighbours(A: sparse.csr_array, U: sparse.csr_array) -> sparse.csr_array:
    """The link ends of each node: half by its memberships, half by those of the nodes that it is linked to."""
    ends = sparse.csr_array((A @ U + sparse.diags_array(row_sums(A)) @ U) / 2)
    ends.sort_indices()
    return ends


def strengths(ends: sparse.csr_array) -> sparse.csr_array:
    """The strengths theta from the link ends k."""
    roots = np.sqrt(column_sums(ends))
    return sparse.csr_array((ends.data / roots[ends.indices], ends.indices, ends.indptr), shape=ends.shape)


def column_sums(rows: sparse.csr_array) -> Array:
    """The sums of the columns, added in the order of the rows."""
    sums: Array = np.bincount(rows.indices, rows.data, minlength=rows.shape[1]).astype(np.float64, copy=False)
    return sums
