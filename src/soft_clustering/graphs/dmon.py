"""DMoN, deep modularity networks: communities of high modularity by a graph neural network.

Memberships C are the output of a graph convolution with skip weights s, and a softmax,

    H = SELU(s * (X W) + Ah X W + b),   C = softmax(H W2 + b2),   Ah = D^(-1/2) (A + I) D^(-1/2),

where X are features of the nodes, or rows of the adjacency matrix. With degrees d, their sum 2m and B = A - d d^T / 2m,
Adam minimises

    L = -tr(C^T B C) / 2m + a (sqrt(K) / n |sum_i C_i| - 1):

the modularity of soft communities, and a penalty that is 0 where these have the same size and largest where all nodes
are in one. B is never formed: tr(C^T B C) = sum(C * A C) - |C^T d|^2 / 2m.

References
----------
A. Tsitsulin, J. Palowitch, B. Perozzi, E. Mueller (2023). Graph clustering with graph neural networks. Journal of
Machine Learning Research 24(127), 1-21.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from numbers import Integral, Real
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import softmax
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._types import Array, GraphLike, Matrix, MatrixLike, Seed
from ..base import MembershipKind
from ..engine.alternating import PARAMETERS
from ..engine.fitting import Fit, not_converged
from ..engine.loop import Policy, Run, finished, objective_change
from ..engine.threads import single_threaded_blas
from ..engine.training import (
    check_finite,
    check_layer_sizes,
    load_torch,
    make_adam,
    make_generator,
    reproducible,
    resolve_device,
)
from ..inputs.graphs import validate_node_features
from .message_passing import (
    Features,
    NewRows,
    NodeNetwork,
    SparseMatrix,
    as_matrix,
    dropout,
    narrow_product,
    normalised_adjacency,
)
from .network import mean_weight, neighbour_means, row_sums, soft_modularity

if TYPE_CHECKING:
    from typing import Self

    import torch

Layers = list[tuple[Array, ...]]  # weights, biases and skip weights of each layer, the last one without skip weights

_EVAL_EVERY = 10  # epochs
_PATIENCE = 2  # evaluations of little change that are convergence
_SELU = 1.6732632423543772, 1.0507009873554805
_REMEDY = "use a smaller learning_rate, or scale node_features"


def collapse_penalty(C: NDArray[Any]) -> float:
    """sqrt(K) / n |sum_i C_i| - 1, between 0 and sqrt(K) - 1."""
    n, K = C.shape
    return float(math.sqrt(K) / n * np.linalg.norm(C.sum(axis=0)) - 1)


def softmax_rows(scores: torch.Tensor) -> Any:
    """The softmax of rows of a tensor; torch's own is several times slower where rows are short."""
    exponentials = (scores - scores.amax(dim=1, keepdim=True)).exp_()
    return exponentials.div_(exponentials.sum(dim=1, keepdim=True))


class ModularityLoss:
    """L, and its gradient in closed form."""

    def __init__(self, torch: ModuleType, A: sparse.csr_array, collapse_weight: float, device: torch.device) -> None:
        degrees = row_sums(A)
        total = degrees.sum()
        # In units of 2m, whatever the unit of the weights.
        self._links = SparseMatrix(torch, A.astype(np.float64) / total, device, symmetric=True)
        self._degrees = torch.from_numpy((degrees / total).astype(np.float32)).to(device)
        self._weight = collapse_weight

    def __call__(self, C: torch.Tensor) -> tuple[Any, Any]:
        """Loss and gradient at memberships C."""
        n, K = C.shape
        messages = self._links @ C
        volumes = self._degrees @ C
        sizes = C.sum(dim=0)
        factor = self._weight * math.sqrt(K) / n
        loss = volumes.square().sum() - (C * messages).sum() + factor * sizes.norm() - self._weight
        gradient = 2 * (self._degrees[:, None] * volumes - messages) + factor * sizes / sizes.norm()
        return loss, gradient


class DMoN(NodeNetwork):
    """DMoN: communities of high modularity by a graph neural network.

    The memberships are a function of the surroundings of a node and of its features, if there are any. It is for graphs
    whose nodes have features that are related to their communities.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of communities K, at most.
    hidden_layer_sizes : sequence of int, default=(64,)
        Widths of the hidden layers, at least one.
    collapse_weight : float, default=1.0
        Weight a of the penalty on communities of different size. A small one lets communities merge.
    dropout : float, default=0.5
        Share of the inputs of the softmax that is dropped while learning.
    learning_rate : float, default=1e-3
        Step size of Adam.
    n_init : int, default=1
        Starts; the one of lowest loss is kept.
    max_epochs : int, default=1000
        Steps of Adam per start, at most.
    tol : float or None, default=3e-3
        The loss is evaluated every 10 epochs, without dropout. Converged when it fell by at most this part of itself
        in 2 evaluations in a row. None: ``max_epochs`` epochs are asked for, whatever the loss.
    device : str, default='cpu'
        Where the network learns: ``'cpu'``, ``'cuda'``, ``'auto'`` (a GPU if there is one) or the name of a torch
        device. Prediction is on the CPU.
    random_state : int, RandomState or None, default=None
        Seed of the weights and of dropout.
    verbose : int, default=0
        1 prints a line per start, 2 a line per evaluation.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_nodes, n_clusters)
        C; rows sum to 1.
    labels_ : ndarray of shape (n_nodes,)
        Community of largest membership.
    n_clusters_ : int
    threshold_ : float
        0.15: the membership from which on a node is a member, for ``get_cover``, beside the largest one.
    embedding_ : ndarray of shape (n_nodes, hidden_layer_sizes[-1])
        H of the last hidden layer.
    modularity_ : float
        Modularity of the partition ``labels_``.
    node_names_ : ndarray of shape (n_nodes,)
    objective_ : float
        L, minimised.
    objective_history_ : ndarray
        L at each evaluation of the best start, and at the end ``objective_``. It need not fall.
    n_iter_ : int
        Epochs of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.NOCD : a similar network for communities that overlap.
    soft_clustering.MMSB : shares of blocks by a model of the links.

    Notes
    -----
    Follows [1]_, with the settings of its authors' program but for three: the null model has its full weight, as
    in the publication, where the program counts every link twice and so halves it; the skip weights start at 1; and
    the epochs end when the loss has settled, mostly after 150 to 400, instead of after 1000. Communities are found
    long before, and further epochs make the memberships harder. Links are taken in units of their mean weight.
    Rows of the adjacency matrix, scaled to unit length, in the place of missing features are our choice.
    ``node_features`` are taken as they are: scale columns of different units first.

    An epoch costs O(nnz (h + K)) for h hidden units, memory is O(nnz + n (h + K)): the adjacency matrix stays sparse.
    Weights of links count. On the CPU torch learns on one thread, so that the result does not depend on the number of
    cores; on other devices the same seed need not give the same bits.

    Modularity has many partitions that are nearly as good as the best, and the best one need not be the known one: on
    the dolphins two communities of higher modularity than the known ones are found. Features of few columns that say
    little hurt: compare ``modularity_`` with that of a fit without them.

    New nodes come as rows of links to the nodes of ``fit``. With ``node_features`` they pass the network in the place
    of a node with these links; without, the mean of the memberships of the linked nodes is as good or better than the
    network, and is used. A node without links then has equal memberships, as in ``fit``.

    References
    ----------
    .. [1] A. Tsitsulin, J. Palowitch, B. Perozzi, E. Mueller (2023). Graph clustering with graph neural networks.
       Journal of Machine Learning Research 24(127), 1-21.

    Examples
    --------
    >>> from soft_clustering import DMoN
    >>> from soft_clustering.datasets import load_graph
    >>> graph = load_graph("karate")
    >>> model = DMoN(n_clusters=2, random_state=0).fit(graph.adjacency)
    >>> round(model.modularity_, 2)
    0.37
    """

    threshold_: float
    embedding_: NDArray[Any]
    modularity_: float
    membership_kind: ClassVar[MembershipKind] = "partition"
    _policy = Policy(monotone=False)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": PARAMETERS["n_clusters"],
        "hidden_layer_sizes": ["array-like"],
        "collapse_weight": [Interval(Real, 0, None, closed="left")],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "n_init": PARAMETERS["n_init"],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "tol": [None, *PARAMETERS["tol"]],
        "device": [str],
        "random_state": PARAMETERS["random_state"],
        "verbose": PARAMETERS["verbose"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        hidden_layer_sizes: ArrayLike = (64,),
        collapse_weight: float = 1.0,
        dropout: float = 0.5,
        learning_rate: float = 1e-3,
        n_init: int = 1,
        max_epochs: int = 1000,
        tol: float | None = 3e-3,
        device: str = "cpu",
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.hidden_layer_sizes = hidden_layer_sizes
        self.collapse_weight = collapse_weight
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.n_init = n_init
        self.max_epochs = max_epochs
        self.tol = tol
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    # The protocol -----------------------------------------------------------------------------------------------------

    def fit(self, X: GraphLike, y: object = None, *, node_features: MatrixLike | None = None) -> Self:
        """Fit the memberships of a graph.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of edges
        y : ignored
        node_features : array-like or sparse matrix of shape (n_nodes, n_features), default=None
            Features of the nodes, in the order of ``node_names_``.

        Returns
        -------
        self : object
        """
        with Fit[Layers](self) as fit:
            fit.unit = "epoch"
            sizes = check_layer_sizes(self.hidden_layer_sizes, least=1)
            A = self._graph(X)
            self._unit = mean_weight(A) if A.nnz else 1.0
            A = self._in_units(A)
            self.threshold_ = 0.15
            features = None if node_features is None else validate_node_features(node_features, A.shape[0])
            self._features = Features.of(features, None, False)
            H = self._features.input(A, features)
            if A.nnz == 0:
                fit.stores(partial(self._store_nothing, A=A, width=sizes[-1]))
                fit.runs.append(finished([]))
                return self
            torch = load_torch("DMoN")
            device = resolve_device(torch, self.device)
            rng = check_random_state(self.random_state)
            fit.enter(reproducible(torch))
            Ah = normalised_adjacency(A)
            fit.stores(partial(self._store, A=A, Ah=Ah, H=H))

            def learn(run: Run[Layers], rival: Run[Layers] | None) -> None:
                self._learn(torch, run, A, Ah, H, sizes, device, make_generator(torch, rng), fit.report)

            fit.run_starts(([] for _ in range(self.n_init)), learn)
        return self

    def predict_memberships(self, X: MatrixLike, *, node_features: MatrixLike | None = None) -> NDArray[Any]:
        """Memberships of new nodes, each for itself.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_nodes)
            Links of the new nodes to the nodes of ``fit``.
        node_features : array-like or sparse matrix of shape (n_new, n_features), default=None
            Where ``fit`` had them.

        Returns
        -------
        memberships : ndarray of shape (n_new, n_clusters)
        """
        links = self._links(X)
        features = self._new_features(node_features, links.shape[0], self._features.width)
        if features is None or not self._layers:
            C = neighbour_means(links, self.memberships_)
            C[np.diff(links.indptr) == 0] = 1 / self.n_clusters_
        else:
            with single_threaded_blas():
                mix = NewRows.of(self._in_units(links), self._degrees).mix(self._products)
                _, C = self._forward(self._features.input(links, features), mix)
        return C.astype(links.dtype)

    # The method -------------------------------------------------------------------------------------------------------

    def _in_units(self, links: sparse.csr_array) -> Any:
        """Links in units of their mean weight, beside which a node's link to itself has weight 1."""
        return sparse.csr_array((links.data / self._unit, links.indices, links.indptr), shape=links.shape)

    def _learn(
        self,
        torch: ModuleType,
        run: Run[Layers],
        A: sparse.csr_array,
        Ah: sparse.csr_array,
        H: Matrix,
        sizes: list[int],
        device: torch.device,
        generator: torch.Generator,
        report: Callable[[Run[Layers]], None],
    ) -> None:
        """Adam from new weights; the run is brought up to date at each evaluation of the loss."""
        spread = SparseMatrix(torch, Ah, device, symmetric=True)
        seen = as_matrix(torch, H, device)
        loss = ModularityLoss(torch, A, self.collapse_weight, device)
        layers: list[Any] = []
        for shape in pairwise([H.shape[1], *sizes, self.n_clusters]):
            W, b = (torch.zeros(size, dtype=torch.float32, device="cpu") for size in (shape, shape[1]))
            torch.nn.init.xavier_uniform_(W, generator=generator)
            layers.append((W, b, torch.ones_like(b)))
        layers[-1] = torch.nn.init.orthogonal_(W, generator=generator), b
        layers = [tuple(part.to(device).requires_grad_() for part in layer) for layer in layers]
        optimizer = make_adam(torch, [part for layer in layers for part in layer], self.learning_rate, 0.0, device)

        def network(rate: float) -> Any:
            h = None
            for W, b, s in layers[:-1]:
                product = seen.dropped(W, 0.0, generator) if h is None else h @ W
                h = torch.nn.functional.selu(s * product + spread @ product + b)
            W, b = layers[-1]
            return dropout(torch, narrow_product(torch, h, W) + b, rate, generator)

        calm = 0
        for epoch in range(1, self.max_epochs + 1):
            scores = network(self.dropout)
            C = softmax_rows(scores.detach())
            slope = C * loss(C)[1]
            optimizer.zero_grad()
            scores.backward(slope - C * slope.sum(dim=1, keepdim=True))
            optimizer.step()
            if epoch % _EVAL_EVERY and epoch < self.max_epochs:
                continue
            with torch.no_grad():
                value = check_finite(float(loss(softmax_rows(network(0.0)))[0]), _REMEDY)
            fall = run.history[-1] - value if run.history else np.inf
            run.history.append(value)
            run.residual, run.n_iter = objective_change(None, None, run.history), epoch
            run.state = [tuple(part.detach().cpu().double().numpy() for part in layer) for layer in layers]
            report(run)
            calm = calm + 1 if self.tol is not None and fall <= self.tol * abs(value) else 0
            if calm == _PATIENCE:
                run.converged = True
                return

    def _forward(self, H: Matrix, mix: Callable[[int, Array], Array]) -> tuple[Array, Array]:
        """Embedding and memberships in double precision, where nodes get ``mix(layer, product)`` in each layer."""
        alpha, scale = _SELU
        for layer, (W, b, s) in enumerate(self._layers[:-1]):
            product = H @ W
            Z = s * product + mix(layer, product) + b
            H = scale * np.where(Z > 0, Z, alpha * np.expm1(np.minimum(Z, 0)))
        W, b = self._layers[-1]
        return H, softmax(H @ W + b, axis=1)

    def _store(self, run: Run[Layers], A: sparse.csr_array, Ah: sparse.csr_array, H: Matrix) -> list[str]:
        """Store the best network, what its nodes send to new ones, and what it says of them."""
        self._layers, self._degrees = run.state, row_sums(A)
        self._products: list[Array] = []

        def mix(layer: int, product: Array) -> Array:
            self._products.append(product)
            messages: Array = Ah @ product
            return messages

        Z, C = self._forward(H, mix)
        if self._features.width is None:
            C[self._degrees == 0] = 1 / self.n_clusters  # nothing is known of these nodes
        run.history.append(self.collapse_weight * collapse_penalty(C) - soft_modularity(A, C))
        self.embedding_ = Z.astype(A.dtype)
        self._set_memberships(C.astype(A.dtype))
        self.modularity_ = soft_modularity(A, np.eye(self.n_clusters)[self.labels_])
        return not_converged(self, run, "max_epochs", "epochs") + self._collapsed()

    def _store_nothing(self, run: Run[Layers], A: sparse.csr_array, width: int) -> list[str]:
        """Store what is known of a graph without links."""
        n, K = A.shape[0], self.n_clusters
        self._layers = run.state
        self.embedding_, self.modularity_ = np.zeros((n, width), dtype=A.dtype), 0.0
        self._set_memberships(np.full((n, K), 1 / K, dtype=A.dtype))
        return []

    def _collapsed(self) -> list[str]:
        """A complaint where communities are missing."""
        K = self.n_clusters
        found = len(np.unique(self.labels_))
        if K > 1 and float(self.memberships_.max()) - 1 / K < 1e-3:
            return [f"DMoN collapsed: all memberships are 1/{K}; use more epochs or fewer clusters"]
        if found < K:
            return [f"DMoN found only {found} of n_clusters={K} communities; use more epochs or fewer clusters"]
        return []
