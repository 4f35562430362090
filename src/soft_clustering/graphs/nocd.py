"""NOCD: overlapping communities by a graph neural network.

Node u has affiliations F_uk >= 0, and u and v are linked with probability 1 - exp(-F_u . F_v - e), where the background
rate e is that of a graph of the same density without communities. The affiliations are the output of graph
convolutions, for one hidden layer

    F = ReLU(Ah BN(ReLU(Ah X W1 + b1)) W2 + b2),   Ah = D^(-1/2) (A + I) D^(-1/2),

with dropout before each layer and batch normalisation BN. X are rows of the adjacency matrix, attributes of the nodes,
or both side by side. Adam minimises the balanced loss

    L = (mean over links of -log(1 - exp(-F_u . F_v - e)) + mean over other pairs of F_u . F_v) / 2

plus a penalty on the squared weights W1, W2. Other pairs cost nothing: their sum is that of all pairs less the links.

References
----------
O. Shchur, S. Guennemann (2019). Overlapping community detection with graph neural networks. Deep Learning on Graphs
workshop, KDD.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from numbers import Integral, Real
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, GraphLike, Matrix, MatrixLike, Seed
from ..base import MembershipKind, as_fitted
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
from .bigclam import member_threshold
from .message_passing import (
    Features,
    NewRows,
    NodeNetwork,
    Pattern,
    Scaling,
    SparseMatrix,
    as_matrix,
    dropout,
    narrow_product,
    normalised_adjacency,
)

if TYPE_CHECKING:
    from typing import Self

    import torch

Layers = list[tuple[Array, Array]]  # weights and biases of each layer
_CHUNK = 1 << 12  # pairs looked at together, few enough for the cache
_FEW = 0.05  # share of pairs without a link below which they are not drawn
_NORM = 1e-5  # added to variances
_MANY_COLUMNS = 100  # of sparse attributes, above which they are taken for counts of words
_REMEDY = "use a smaller learning_rate"


class AffiliationLoss:
    """The loss of affiliations, and its gradient in closed form.

    Parameters
    ----------
    torch : module
    A : CSR
        With links, each in both directions.
    balanced : bool
        Whether links and other pairs count the same, however many there are.
    device : torch.device
    """

    def __init__(self, torch: ModuleType, A: sparse.csr_array, balanced: bool, device: torch.device | str) -> None:
        n = A.shape[0]
        self._torch, self._shape = torch, A.shape
        upper = sparse.triu(A, 1, format="coo")
        links, pairs = upper.nnz, n * (n - 1) // 2
        self.rate = member_threshold(A) ** 2
        self.n_others = pairs - links
        share = 0.5 if balanced else links / pairs
        self._weights = share, (1 - share if self.n_others else 0.0)
        self.can_draw = self.n_others >= _FEW * pairs
        first, second = upper.row.astype(np.int64), upper.col.astype(np.int64)
        self._first, self._second = (torch.from_numpy(ends).to(device) for ends in (first, second))
        numbers = sparse.coo_array(
            (np.tile(np.arange(links), 2), (np.append(first, second), np.append(second, first))), shape=A.shape
        ).tocsr()
        self._pattern = Pattern(torch, numbers, device)
        self._number = torch.from_numpy(numbers.data).to(device)  # the link of each entry
        rows = np.repeat(np.arange(n), np.diff(numbers.indptr))
        self._keys = torch.from_numpy(rows * n + numbers.indices.astype(np.int64))  # of the entries, ascending

    def full(self, F: torch.Tensor) -> tuple[Any, Any]:
        """Loss and gradient over all pairs."""
        torch = self._torch
        on_links, on_others = self._weights
        dots = self._dots(F, self._first, self._second)
        x = self.rate + dots
        loss = -on_links * torch.log(-torch.expm1(-x)).mean()
        pull = (-on_links / len(dots)) / torch.expm1(x)
        total = F.sum(dim=0)
        if self.n_others:
            push = on_others / self.n_others
            loss = loss + push * ((total.square().sum() - F.square().sum()) / 2 - dots.sum())
            pull = pull - push
        gradient = self._pattern.filled(pull[self._number])(F)
        if self.n_others:
            gradient += push * (total - F)
        return loss, gradient

    def drawn(self, F: torch.Tensor, size: int, generator: torch.Generator) -> tuple[Any, Any]:
        """Loss and gradient over ``size`` links and as many other pairs, drawn with replacement."""
        torch = self._torch
        on_links, on_others = self._weights
        link = torch.randint(len(self._first), (size,), generator=generator, device="cpu").to(F.device)
        others = self._draw_others(size, generator).to(F.device)
        u, v = torch.cat([torch.stack([self._first[link], self._second[link]]), others], dim=1)
        dots = self._dots(F, u, v)
        x = self.rate + dots[:size]
        loss = -on_links * torch.log(-torch.expm1(-x)).mean() + on_others * dots[size:].mean()
        pull = torch.cat([-on_links / torch.expm1(x), torch.full_like(x, on_others)]) / size
        both, pulls = torch.stack([torch.cat([u, v]), torch.cat([v, u])]), pull.repeat(2)
        matrix = torch.sparse_coo_tensor(both, pulls, size=self._shape, device=F.device, check_invariants=False)
        return loss, matrix @ F

    def _dots(self, F: torch.Tensor, u: torch.Tensor, v: torch.Tensor) -> Any:
        """F_u . F_v for pairs of nodes."""
        chunks = zip(u.split(_CHUNK), v.split(_CHUNK), strict=True)
        return self._torch.cat([(F.index_select(0, a) * F.index_select(0, b)).sum(dim=1) for a, b in chunks])

    def _draw_others(self, size: int, generator: torch.Generator) -> Any:
        """Pairs (2, size) of different nodes without a link, uniformly."""
        torch, n = self._torch, self._shape[0]
        found, missing = [], size
        while missing > 0:
            tried = int(1.05 * missing * n * n / (2 * self.n_others)) + 10
            u, v = torch.randint(n, (2, tried), generator=generator, device="cpu")
            keys = u * n + v
            place = torch.searchsorted(self._keys, keys).clamp_(max=len(self._keys) - 1)
            other = (u != v) & (self._keys[place] != keys)
            found.append(torch.stack([u[other], v[other]]))
            missing -= found[-1].shape[1]
        return torch.cat(found, dim=1)[:, :size]


class Passed(NamedTuple):
    """What a network makes of the nodes of ``fit``."""

    affiliations: Array
    products: list[Array]  # what the nodes send to their neighbours in each layer
    moments: dict[int, tuple[Array, Array]]  # means and deviations of the input of each normalised layer


class NOCD(NodeNetwork):
    """NOCD: overlapping communities by a graph neural network.

    Affiliations are those of BIGCLAM, but a function of the surroundings of a node, and of its attributes if there are
    any. Nodes with similar surroundings get similar affiliations, which makes them better if links are few.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of communities K.
    hidden_layer_sizes : sequence of int, default=(128,)
        Widths of the hidden layers.
    append_adjacency : bool, default=True
        Whether the network sees the rows of the adjacency matrix beside ``node_features``. Without these it sees the
        rows anyway.
    attribute_scaling : {'auto', 'columns', 'rows'} or None, default='auto'
        What is done to ``node_features``: columns of mean 0 and variance 1, rows of unit length, or nothing. ``'auto'``
        is rows beside the adjacency matrix; else columns, unless the features are sparse with more than 100 columns,
        such as counts of words.
    balance_loss : bool, default=True
        Whether links and other pairs count the same in the loss. False is the likelihood, per pair.
    batch_norm : bool, default=True
        Whether hidden layers are normalised over the nodes.
    dropout : float, default=0.5
        Share of the inputs of each layer that is dropped while learning.
    weight_decay : float, default=1e-2
        Penalty on the squared weights.
    batch_size : int or None, default=20000
        Links and other pairs that are drawn for an epoch, if the graph has more links than that. None: all pairs in
        each epoch.
    learning_rate : float, default=1e-3
        Step size of Adam.
    eval_every : int, default=25
        Epochs between two evaluations of the loss of all pairs, without dropout.
    n_iter_no_change : int or None, default=None
        Converged after this many evaluations without a lower loss. None: the fit takes ``max_epochs`` epochs, whatever
        the loss.
    max_epochs : int, default=500
        Steps of Adam.
    device : str, default='cpu'
        Where the network learns: ``'cpu'``, ``'cuda'``, ``'auto'`` (a GPU if there is one) or the name of a torch
        device. Prediction is on the CPU.
    random_state : int, RandomState or None, default=None
        Seed of the weights, of dropout and of the pairs.
    verbose : int, default=0
        1 prints a line per start, 2 a line per evaluation.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_nodes, n_clusters)
        The affiliations F of the network of least loss: non-negative, unbounded. A node without links has zeros.
    labels_ : ndarray of shape (n_nodes,)
        Community of strongest affiliation, -1 if there is none.
    n_clusters_ : int
    threshold_ : float
        The affiliation from which on a node is a member, for ``get_cover``: that of the authors, 0.5, or 0.01 without
        ``balance_loss``.
    best_epoch_ : int
        The epoch of least loss.
    node_names_ : ndarray of shape (n_nodes,)
    objective_ : float
        The loss L of ``memberships_`` over all pairs, minimised.
    objective_history_ : ndarray
        L at each evaluation, and at the end ``objective_``. It need not fall.
    n_iter_ : int
        Epochs.
    converged_ : bool
        Whether the loss stopped to fall.

    See Also
    --------
    soft_clustering.BIGCLAM : the same likelihood, with affiliations that are free.
    soft_clustering.DMoN : a similar network for communities that do not overlap.

    Notes
    -----
    Follows [1]_ and the settings of its authors' program. Nodes without links take no part, as in their experiments.
    Standardised columns of attributes are our choice: on the small binary attributes of social networks they come
    closer to the published figures than rows of unit length. If every affiliation is 0 at the end, the network
    learns once more with other weights; if that ends in the same way, a warning says so.

    An epoch costs O(nnz (h + K)) for h hidden units, memory is O(nnz + n (h + K)): the adjacency matrix stays sparse.
    On the CPU torch learns on one thread, so that the result does not depend on the number of cores; on other devices
    the same seed need not give the same bits. The loss falls slowly long after the communities are found: the authors
    stop after 10 evaluations without a lower one, which hardly happens in their 500 epochs, so that these are the
    default; the network of least loss is kept. Links are there or not: different weights are refused.

    Of two models of a graph, with and without attributes or from two seeds, the authors take the one of lower
    ``objective_``.

    New nodes come as rows of links to the nodes of ``fit``, with ``node_features`` where ``fit`` had them. They pass
    the network in the place of a node with these links; the nodes of ``fit`` stay as they are.

    References
    ----------
    .. [1] O. Shchur, S. Guennemann (2019). Overlapping community detection with graph neural networks. Deep Learning on
       Graphs workshop, KDD. arXiv:1909.12201.

    Examples
    --------
    >>> from soft_clustering import NOCD
    >>> from soft_clustering.datasets import make_overlapping_graph
    >>> from soft_clustering.metrics import overlapping_nmi
    >>> graph = make_overlapping_graph(200, 4, random_state=0)
    >>> model = NOCD(n_clusters=4, max_epochs=100, random_state=0).fit(graph.adjacency)
    >>> overlapping_nmi(graph.cover, model.get_cover()) > 0.7
    True
    """

    threshold_: float
    best_epoch_: int
    membership_kind: ClassVar[MembershipKind] = "affiliation"
    _binary: ClassVar[bool] = True
    _policy = Policy(monotone=False)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": PARAMETERS["n_clusters"],
        "hidden_layer_sizes": ["array-like"],
        "append_adjacency": ["boolean"],
        "attribute_scaling": [None, StrOptions({"auto", "columns", "rows"})],
        "balance_loss": ["boolean"],
        "batch_norm": ["boolean"],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
        "batch_size": [None, Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "eval_every": [Interval(Integral, 1, None, closed="left")],
        "n_iter_no_change": [None, Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "device": [str],
        "random_state": PARAMETERS["random_state"],
        "verbose": PARAMETERS["verbose"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        hidden_layer_sizes: ArrayLike = (128,),
        append_adjacency: bool = True,
        attribute_scaling: Literal["auto", "columns", "rows"] | None = "auto",
        balance_loss: bool = True,
        batch_norm: bool = True,
        dropout: float = 0.5,
        weight_decay: float = 1e-2,
        batch_size: int | None = 20000,
        learning_rate: float = 1e-3,
        eval_every: int = 25,
        n_iter_no_change: int | None = None,
        max_epochs: int = 500,
        device: str = "cpu",
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.hidden_layer_sizes = hidden_layer_sizes
        self.append_adjacency = append_adjacency
        self.attribute_scaling = attribute_scaling
        self.balance_loss = balance_loss
        self.batch_norm = batch_norm
        self.dropout = dropout
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.eval_every = eval_every
        self.n_iter_no_change = n_iter_no_change
        self.max_epochs = max_epochs
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    # The protocol -----------------------------------------------------------------------------------------------------

    def fit(self, X: GraphLike, y: object = None, *, node_features: MatrixLike | None = None) -> Self:
        """Fit the affiliations of a graph.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of edges
        y : ignored
        node_features : array-like or sparse matrix of shape (n_nodes, n_features), default=None
            Attributes of the nodes, in the order of ``node_names_``.

        Returns
        -------
        self : object
        """
        with Fit[Layers](self) as fit:
            fit.unit = "epoch"
            sizes = check_layer_sizes(self.hidden_layer_sizes)
            A = self._graph(X)
            features = None if node_features is None else validate_node_features(node_features, A.shape[0])
            self.threshold_ = 0.5 if self.balance_loss else 0.01
            self._linked = np.flatnonzero(np.diff(A.indptr))
            if A.nnz == 0:
                self._features = Features.of(features, None, self.append_adjacency)
                fit.stores(partial(self._store_nothing, A=A))
                fit.runs.append(finished([]))
                return self
            A = A[self._linked][:, self._linked]
            features = None if features is None else features[self._linked]
            self._features = Features.of(features, self._scaling(features), self.append_adjacency)
            torch = load_torch("NOCD")
            device = resolve_device(torch, self.device)
            rng = check_random_state(self.random_state)
            fit.enter(reproducible(torch))
            Ah, H = normalised_adjacency(A), self._features.input(A, features)
            fit.stores(partial(self._store, torch=torch, A=A, Ah=Ah, H=H))
            for number in (1, 2):  # the second time only if all affiliations are 0
                run: Run[Layers] = Run([])
                fit.runs.append(run)
                self._learn(torch, run, A, Ah, H, sizes, device, make_generator(torch, rng), fit.report)
                fit.report_start(number, run)
                fit.runs[:] = [run]
                if self._pass(run.state, Ah, H).affiliations.any():
                    break
        return self

    def _link_factors(self) -> tuple[Any, Any]:
        return self.memberships_, self.memberships_

    @as_fitted
    def predict_memberships(self, X: MatrixLike, *, node_features: MatrixLike | None = None) -> NDArray[Any]:
        """Affiliations of new nodes, each for itself.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_nodes)
            Links of the new nodes to the nodes of ``fit``; those to nodes without links are not used.
        node_features : array-like or sparse matrix of shape (n_new, n_features), default=None
            Where ``fit`` had them.

        Returns
        -------
        memberships : ndarray of shape (n_new, n_clusters)
        """
        links = self._links(X)
        features = self._new_features(node_features, links.shape[0], self._features.width)
        links = links[:, self._linked]
        F = np.zeros((links.shape[0], self.n_clusters_), dtype=links.dtype)
        known = np.flatnonzero(np.diff(links.indptr))
        if len(known):
            links = links[known]
            H = self._features.input(links, None if features is None else features[known])
            with single_threaded_blas():
                mix = NewRows.of(links, self._degrees).mix(self._products)
                F[known] = self._affiliations(self._layers, H, mix, self._normalised)
        return F

    def _default_cover(self) -> NDArray[np.bool_]:
        # The authors' rule, under which a node may have no community, agrees better with the circles of ego networks.
        return self.get_cover(self.threshold_)

    # The method -------------------------------------------------------------------------------------------------------

    def _scaling(self, features: Matrix) -> Scaling | None:
        if self.attribute_scaling != "auto":
            return self.attribute_scaling
        counts = sparse.issparse(features) and features.shape[1] > _MANY_COLUMNS
        return "rows" if self.append_adjacency or counts else "columns"

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
        layers = []
        for shape in pairwise([H.shape[1], *sizes, self.n_clusters]):
            W, b = (torch.zeros(size, dtype=torch.float32, device="cpu") for size in (shape, shape[1]))
            torch.nn.init.xavier_uniform_(W, generator=generator)
            layers.append(tuple(part.to(device).requires_grad_() for part in (W, b)))
        weights, biases = (list(kind) for kind in zip(*layers, strict=True))
        groups = [{"params": weights}, {"params": biases, "weight_decay": 0.0}]
        optimizer = make_adam(torch, groups, self.learning_rate, self.weight_decay, device)
        loss = AffiliationLoss(torch, A, self.balance_loss, device)
        size = self.batch_size if self.batch_size is not None and loss.can_draw else A.nnz

        def network(rate: float) -> Any:
            h = None
            for W, b in layers:
                if h is None:
                    product = seen.dropped(W, rate, generator)
                else:
                    if self.batch_norm:
                        h = torch.nn.functional.batch_norm(h, None, None, training=True, eps=_NORM)
                    product = narrow_product(torch, dropout(torch, h, rate, generator), W)
                h = torch.relu(spread @ product + b)
            return h

        for epoch in range(1, self.max_epochs + 1):
            F = network(self.dropout)
            known = F.detach()
            _, gradient = loss.drawn(known, size, generator) if A.nnz > 2 * size else loss.full(known)
            optimizer.zero_grad()
            F.backward(gradient)
            optimizer.step()
            if epoch % self.eval_every and epoch < self.max_epochs:
                continue
            with torch.no_grad():
                value = check_finite(float(loss.full(network(0.0))[0]), _REMEDY)
            run.history.append(value)
            run.residual, run.n_iter = objective_change(None, None, run.history), epoch
            waited = len(run.history) - 1 - int(np.argmin(run.history))
            if waited == 0:
                W, b = ([part.detach().cpu().double().numpy() for part in parts] for parts in (weights, biases))
                run.state = list(zip(W, b, strict=True))
            report(run)
            if waited == self.n_iter_no_change:
                run.converged = True
                return

    def _affiliations(
        self, layers: Layers, H: Matrix, mix: Callable[[int, Array], Array], normalise: Callable[[int, Array], Array]
    ) -> Array:
        """Output of a network in double precision, where nodes get ``mix(layer, product)`` in each layer."""
        for layer, (W, b) in enumerate(layers):
            if layer and self.batch_norm:
                H = normalise(layer, H)
            H = np.maximum(mix(layer, H @ W) + b, 0)
        F: Array = H
        return F

    def _normalised(self, layer: int, H: Array) -> Array:
        mean, deviation = self._moments[layer]
        return (H - mean) / deviation

    def _pass(self, layers: Layers, Ah: sparse.csr_array, H: Matrix) -> Passed:
        """Pass the nodes of ``fit`` through a network."""
        products: list[Array] = []
        moments: dict[int, tuple[Array, Array]] = {}

        def mix(layer: int, product: Array) -> Array:
            products.append(product)
            messages: Array = Ah @ product
            return messages

        def normalise(layer: int, H: Array) -> Array:
            mean, deviation = moments[layer] = H.mean(axis=0), np.sqrt(H.var(axis=0) + _NORM)
            normalised: Array = (H - mean) / deviation
            return normalised

        return Passed(self._affiliations(layers, H, mix, normalise), products, moments)

    def _store(
        self, run: Run[Layers], torch: ModuleType, A: sparse.csr_array, Ah: sparse.csr_array, H: Matrix
    ) -> list[str]:
        """Store the best network, what its nodes send to new ones, and what it says of them."""
        self._layers, self._degrees = run.state, np.diff(A.indptr).astype(np.float64)
        F, self._products, self._moments = self._pass(run.state, Ah, H)
        self.best_epoch_ = min((int(np.argmin(run.history)) + 1) * self.eval_every, run.n_iter)
        loss, _ = AffiliationLoss(torch, A, self.balance_loss, "cpu").full(torch.from_numpy(F))
        run.history.append(float(loss))
        memberships = np.zeros((self.n_features_in_, self.n_clusters), dtype=A.dtype)
        memberships[self._linked] = F
        self._set_memberships(memberships)
        complaints, found = [], int(memberships.any(axis=0).sum())
        if not found:
            complaints.append(
                "NOCD collapsed: all affiliations are 0; use a smaller learning_rate or weight_decay, or more epochs"
            )
        elif found < self.n_clusters:
            complaints.append(f"NOCD found only {found} of n_clusters={self.n_clusters} communities; use fewer")
        if self.n_iter_no_change is not None:
            remedy = "set n_iter_no_change=None for a given number of epochs"
            complaints += not_converged(self, run, "max_epochs", "epochs", remedy)
        return complaints

    def _store_nothing(self, run: Run[Layers], A: sparse.csr_array) -> list[str]:
        """Store what is known of a graph without links."""
        self.best_epoch_ = 1
        self._set_memberships(np.zeros((A.shape[0], self.n_clusters), dtype=A.dtype))
        return []
