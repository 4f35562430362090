"""Community detection clustering by Gumbel softmax.

Node i has logits w_i, one for each of K communities. With C the mean of some draws of softmax((w_i + g) / t), g of
independent Gumbel numbers, and A the adjacency matrix, R = C^T A C says how much weight of links lies inside (diagonal)
and between communities. Q is R with columns divided by their sums, and softmax(Q), down each column, is to be the
identity:

    L = -sum_k log softmax(Q)_kk.

Minimised over the logits by Adam, while the temperature t falls in steps. The gradient, written out:

* P = softmax(Q) - I, dL/dR_kl = G_kl = (P_kl - sum_j P_jl Q_jl) / sum_j R_jl;
* dL/dC = A C (G + G^T);
* dL/dw_ik = mean over the draws S of S_ik (dL/dC_ik - sum_l S_il dL/dC_il) / t.

Or minus the modularity, L = -(tr R - |C^T d|^2 / 2m) / 2m, with degrees d of sum 2m.

References
----------
D. B. Acharya, H. Zhang (2020). Community detection clustering via Gumbel softmax. SN Computer Science 1, 262.
E. Jang, S. Gu, B. Poole (2017). Categorical reparameterization with Gumbel-softmax. ICLR.
"""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, GraphLike, MatrixLike, Seed
from ..engine.alternating import PARAMETERS
from ..engine.fitting import Fit, not_converged
from ..engine.loop import Policy, Run, finished, objective_change
from ..engine.training import load_torch, reproducible, resolve_device
from ..kernels import most_threads
from ..kernels.graphs import gumbel_slope, gumbel_softmax
from .network import GraphClusterer, neighbour_means, row_sums

if TYPE_CHECKING:
    from typing import Self

    import torch
    from scipy import sparse

# The temperature, as a part of the first one, from a part of the epochs on.
_STEPS = ((0, 1), (1 / 8, 0.625), (1 / 6, 0.5), (1 / 4, 0.375), (1 / 3, 0.25), (1 / 2, 0.125), (2 / 3, 0.0625))
_LAST = (5 / 6, 0.025)
_MOMENTS, _EPS = (0.5, 0.999), 1e-8  # of Adam
_LOOKS = 24  # at the loss without noise in a start
_STILL = 3  # times that it must not change
_EMPTY = 1e-12  # added to the parts of the weight of all links that the communities have
_STACK = 1 << 20  # random numbers at once, 4 MB; starts are stacked up to there


class CDCGS(GraphClusterer):
    """Community detection by Gumbel softmax: communities that are linked inside and not to each other.

    Every node has a free score for every community. Random numbers added to the scores, which count less and less,
    lead the search out of poor optima.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of communities K.
    objective : {'identity', 'modularity'}, default='identity'
        The published loss, of each community the part of its links that stay inside; or minus the modularity, which
        may leave communities empty.
    n_draws : int, default=10
        Random draws of the memberships in an epoch, of which the mean counts. One is nearly as good.
    temperature : float, default=4.0
        First temperature of the draws. It falls to 1/40 of this, in seven steps.
    min_temperature : float, default=0.1
        The temperature never falls below this.
    learning_rate : float, default=0.01
        Step length of Adam.
    n_init : int, default=5
        Starts; the one of smallest loss without noise is kept.
    max_epochs : int, default=600
        Epochs per start; the steps of the temperature are spread over them.
    tol : float or None, default=1e-3
        Converged when, at the last temperature, the communities have settled: with every node wholly in that of its
        largest membership, the loss changes by at most this part of itself, three times from one look to the next, a
        24th of the epochs later. A node between two communities may still go to and fro. None runs all epochs.
    device : str, default='cpu'
        Device of torch: 'cpu', 'cuda', 'auto' (a GPU if there is one) or any other name of torch.
    random_state : int, RandomState or None, default=None
        Seed of the draws.
    verbose : int, default=0
        1 prints a line per start, 2 also a line per look at the loss.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_nodes, n_clusters)
        Softmax of the logits, rows sum to 1; equal ones for a node without links.
    labels_ : ndarray of shape (n_nodes,)
        Community of largest membership.
    n_clusters_ : int
    logits_ : ndarray of shape (n_nodes, n_clusters)
    interaction_matrix_ : ndarray of shape (n_clusters, n_clusters)
        R: weight of the links inside communities, counted from both ends, and between them.
    node_names_ : ndarray of shape (n_nodes,)
    objective_ : float
        The loss of ``memberships_``, minimised.
    objective_history_ : ndarray
        The loss without noise after every 24th part of the epochs, and at the end.
    n_iter_ : int
        Epochs of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.DMoN : modularity with a graph neural network, which uses features of the nodes.
    soft_clustering.MMSB : shares of blocks, which need not be dense inside.

    Notes
    -----
    The loss of [1]_ with the scaling of the authors' program, as are the steps of the temperature, the moments of Adam
    and the start from equal logits; the modularity, the stopping rule and the rule for new nodes, the mean of the rows
    of the nodes that they are linked to, are ours. Draws as in [2]_; the authors average 500 of them. Weights are used.

    Memberships are nearly hard, mostly above 0.98; the longer the run the more so, since no finite logits minimise the
    loss. Single starts often end in poor optima: several are needed, and more than the default where the fits of
    different seeds differ. An epoch costs O(nnz K + n K n_draws) time; memory is O(nnz + n K n_draws). On the CPU the
    result depends on the seed only, not on the number of threads; torch's own generators and settings are left alone.

    References
    ----------
    .. [1] D. B. Acharya, H. Zhang (2020). Community detection clustering via Gumbel softmax. SN Computer Science 1,
       262.
    .. [2] E. Jang, S. Gu, B. Poole (2017). Categorical reparameterization with Gumbel-softmax. ICLR.

    Examples
    --------
    >>> from soft_clustering import CDCGS
    >>> from soft_clustering.datasets import load_graph
    >>> graph = load_graph("karate")
    >>> model = CDCGS(n_clusters=2, tol=None, random_state=0).fit(graph.adjacency)
    >>> int((model.labels_ == model.labels_[0]).sum())
    16
    """

    logits_: NDArray[Any]
    interaction_matrix_: Array
    _policy = Policy(monotone=False)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: PARAMETERS[name] for name in ("n_clusters", "n_init", "random_state", "verbose")},
        "objective": [StrOptions({"identity", "modularity"})],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "temperature": [Interval(Real, 0, None, closed="neither")],
        "min_temperature": [Interval(Real, 1e-6, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "tol": [None, Interval(Real, 0, None, closed="left")],
        "device": [str],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        objective: str = "identity",
        n_draws: int = 10,
        temperature: float = 4.0,
        min_temperature: float = 0.1,
        learning_rate: float = 0.01,
        n_init: int = 5,
        max_epochs: int = 600,
        tol: float | None = 1e-3,
        device: str = "cpu",
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.objective = objective
        self.n_draws = n_draws
        self.temperature = temperature
        self.min_temperature = min_temperature
        self.learning_rate = learning_rate
        self.n_init = n_init
        self.max_epochs = max_epochs
        self.tol = tol
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: GraphLike, y: object = None) -> Self:
        """Fit the communities of a graph.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of edges
            Weights are used.
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[Any](self) as fit:
            fit.unit = "epoch"
            A = self._graph(X)
            torch = load_torch("CDCGS")
            device = resolve_device(torch, self.device)
            rng = check_random_state(self.random_state)
            generators = [np.random.default_rng(rng.randint(2**31 - 1)) for _ in range(self.n_init)]
            threads = most_threads()  # the draws are the same on any number of them; torch itself has one
            fit.enter(reproducible(torch))
            fit.enter(torch.no_grad())
            fit.stores(partial(self._store, torch=torch, A=A))
            if A.nnz == 0:
                fit.runs.append(finished(torch.ones((self.n_clusters, A.shape[0]), dtype=torch.float64)))
                return self
            links = Links(torch, A, device)
            stacked = max(_STACK // (self.n_draws * self.n_clusters * links.n), 1)
            for first in range(0, self.n_init, stacked):
                starts = [Start(None) for _ in generators[first : first + stacked]]
                fit.runs[:] = [*([] if fit.best is None else [fit.best]), *starts]
                self._learn(torch, links, generators[first : first + stacked], threads, starts, fit)
                for number, start in enumerate(starts, first + 1):
                    fit.report_start(number, start)
        return self

    def _store(self, run: Run[Any], torch: ModuleType, A: sparse.csr_array) -> list[str]:
        W, K = run.state, self.n_clusters
        memberships = torch.softmax(W, 0).T.cpu().numpy()
        self.logits_ = W.T.cpu().numpy().astype(A.dtype)
        self.interaction_matrix_ = memberships.T @ (A @ memberships)  # in double precision: sums may be large
        self._set_memberships(memberships.astype(A.dtype))
        complaints = not_converged(self, run, "max_epochs", "epochs")
        members = len(np.unique(self.labels_[np.diff(A.indptr) > 0]))
        if A.nnz and members < K:
            complaints.append(
                f"CDCGS left communities empty: {members} of n_clusters={K} have members. Use fewer clusters, or more "
                "starts."
            )
        return complaints

    def _learn(
        self, torch: ModuleType, links: Links, generators: list[Any], threads: int, running: list[Start], fit: Fit[Any]
    ) -> None:
        """Adam on a stack. Arrays have the axes (starts, communities, nodes), draws after the starts."""
        loss_of = {"identity": identity_loss, "modularity": modularity_loss}[self.objective]
        shape = (len(generators), self.n_clusters, links.n)
        W = torch.ones(shape, dtype=torch.float64, device=links.device)
        adam = Adam(torch, W, self.learning_rate)
        # The draws are most of the work, and single precision is enough for them.
        room = np.empty((shape[0], self.n_draws, *shape[1:]), dtype=np.float32)
        for epoch in range(1, self.max_epochs + 1):
            t = self._temperature(epoch)
            keys = np.stack([rng.integers(2**64, size=self.n_draws, dtype=np.uint64) for rng in generators])
            C = gumbel_softmax(W.cpu().numpy(), keys, t, room, threads)
            dC = loss_of(torch, links, torch.from_numpy(C).to(links.device))[1]
            slope = gumbel_slope(room, C, dC.contiguous().cpu().numpy(), t, threads)
            adam.step(torch.from_numpy(slope).to(links.device))
            if epoch % self._pace and epoch < self.max_epochs:
                continue
            soft, settled = (
                loss_of(torch, links, memberships)[0].tolist()
                for memberships in (torch.softmax(W, 1), one_hot(torch, W))
            )
            for run, w, loss, of_sets in zip(running, W, soft, settled, strict=True):
                self._look(run, w, loss, of_sets, epoch)
                fit.report(run)
            going = [i for i, run in enumerate(running) if not run.converged]
            if not going:
                break
            if len(going) < len(running):
                running, generators = ([every[i] for i in going] for every in (running, generators))
                W, room = W[going], room[: len(going)]
                adam.keep(W, going)

    @property
    def _pace(self) -> int:
        """Epochs from one look at the loss to the next."""
        return max(self.max_epochs // _LOOKS, 1)

    def _temperature(self, epoch: int) -> float:
        """That of an epoch, counted from 1."""
        steps = [*_STEPS, _LAST]
        step = bisect_right([part for part, _ in steps], (epoch - 1) / self.max_epochs) - 1
        return max(self.temperature * steps[step][1], self.min_temperature)

    def _look(self, run: Start, W: torch.Tensor, loss: float, settled: float, epoch: int) -> None:
        """Enter the losses without noise, and see whether the communities still change."""
        if not math.isfinite(loss):
            raise ValueError(f"CDCGS diverged, its loss is {loss}: use a learning_rate below {self.learning_rate:g}.")
        run.state, run.n_iter = W.clone(), epoch
        run.history.append(loss)
        run.settled.append(settled)
        last = run.settled[-_STILL - 1 :]
        changes = [objective_change(None, None, last[: i + 1]) for i in range(1, len(last))]
        run.residual = max(changes, default=np.inf)
        cold = epoch - _STILL * self._pace >= _LAST[0] * self.max_epochs
        run.converged = cold and self.tol is not None and len(changes) == _STILL and run.residual <= self.tol

    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Memberships of new nodes, each for itself: the mean of those of the nodes that it is linked to.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_nodes)
            Links of the new nodes to the nodes of ``fit``.

        Returns
        -------
        memberships : ndarray of shape (n_new, n_clusters)
            Equal ones for a node without links.
        """
        links = self._links(X)
        rows = neighbour_means(links, self.memberships_)
        rows[np.diff(links.indptr) == 0] = 1 / self.n_clusters
        memberships: NDArray[Any] = (rows / rows.sum(axis=1, keepdims=True)).astype(links.dtype)
        return memberships


@dataclass
class Start(Run[Any]):
    """A run of logits (communities, nodes), with the loss of its communities as sets at each look."""

    settled: list[float] = field(default_factory=list)


class Links:
    """The adjacency matrix as torch takes it, with entries that sum to 1."""

    def __init__(self, torch: ModuleType, A: sparse.csr_array, device: torch.device) -> None:
        A = A.astype(np.float64)
        # The largest first: a sum of tiny weights has few digits.
        A = A / A.data.max()
        A = A / A.data.sum()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state")
            self._matrix = torch.sparse_csr_tensor(
                torch.from_numpy(A.indptr.astype(np.int64)),
                torch.from_numpy(A.indices.astype(np.int64)),
                torch.from_numpy(A.data),
                A.shape,
                device=device,
                check_invariants=False,
            )
        self.n, self.device = A.shape[0], device
        self.degrees = torch.from_numpy(row_sums(A)).to(device)

    def product(self, C: torch.Tensor) -> Any:
        """A C for stacked C, with the nodes as the last axis."""
        starts, K, n = C.shape
        columns = C.reshape(starts * K, n).T.contiguous()
        return (self._matrix @ columns).T.reshape(starts, K, n)


class Adam:
    """Adam on a stack of arrays, changed in place."""

    def __init__(self, torch: ModuleType, W: torch.Tensor, learning_rate: float) -> None:
        self._W, self._rate, self._epoch = W, learning_rate, 0
        self._mean, self._square = torch.zeros_like(W), torch.zeros_like(W)

    def step(self, gradient: torch.Tensor) -> None:
        """A step along a gradient."""
        self._epoch += 1
        a, b = _MOMENTS
        self._mean.mul_(a).add_(gradient, alpha=1 - a)
        self._square.mul_(b).addcmul_(gradient, gradient, value=1 - b)
        size = (self._square / (1 - b**self._epoch)).sqrt_().add_(_EPS)
        self._W.addcdiv_(self._mean, size, value=-self._rate / (1 - a**self._epoch))

    def keep(self, W: torch.Tensor, places: list[int]) -> None:
        """Go on with some of the arrays of the stack, which are W now."""
        self._W, self._mean, self._square = W, self._mean[places], self._square[places]


def one_hot(torch: ModuleType, W: torch.Tensor) -> Any:
    """Memberships of 1 in the community of the largest logit."""
    return torch.zeros_like(W).scatter_(1, W.argmax(1, keepdim=True), 1.0)


def identity_loss(torch: ModuleType, links: Links, C: torch.Tensor) -> tuple[Any, Any]:
    """(loss of each start, its gradient in C): the cross entropy of softmax(Q) and the identity."""
    AC = links.product(C)
    R = C @ AC.mT
    sums = R.sum(1, keepdim=True) + _EMPTY
    Q = R / sums
    P = torch.softmax(Q, 1) - torch.eye(len(Q[0]), dtype=Q.dtype, device=Q.device)
    loss = (torch.logsumexp(Q, 1) - Q.diagonal(dim1=1, dim2=2)).sum(1)
    G = (P - (P * Q).sum(1, keepdim=True)) / sums
    return loss, (G + G.mT) @ AC


def modularity_loss(torch: ModuleType, links: Links, C: torch.Tensor) -> tuple[Any, Any]:
    """(loss of each start, its gradient in C): minus the modularity."""
    AC = links.product(C)
    volume = C @ links.degrees
    loss = volume.square().sum(1) - (C * AC).sum((1, 2))
    return loss, 2 * (volume[..., None] * links.degrees - AC)
