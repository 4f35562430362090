"""Robust deep fuzzy k-means.

An autoencoder and fuzzy clusters of its codes, learnt together. With samples x_i of d features, codes z_i = f(x_i),
reconstructions g(z_i), all network weights theta, and residuals r_ik = |z_i - v_k| / s in units of their root mean
square s, minimise

    J = (1 / n d) sum_i |x_i - g(z_i)|^2 + (a / n) (sum_ik u_ik^m psi(r_ik) + mu tr(U^T L U)) + b |theta|^2

over theta, centres V and memberships with sum_k u_ik = 1. The adaptive loss psi(r) = (1 + tau) r^2 / (r + tau) is
quadratic for r well below tau and linear above, so that outliers count less. L = D - S is the Laplacian of the graph
of nearest codes: tr(U^T L U) = sum_ij s_ij |u_i - u_j|^2 / 2 asks neighbours for similar memberships.

The autoencoder first learns to reconstruct; k-means on its codes gives the first clusters, and the graph. Then, in
turn:

* an epoch of Adam on J, with U, V and s fixed;
* v_k = sum_i w_ik z_i / sum_i w_ik with w_ik = u_ik^m psi'(r_ik) / (2 r_ik);
* s^2 = sum_ik u_ik^m |z_i - v_k|^2 / sum_ik u_ik^m;
* memberships: those of fuzzy c-means with psi in the place of the squared distance, then drawn towards the means of
  the neighbours. For m = 2 instead the exact minimiser of J for each row, given the others.

References
----------
X. Wu, Y.-F. Yu, L. Chen, W. Ding, Y. Wang (2024). Robust deep fuzzy K-means clustering for image data. Pattern
Recognition 153, 110504.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from .._types import Array, MatrixLike, Seed
from ..base import InductiveSoftClusterer, as_fitted
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Frame, make_blocks
from ..engine.collapse import coinciding
from ..engine.fitting import Fit, not_converged, say
from ..engine.initialisation import best_kmeans
from ..engine.loop import Policy, Run
from ..engine.neighbors import Neighbors
from ..engine.threads import single_threaded_blas
from ..engine.training import (
    check_finite,
    check_layer_sizes,
    load_torch,
    make_adam,
    make_generator,
    reproducible,
    resolve_device,
    run_epoch,
)
from ..fuzzy.fuzzifier import resolve_fuzzifier
from ..inputs.features import check_enough_samples, refuse_dask, validate_features
from ..inputs.images import validate_grid
from ..kernels.centers import center_memberships
from ..kernels.reference import fcm_rule, squared_distances
from .autoencoders import make_autoencoder

if TYPE_CHECKING:
    from typing import Self

    import torch

_STARTS = 10  # of k-means
_SWEEPS = 3  # over the graph in a membership step
_EMPTY = 1e-12  # mean weight, of at most 1, below which a cluster is empty
_NEAR, _ROUNDING = 1e-6, 1e-9  # the unit s is at least these parts of the spread and of the size of the codes
_ON_CENTER = 1e-6  # smaller residuals are none
_ROWS = 1024  # samples encoded at once
_REMEDY = "use a smaller learning_rate or cluster_weight"


# The clusters of the codes --------------------------------------------------------------------------------------------


def adaptive_loss(r: Array | torch.Tensor, tau: float) -> Any:
    """psi(r) = (1 + tau) r^2 / (r + tau): r^2 for a large tau, r for a small one.

    Examples
    --------
    >>> adaptive_loss(np.array([0.0, 1.0, 4.0]), 1.0)
    array([0. , 1. , 6.4])
    >>> adaptive_loss(np.array([0.0, 1.0, 4.0]), np.inf)
    array([ 0.,  1., 16.])
    """
    share = 1 / (1 + tau)  # so that tau may be infinite
    return r * r / (1 - share + share * r)


def adaptive_weight(r: Array, tau: float) -> Array:
    """psi'(r) / (2 r) = (1 + tau) (r + 2 tau) / (2 (r + tau)^2), the weight of r^2 in a weighted mean."""
    share = 1 / (1 + tau)
    return (2 * (1 - share) + share * r) / (2 * (1 - share + share * r) ** 2)


def neighbor_graph(Z: Array, k: int) -> Any:
    """Affinities (n, n) of codes: heat weights between nearest neighbours, the mean of the matrix and its transpose.

    The squared width is the mean squared distance to the k-th neighbour.
    """
    n = len(Z)
    k = min(k, n - 1)
    if k == 0:
        return sparse.csr_array((n, n))
    neighbors = Neighbors(Z, k)
    indices, D = neighbors.nearest()
    D = D[:, :k]
    S = neighbors.rows(indices, np.exp(-D / (D[:, -1].mean() or 1.0)))
    return sparse.csr_array((S + S.T) * 0.5)


def smooth(U: Array, S: sparse.csr_array, weight: float) -> Array:
    """Memberships drawn towards the means of the neighbours: U = (U0 + weight D^-1 S U) / (1 + weight), some sweeps."""
    degrees = np.asarray(S.sum(axis=1)).ravel()[:, None]
    alone = degrees == 0
    start = U
    for _ in range(_SWEEPS):
        U = (start + weight * np.where(alone, start, (S @ U) / np.where(alone, 1.0, degrees))) / (1 + weight)
    return U


def simplex_minimiser(q: Array, p: Array) -> Array:
    """For each row the u >= 0 with sum 1 that minimises sum_k q_k u_k^2 - p_k u_k, q >= 0: u = max(0, (p + l) / 2q).

    Examples
    --------
    >>> simplex_minimiser(np.array([[1.0, 1.0, 1.0]]), np.array([[0.0, 1.0, -5.0]]))
    array([[0.25, 0.75, 0.  ]])
    """
    q = np.maximum(q, 1e-100 * np.maximum(q.max(axis=1, keepdims=True), 1e-100))
    order = np.argsort(-p, axis=1, kind="stable")
    p_sorted, width = (np.take_along_axis(values, order, axis=1) for values in (p, 0.5 / q))
    # l for the case that the first j entries of the order are positive; the last such j is right.
    levels = (1 - np.cumsum(p_sorted * width, axis=1)) / np.cumsum(width, axis=1)
    last = p.shape[1] - 1 - np.argmax((p_sorted + levels > 0)[:, ::-1], axis=1)
    U: Array = np.maximum(p + np.take_along_axis(levels, last[:, None], axis=1), 0) * (0.5 / q)
    U /= U.sum(axis=1, keepdims=True)
    return U


def quadratic_memberships(loss: Array, U: Array, S: sparse.csr_array, weight: float) -> Array:
    """Some sweeps over the rows: each row minimises sum u^2 loss + weight tr(U^T L U), given the previous others.

    No sweep makes that sum larger.
    """
    degrees = np.asarray(S.sum(axis=1)).ravel()[:, None]
    for _ in range(_SWEEPS):
        U = simplex_minimiser(loss + weight * degrees, 2 * weight * (S @ U))
    return U


def roughness(U: Array, S: sparse.csr_array) -> float:
    """tr(U^T L U) = sum_ij s_ij |u_i - u_j|^2 / 2."""
    degrees = np.asarray(S.sum(axis=1)).ravel()
    return float(degrees @ np.square(U).sum(axis=1) - np.vdot(U, S @ U))


class Clusters(NamedTuple):
    """Centres of the codes, the unit of their residuals, and memberships."""

    centers: Array  # V (K, q)
    unit: float  # s
    memberships: Array  # U (n, K)

    def residuals(self, Z: Array) -> Array:
        """Residuals (n, K) of codes."""
        r = np.sqrt(squared_distances(Z, self.centers)) / self.unit
        r[r < _ON_CENTER] = 0
        return r


class JointRun(Run[Clusters]):
    """A run that has something to keep from the start: the autoencoder has learnt to reconstruct before."""

    begun = True


def update_centers(Z: Array, clusters: Clusters, m: float, tau: float) -> Clusters:
    """New centres and their unit. An empty cluster gets the sample of largest loss."""
    V, _, U = clusters
    power = U**m
    r = clusters._replace(unit=_unit(Z, V, power)).residuals(Z)
    weights = power * adaptive_weight(r, tau)
    weights /= weights.max()
    full = weights.mean(axis=0) > _EMPTY
    V = np.where(full[:, None], (weights.T @ Z) / np.where(full, weights.sum(axis=0), 1.0)[:, None], V)
    if not full.all():
        V[np.argmin(full)] = Z[r.min(axis=1).argmax()]
    return Clusters(V, _unit(Z, V, power), U)


def _unit(Z: Array, V: Array, power: Array) -> float:
    """s, at least a small part of the spread of the codes, and more than their rounding."""
    centred = Z - Z.mean(axis=0)
    least = max(_NEAR * float(np.sqrt((centred**2).mean())), _ROUNDING * float(np.sqrt((Z**2).mean())))
    scatter = float(np.vdot(power, squared_distances(Z, V)) / power.sum())
    return max(math.sqrt(scatter), least) or 1.0


# The network ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Standard:
    """Coordinates of samples with mean 0 and one unit for all features, in which their mean variance is 1."""

    frame: Frame
    mean: Array
    spread: float

    @classmethod
    def of(cls, X: NDArray[Any]) -> Standard:
        """Those of rows (n, d)."""
        # About a row instead of the mean: differences of rows are exact, so that an offset changes not a bit.
        frame = Frame(X[0].astype(np.float64), make_blocks(X).frame.scale)
        Z = frame.from_input(X)
        mean = Z.mean(axis=0)
        Z -= mean
        return cls(frame, mean, math.sqrt(np.vdot(Z, Z) / Z.size))

    def from_input(self, X: NDArray[Any]) -> Array:
        """Rows in input units, in these coordinates."""
        return (self.frame.from_input(X) - self.mean) / (self.spread or 1.0)

    def to_input(self, Z: Array) -> Array:
        """Rows of these coordinates in input units."""
        return self.frame.to_input(self.mean + self.spread * Z)


class Training:
    """An autoencoder with the samples that it learns from."""

    def __init__(
        self,
        torch: ModuleType,
        encoder: torch.nn.Module,
        decoder: torch.nn.Module,
        samples: torch.Tensor,
        generator: torch.Generator,
        batch_size: int,
        penalty: float,
    ) -> None:
        self._torch, self.encoder, self.decoder, self._samples = torch, encoder, decoder, samples
        self._generator, self._batch_size, self._penalty = generator, batch_size, penalty
        self._parameters = [p for part in (encoder, decoder) for p in part.parameters() if p.requires_grad]
        if not self._parameters:
            raise ValueError("encoder and decoder must have parameters to learn. Got none with requires_grad=True.")

    def start(self, learning_rate: float) -> None:
        """Begin to learn, with a fresh Adam."""
        self._adam = make_adam(self._torch, self._parameters, learning_rate, self._penalty, self._samples.device)

    def epoch(self, remedy: str, term: Callable[[Any, Any], Any] | None = None) -> None:
        """Learn for an epoch to reconstruct, and to make ``term(codes, indices)`` of a batch small."""

        def loss(batch: torch.Tensor) -> Any:
            samples = self._samples[batch]
            codes = self.encoder(samples)
            error = (self.decoder(codes) - samples).square().mean()
            return error if term is None else error + term(codes, batch)

        self.encoder.train()
        self.decoder.train()
        count = len(self._samples)
        check_finite(run_epoch(self._torch, count, self._batch_size, self._generator, self._adam, loss), remedy)

    def forward(self, remedy: str, batches: Iterable[Any] | None = None) -> tuple[Array, float]:
        """Codes, and the mean squared error of the reconstruction; of other samples where batches of them are given."""
        self.encoder.eval()
        self.decoder.eval()
        codes, error = [], 0.0
        with self._torch.no_grad():
            for batch in self._samples.split(_ROWS) if batches is None else batches:
                z = self.encoder(batch)
                codes.append(z.cpu().double().numpy())
                error += float((self.decoder(z) - batch).square().sum())
        return np.concatenate(codes), check_finite(error / self._samples.numel(), remedy)

    def penalty(self) -> float:
        """That on the parameters."""
        return self._penalty * sum(float(p.detach().square().sum()) for p in self._parameters)

    def to_device(self, values: Array) -> Any:
        """An array where the samples are, in single precision."""
        return self._torch.from_numpy(values.astype(np.float32)).to(self._samples.device)


class RDFKC(InductiveSoftClusterer):
    """Robust deep fuzzy k-means: fuzzy clusters of the codes of an autoencoder, learnt together.

    For images and other data whose features mean little one by one.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    m : float, default=1.2
        Fuzzifier, > 1: near 1 the memberships are almost hard. 2.0 takes the membership step of the publication, whose
        memberships tend to be equal where clusters are many.
    encoder : torch.nn.Module or None, default=None
        Network from samples to codes of shape (rows, n_components). It gets samples of mean 0 and variance 1, of shape
        (rows, n_features) or (rows, C, H, W), and must work in single and in double precision. It is copied, never
        changed. None: layers of ``hidden_layer_sizes``, or for images of at least 12 by 12 three convolutions of
        stride 2 and a linear layer.
    decoder : torch.nn.Module or None, default=None
        Network from codes to samples; together with ``encoder``.
    hidden_layer_sizes : sequence of int, default=(256, 64)
        Widths of the hidden layers of the encoder, mirrored by the decoder; without an ``encoder``, and not for images
        that are convolved.
    n_components : int, default=10
        Dimensions q of the codes; with an ``encoder`` they are what it gives.
    robust_scale : float, default=1.0
        tau, at least 1e-6: residuals of more than about tau times their root mean square count linearly instead of
        squared. ``np.inf`` is the squared loss.
    cluster_weight : float, default=0.1
        a: how much the network follows the clusters rather than the reconstruction.
    graph_weight : float, default=1.0
        mu: how much memberships follow those of the neighbours, beside the clustering term.
    n_neighbors : int, default=10
        Neighbours of a code in the graph.
    weight_decay : float, default=1e-4
        b: penalty on the squared weights of the network.
    batch_size : int, default=256
        Samples per step of Adam.
    pretrain_epochs : int, default=50
        Passes of the autoencoder over the data before there are clusters.
    pretrain_learning_rate : float, default=1e-3
        Step size of Adam in these.
    learning_rate : float, default=3e-4
        Step size of Adam afterwards.
    max_epochs : int, default=30
        Passes of autoencoder and clusters.
    tol : float or None, default=None
        None: the network learns for ``max_epochs`` epochs. A number ends the fit as soon as no membership changes by
        more than this in an epoch, and a warning says if that was never the case.
    device : str, default='cpu'
        Where the network learns: ``'cpu'``, ``'cuda'``, ``'auto'`` (a GPU if there is one) or the name of a torch
        device. Prediction is on the CPU.
    random_state : int, RandomState or None, default=None
        Seed of the weights, the batches and k-means.
    verbose : int, default=0
        1 prints a line after pretraining and one at the end, 2 a line per epoch.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1. From the codes alone, as for new samples: the graph has its say in the codes and centres.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership.
    centers_ : ndarray of shape (n_clusters, n_features), or (n_clusters, ...) as the images
        Reconstructions of the centres of the codes.
    embedding_ : ndarray of shape (n_samples, n_components)
        Codes Z.
    embedding_centers_ : ndarray of shape (n_clusters, n_components)
        V.
    encoder_, decoder_ : torch.nn.Module
        The learnt networks, on the CPU and in double precision; see ``encoder`` for the units of samples.
    n_clusters_ : int
    objective_ : float
        J at ``memberships_``. The unit of the data does not matter.
    objective_history_ : ndarray
        J after each epoch, and at the end ``objective_``. It need not fall.
    n_iter_ : int
        Epochs after pretraining.
    converged_ : bool
        Whether ``tol`` was met; False without one.

    See Also
    --------
    soft_clustering.AFCM : an embedding from a neighbour graph, without a network.
    soft_clustering.FCM : fuzzy clusters of the features themselves.

    Notes
    -----
    Follows [1]_ in its terms: a reconstruction, fuzzy clusters of the codes with an adaptive loss, a Laplacian term on
    the memberships, a penalty on the weights. Our reading are the forms of psi, the graph and the networks, the unit s,
    and the membership step for m other than 2, which keeps clusters apart; the publication's makes memberships nearly
    equal. The reconstruction error is a mean over the features, too, so that ``cluster_weight`` means the same
    for any number of them, and the graph term counts beside the clustering term, so that ``graph_weight`` does not
    depend on ``cluster_weight``.

    An epoch costs a pass of the network forward and back over all samples, the steps of the clusters O(n K q); memory
    is a copy of X in single precision, at first one in double precision, and O(n (k + K + q)). On the CPU torch learns
    on one thread, so that the result does not depend on the number of cores; on other devices the same seed need not
    give the same bits. Samples are centred and divided by one standard deviation for all features, as for pixels: if
    features have different units, scale them first.

    Random batches keep the network moving at a constant learning rate: on the digits of scikit-learn some membership
    still changes by 0.02 to 0.08 in every epoch up to the 120th, while the clusters improve slowly. The number of
    epochs is therefore the rule that ends a fit, not a change of the memberships. On small tables a network learns
    little that k-means does not see. On the 8 by 8 digits the clusters are better than those of the autoencoder alone,
    but only about as good as those of k-means on the pixels.

    References
    ----------
    .. [1] X. Wu, Y.-F. Yu, L. Chen, W. Ding, Y. Wang (2024). Robust deep fuzzy K-means clustering for image data.
       Pattern Recognition 153, 110504.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from soft_clustering import RDFKC
    >>> X, y = load_digits(n_class=4, return_X_y=True)
    >>> model = RDFKC(n_clusters=4, tol=None, random_state=0).fit(X)
    >>> adjusted_rand_score(y, model.labels_) > 0.8
    True
    >>> model.embedding_.shape, model.centers_.shape
    ((720, 10), (4, 64))
    >>> images = X.reshape(-1, 8, 8)
    >>> model.set_params(pretrain_epochs=1).fit(images).centers_.shape
    (4, 8, 8)
    """

    centers_: NDArray[Any]
    embedding_: NDArray[Any]
    embedding_centers_: NDArray[Any]
    encoder_: Any
    decoder_: Any
    objective_: float
    objective_history_: Array
    n_iter_: int
    converged_: bool
    _policy = Policy(monotone=False, place=None)
    # The networks are torch's: they are looked at when there is torch.
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": PARAMETERS["n_clusters"],
        "m": [Interval(Real, 1, None, closed="neither")],
        "hidden_layer_sizes": ["array-like"],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "robust_scale": [Interval(Real, 1e-6, None, closed="both")],
        "cluster_weight": [Interval(Real, 0, None, closed="left")],
        "graph_weight": [Interval(Real, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "pretrain_epochs": [Interval(Integral, 0, None, closed="left")],
        "pretrain_learning_rate": [Interval(Real, 0, None, closed="neither")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "tol": [None, *PARAMETERS["tol"]],
        "device": [str],
        "random_state": PARAMETERS["random_state"],
        "verbose": PARAMETERS["verbose"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float = 1.2,
        encoder: torch.nn.Module | None = None,
        decoder: torch.nn.Module | None = None,
        hidden_layer_sizes: ArrayLike = (256, 64),
        n_components: int = 10,
        robust_scale: float = 1.0,
        cluster_weight: float = 0.1,
        graph_weight: float = 1.0,
        n_neighbors: int = 10,
        weight_decay: float = 1e-4,
        batch_size: int = 256,
        pretrain_epochs: int = 50,
        pretrain_learning_rate: float = 1e-3,
        learning_rate: float = 3e-4,
        max_epochs: int = 30,
        tol: float | None = None,
        device: str = "cpu",
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.encoder = encoder
        self.decoder = decoder
        self.hidden_layer_sizes = hidden_layer_sizes
        self.n_components = n_components
        self.robust_scale = robust_scale
        self.cluster_weight = cluster_weight
        self.graph_weight = graph_weight
        self.n_neighbors = n_neighbors
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.pretrain_epochs = pretrain_epochs
        self.pretrain_learning_rate = pretrain_learning_rate
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.tol = tol
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    # The protocol ---------------------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or ndarray of shape (n_samples, H, W) or (n_samples, C, H, W)
            Features, or images of height H and width W with C channels.
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[Clusters](self) as fit:
            fit.unit = "epoch"
            X = self._validated(X, reset=True)
            check_enough_samples(len(X), self.n_clusters)
            resolve_fuzzifier(self.m, len(X), self.n_components, self.n_clusters)
            torch = load_torch("RDFKC")
            device = resolve_device(torch, self.device)
            rng = check_random_state(self.random_state)
            # The default networks have no random layers: then torch's global generator is left alone altogether.
            seed = None if self.encoder is None else int(rng.randint(2**31 - 1))
            fit.enter(reproducible(torch, seed=seed))
            self._learn(fit, torch, X, device, rng)
        return self

    @as_fitted
    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Memberships of new data.

        Parameters
        ----------
        X : as for ``fit``, samples of the same shape

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        check_is_fitted(self, "_state")
        X = self._validated(X, reset=False)
        torch = load_torch("RDFKC")
        with single_threaded_blas(), reproducible(torch), torch.no_grad():
            Z = np.concatenate([self.encoder_(batch).numpy() for batch in self._batches(torch, X)])
        if not np.isfinite(Z).all():
            raise ValueError("X has samples for which the encoder gives codes that are not finite.")
        return self._memberships(Z).astype(X.dtype)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """The state for a file: of networks that this class makes only the weights, as arrays that skops can hold."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "encoder_" in state and state["_fitted_parameters"]["encoder"] is None:
            for name in ("encoder_", "decoder_"):
                state[name] = {key: tensor.numpy() for key, tensor in state[name].state_dict().items()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if isinstance(state.get("encoder_"), dict):
            torch, fitted = load_torch("RDFKC"), state["_fitted_parameters"]
            sizes = check_layer_sizes(fitted["hidden_layer_sizes"])
            networks = make_autoencoder(torch, self._shape, sizes, fitted["n_components"], torch.Generator())
            for name, network in zip(("encoder_", "decoder_"), networks, strict=True):
                weights = {key: torch.from_numpy(np.array(value)) for key, value in state[name].items()}
                network.double().load_state_dict(weights)
                setattr(self, name, network.eval())

    # The method -----------------------------------------------------------------------------------------------------

    def _learn(
        self, fit: Fit[Clusters], torch: ModuleType, X: NDArray[Any], device: torch.device, rng: np.random.RandomState
    ) -> None:
        """Learn from validated data."""
        self._standard = Standard.of(X.reshape(len(X), -1))
        generator = make_generator(torch, rng)
        encoder, decoder = (network.to(device) for network in self._networks(torch, X, generator))
        samples = torch.cat([batch.float() for batch in self._batches(torch, X)]).to(device)
        training = Training(torch, encoder, decoder, samples, generator, self.batch_size, self.weight_decay)
        remedy = "use a smaller pretrain_learning_rate"
        training.start(self.pretrain_learning_rate)
        for _ in range(self.pretrain_epochs):
            training.epoch(remedy)
        Z, error = training.forward(remedy)
        say(self, f"pretraining: {self.pretrain_epochs} epochs, reconstruction error {error:.4g}")
        S = neighbor_graph(Z, self.n_neighbors)
        run = JointRun(self._update(Z, self._start(Z, rng), S))
        fit.stores(partial(self._store, torch=torch, X=X, training=training, S=S))
        fit.runs.append(run)
        training.start(self.learning_rate)
        while run.n_iter < self.max_epochs and not run.converged:
            training.epoch(_REMEDY, self._pull(torch, training, run.state))
            Z, error = training.forward(_REMEDY)
            before, run.state = run.state, self._update(Z, run.state, S)
            run.residual = float(np.abs(run.state.memberships - before.memberships).max())
            run.history.append(error + self._clustering(Z, run.state, S) + training.penalty())
            run.n_iter += 1
            run.converged = self.tol is not None and run.residual <= self.tol
            fit.report(run)
        fit.report_start(1, run)

    def _pull(self, torch: ModuleType, training: Training, clusters: Clusters) -> Callable[[Any, Any], Any]:
        """The clustering term of a batch of codes, to learn by."""
        V, power = (training.to_device(part) for part in (clusters.centers, clusters.memberships**self.m))

        def pull(codes: Any, batch: Any) -> Any:
            # By differences: products lose the digits of codes near a centre.
            r = torch.cdist(codes, V, compute_mode="donot_use_mm_for_euclid_dist") / clusters.unit
            return self.cluster_weight * (power[batch] * adaptive_loss(r, self.robust_scale)).sum() / len(batch)

        return pull

    def _networks(self, torch: ModuleType, X: NDArray[Any], generator: torch.Generator) -> tuple[Any, Any]:
        """Encoder and decoder to train, in single precision on the CPU."""
        if self.encoder is None and self.decoder is None:
            sizes = check_layer_sizes(self.hidden_layer_sizes)
            return make_autoencoder(torch, self._shape, sizes, self.n_components, generator)
        given: dict[str, Any] = {"encoder": self.encoder, "decoder": self.decoder}
        for name, network in given.items():
            if not isinstance(network, torch.nn.Module):
                raise TypeError(
                    f"{name} must be a torch.nn.Module, and so must the other of encoder and decoder, or both must be "
                    f"None. Got {network!r} instead."
                )
        # Before the work, in the precision that is used after it.
        samples = next(self._batches(torch, X[:2]))
        rows = len(samples)
        codes = _try("encoder", samples, deepcopy(self.encoder), torch)
        if codes.ndim != 2 or len(codes) != rows:
            raise ValueError(
                f"encoder must give codes of shape ({rows}, n_components). Got {tuple(codes.shape)} instead."
            )
        again = _try("decoder", codes, deepcopy(self.decoder), torch)
        if again.shape != samples.shape:
            raise ValueError(
                f"decoder must give samples of shape {tuple(samples.shape)}. Got {tuple(again.shape)} instead."
            )
        encoder, decoder = (deepcopy(network).float().cpu() for network in given.values())
        return encoder, decoder

    def _batches(self, torch: ModuleType, X: NDArray[Any]) -> Iterator[Any]:
        """Samples as the networks take them, in double precision."""
        rows = X.reshape(len(X), -1)
        for lo in range(0, len(X), _ROWS):
            batch = self._standard.from_input(rows[lo : lo + _ROWS])
            yield torch.from_numpy(batch.reshape(len(batch), *self._shape))

    def _start(self, Z: Array, rng: np.random.RandomState) -> Clusters:
        """The best of some k-means runs on the codes."""
        blocks = make_blocks(Z)
        V = best_kmeans(blocks, self.n_clusters, rng, _STARTS)
        return Clusters(blocks.frame.to_input(V), 1.0, center_memberships(blocks.blocks[0], V, "nearest"))

    def _update(self, Z: Array, clusters: Clusters, S: sparse.csr_array) -> Clusters:
        """New centres, and then new memberships, graph included."""
        clusters = update_centers(Z, clusters, self.m, self.robust_scale)
        loss = adaptive_loss(clusters.residuals(Z), self.robust_scale)
        if self.m == 2 and self.graph_weight > 0:
            U = quadratic_memberships(loss, clusters.memberships, S, self.graph_weight)
        else:
            U = smooth(fcm_rule(loss, self.m)[0], S, self.graph_weight)
        return clusters._replace(memberships=U)

    def _memberships(self, Z: Array) -> Array:
        """Those of codes alone."""
        return fcm_rule(adaptive_loss(self._state.residuals(Z), self.robust_scale), self.m)[0]

    def _clustering(self, Z: Array, clusters: Clusters, S: sparse.csr_array) -> float:
        """The clustering and the graph term of J."""
        U = clusters.memberships
        scatter = float(np.vdot(U**self.m, adaptive_loss(clusters.residuals(Z), self.robust_scale)))
        return self.cluster_weight * (scatter + self.graph_weight * roughness(U, S)) / len(Z)

    def _store(
        self, run: Run[Clusters], torch: ModuleType, X: NDArray[Any], training: Training, S: sparse.csr_array
    ) -> list[str]:
        """Store what was learnt: codes and centres once more, in double precision, memberships without the graph."""
        self.encoder_, self.decoder_ = training.encoder.cpu().double(), training.decoder.cpu().double()
        Z, error = training.forward(_REMEDY, self._batches(torch, X))
        V, unit, _ = update_centers(Z, run.state, self.m, self.robust_scale)
        self._state = Clusters(V, unit, np.empty((0, len(V))))
        U = self._memberships(Z)
        run.history.append(error + self._clustering(Z, Clusters(V, unit, U), S) + training.penalty())
        with torch.no_grad():
            centers = self.decoder_(torch.from_numpy(V)).numpy().reshape(len(V), -1)
        self.centers_ = self._standard.to_input(centers).reshape(-1, *X.shape[1:]).astype(X.dtype)
        self.embedding_, self.embedding_centers_ = Z.astype(X.dtype), V.astype(X.dtype)
        self._set_memberships(U.astype(X.dtype))
        more = "tol, or set tol=None for a given number of epochs"
        spread = float(self.embedding_.var(axis=0, dtype=np.float64).sum())
        fewer = "use fewer clusters, or a smaller m or graph_weight"
        return [
            *not_converged(self, run, "max_epochs", "epochs", more),
            *coinciding("RDFKC", V, self.memberships_, spread, fewer),
        ]

    # Input ------------------------------------------------------------------------------------------------------------

    def _validated(self, X: MatrixLike, *, reset: bool) -> NDArray[Any]:
        """Features (n, d) or images (n, H, W) or (n, C, H, W)."""
        refuse_dask(self, X)
        images = getattr(X, "ndim", 2) in (3, 4) if reset else len(self._sample_shape) > 1
        samples: NDArray[Any] = (
            validate_grid(X) if images else validate_features(self, X, reset=reset, accept_sparse=False)
        )
        if reset:
            self._sample_shape: tuple[int, ...] = samples.shape[1:]
            if images:
                self.n_features_in_ = math.prod(self._sample_shape)
        elif samples.shape[1:] != self._sample_shape:
            raise ValueError(
                f"X has samples of shape {samples.shape[1:]}, but RDFKC is expecting samples of shape "
                f"{self._sample_shape}."
            )
        return samples

    @property
    def _shape(self) -> tuple[int, ...]:
        """That of a sample to the networks: (d,) or (C, H, W)."""
        return (1, *self._sample_shape) if len(self._sample_shape) == 2 else self._sample_shape


def _try(name: str, samples: torch.Tensor, network: torch.nn.Module, torch: ModuleType) -> Any:
    """What a given network makes of samples, in double precision."""
    try:
        with torch.no_grad():
            return network.cpu().double().eval()(samples)
    except Exception as error:
        raise ValueError(
            f"{name} must take an array of shape {tuple(samples.shape)}, in double precision, too. It raised "
            f"{type(error).__name__}: {error}"
        ) from error
