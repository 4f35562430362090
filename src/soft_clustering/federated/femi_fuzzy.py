"""Federated fuzzy clustering of incomplete data by multiple imputation.

Rows stay with their clients. Each client completes its rows several times, runs fuzzy c-means on every copy and tells
the server centroids and their mass; the server groups the centroids of all clients. The steps are the functions of
:mod:`soft_clustering.federated.protocol`, which also run where the clients are on other machines.

References
----------
H. Ngo, H. Fang, J. Rumbut, H. Wang (2024). Federated fuzzy clustering for decentralized incomplete longitudinal
behavioral data. IEEE Internet of Things Journal 11(8), 14657-14670.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._types import Array, MatrixLike, Names, Seed
from ..base import InductiveSoftClusterer
from ..engine import fitting
from ..engine.collapse import coinciding
from ..engine.loop import Policy, Run
from ..inputs.clients import Client, align_features, validate_clients
from .partial import partial_distances
from .protocol import (
    CONSTRAINTS,
    Aggregate,
    Fit,
    Plan,
    Settings,
    Summary,
    client_fit,
    client_score,
    client_summary,
    predict_rows,
    server_aggregate,
    server_plan,
    told_centers,
)
from .sammon import sammon_map

if TYPE_CHECKING:
    from typing import Self


class Messages(NamedTuple):
    """What was sent in both rounds."""

    settings: Settings  # to the clients
    summaries: list[Summary]
    plan: Plan  # to the clients
    fits: list[Fit]
    aggregate: Aggregate  # to the clients

    def run(self) -> Run[Messages]:
        """The passes of the clients, with the history of the server."""
        converged = all(fit.converged for fit in self.fits)
        return Run(self, list(self.aggregate.history), max(fit.n_iter for fit in self.fits), converged)


class FeMIFuzzy(InductiveSoftClusterer):
    """Federated fuzzy clustering by multiple imputation: tables of several clients, with missing values.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of clusters K. None: the number between ``min_clusters`` and ``max_clusters`` of least mean log Xie-Beni
        index [3]_ of the clients, weighted by their rows.
    m : float or 'auto', default='auto'
        Fuzzifier, > 1; ``'auto'`` as in :class:`soft_clustering.FCM`, by the rows and features of a client for its own
        centroids, and by those of all clients for the memberships.
    min_clusters : int, default=2
        Least number of clusters to choose from; not used where ``n_clusters`` is given.
    max_clusters : int, default=8
        Largest number of clusters to choose from; not used where ``n_clusters`` is given.
    n_imputations : int, default=5
        Completed copies of a client's rows. A client without missing values needs one.
    align : {'union', 'intersection'}, default='union'
        Features to use: those of any client, or those that all clients have.
    projection : {None, 'sammon'}, default=None
        ``'sammon'`` maps the centroids into the plane [4]_, see ``embedding_``.
    min_count : float, default=5
        What stands for fewer rows is not sent: moments of a feature with fewer values, centroids of a smaller mass
        sum u^m. No row then makes up more than 1 / min_count of a mean or centroid that is sent. 0 sends everything.
    n_init : int, default=3
        Starts of fuzzy c-means at a client.
    max_iter : int, default=100
        Passes of fuzzy c-means per start.
    tol : float, default=1e-5
        Fuzzy c-means converged when the centres move by at most ``tol`` times the root mean variance of the features.
    random_state : int, RandomState or None, default=None
        Seed of the imputations and the starts.
    verbose : int, default=0
        1 prints a line per client and round.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1; the rows of all clients, in their order. A row without any value belongs to all clusters equally.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership.
    centers_ : ndarray of shape (n_clusters, n_features)
        In input units.
    n_clusters_ : int
    m_ : float
        The fuzzifier of the memberships.
    client_memberships_ : list of ndarrays of shapes (n_c, n_clusters)
        ``memberships_`` per client.
    client_sizes_ : ndarray of shape (n_clients,)
    client_index_ : ndarray of shape (n_samples,)
        The client of each row.
    xie_beni_ : dict
        Number of clusters -> geometric mean of the clients' Xie-Beni indices, smaller is better, for the numbers that
        the rows of the clients allow; empty if ``n_clusters`` is given.
    embedding_ : ndarray of shape (n_clusters + n_centroids, 2)
        With ``projection='sammon'``: map of the centres, then of the centroids that the clients sent, in their order.
        :func:`soft_clustering.federated.client_project` puts rows on it.
    messages_ : dict
        What was sent: ``'settings'`` and ``'plan'`` to the clients, lists of ``'summaries'`` and ``'fits'`` from them,
        ``'aggregate'`` to them.
    objective_ : float
        Sum of mass times squared distance of the clients' centroids to their centre, in standardised units.
    objective_history_ : ndarray
        The same per pass at the server.
    n_iter_ : int
        The most passes that fuzzy c-means took at a client.
    converged_ : bool
        Whether fuzzy c-means converged at every client.
    n_features_in_ : int
        Number of aligned features, without those that no client has ``min_count`` values of.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The aligned features in the order in which they first appear, if names were given.

    See Also
    --------
    soft_clustering.FCM : all rows in one place, no missing values.
    soft_clustering.federated : the steps as functions, for clients on other machines.

    Notes
    -----
    The setting, the two rounds of parameters instead of rows, multiple imputation, the Xie-Beni index and Sammon's map
    are those of the publication [1]_; all formulas are reconstructed, as its full text was not available.

    Moments are sent as count, mean and standard deviation, not as sums, which would lose the digits of data far from
    the origin. ``predict_memberships`` takes one matrix with the aligned features, NaN allowed: an incomplete row is
    judged by its partial distances [2]_. So a complete training row gets its ``memberships_`` again, an incomplete one
    only something near: there they are the mean over the imputed copies.

    What is sent are aggregates, O(K d) numbers per client whatever its rows; no noise is added, so that this is no
    differential privacy. A client costs n_imputations fuzzy c-means runs per candidate number of clusters, and
    imputation O(q^3 + d^2) per pass for a row with q of d values missing: some hundred features at most. One Gaussian
    for all clusters blurs them when much is missing.

    A client judges the number of clusters by its own rows, which misleads if the clients have different mixes of the
    clusters. If one cluster makes up most of the rows of each client, too many are found, because the index then
    compares ways of splitting that one; if each client lacks some of the clusters, too few are found: the number that
    it holds. Set ``n_clusters`` in these cases. If rows can be pooled and are complete, :class:`soft_clustering.FCM` on
    them does as well.

    References
    ----------
    .. [1] H. Ngo, H. Fang, J. Rumbut, H. Wang (2024). Federated fuzzy clustering for decentralized incomplete
       longitudinal behavioral data. IEEE Internet of Things Journal 11(8), 14657-14670.
    .. [2] R. J. Hathaway, J. C. Bezdek (2001). Fuzzy c-means clustering of incomplete data. IEEE Trans. Systems, Man,
       and Cybernetics B 31(5), 735-744.
    .. [3] X. L. Xie, G. Beni (1991). A validity measure for fuzzy clustering. IEEE TPAMI 13(8), 841-847.
    .. [4] J. W. Sammon (1969). A nonlinear mapping for data structure analysis. IEEE Trans. Computers C-18(5), 401-409.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from soft_clustering import FeMIFuzzy
    >>> X, y = make_blobs(300, 4, centers=3, random_state=0)
    >>> X[::7, 1] = np.nan
    >>> model = FeMIFuzzy(random_state=0).fit([X[:80], X[80:200], X[200:]])
    >>> model.n_clusters_
    3
    >>> model.client_memberships_[1].shape
    (120, 3)
    >>> [fit.centers.shape for fit in model.messages_["fits"]]
    [(3, 4), (3, 4), (3, 4)]
    """

    centers_: NDArray[Any]
    m_: float
    client_memberships_: list[NDArray[Any]]
    client_sizes_: NDArray[np.intp]
    client_index_: NDArray[np.intp]
    xie_beni_: dict[int, float]
    embedding_: Array
    messages_: dict[str, Any]
    objective_: float
    objective_history_: Array
    n_iter_: int
    converged_: bool
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    modality: ClassVar[Literal["clients"]] = "clients"
    train_rule: ClassVar[Literal["reinferred"]] = "reinferred"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS | {
        "projection": [None, StrOptions({"sammon"})],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        m: float | str = "auto",
        min_clusters: int = 2,
        max_clusters: int = 8,
        n_imputations: int = 5,
        align: str = "union",
        projection: str | None = None,
        min_count: float = 5,
        n_init: int = 3,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.min_clusters = min_clusters
        self.max_clusters = max_clusters
        self.n_imputations = n_imputations
        self.align = align
        self.projection = projection
        self.min_count = min_count
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: Sequence[MatrixLike], y: object = None, *, feature_names: Names | Sequence[Names | None] | None = None
    ) -> Self:
        """Run the protocol with all clients in this process.

        Parameters
        ----------
        X : list of array-likes of shapes (n_c, d_c)
            A matrix or data frame per client, NaN where a value is missing.
        y : ignored
        feature_names : sequence of str or sequence of such sequences, default=None
            Names that all clients share, or the names of each client. Required if the clients are not data frames and
            differ in their number of features.

        Returns
        -------
        self : object
        """
        with fitting.Fit[Messages](self) as fit:
            settings = self._settings()
            clients = validate_clients(X, feature_names)
            fit.stores(partial(self._store_clients, clients=clients))
            summaries = []
            for c, client in enumerate(clients):
                told = client_summary(client.X, settings, feature_names=client.features)
                summaries.append(told)
                fitting.say(self, f"client {c}: {told.n_samples} rows, {len(told.features)} features summarised")
            plan = server_plan(summaries, settings)
            fitting.say(self, f"server: {plan.n_clusters} clusters of {len(plan.features)} features")
            fits = []
            for c, client in enumerate(clients):
                found = client_fit(client.X, plan, feature_names=client.features)
                fits.append(found)
                fitting.say(self, f"client {c}: {int((found.mass > 0).sum())} centroids after {found.n_iter} passes")
            aggregate = server_aggregate(fits, plan)
            fitting.say(self, f"server: objective {aggregate.history[-1]:.8g}, {len(aggregate.history)} passes")
            fit.runs.append(Messages(settings, summaries, plan, fits, aggregate).run())
        return self

    def fit_transform(self, X: Sequence[MatrixLike], y: object = None, **fit_params: Any) -> NDArray[Any]:
        """Fit and return ``memberships_``: those of the rows of all clients, in their order.

        Parameters
        ----------
        X : list of array-likes of shapes (n_c, d_c)
        y : ignored
        **fit_params : dict
            Further keyword arguments of ``fit``.

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        memberships: NDArray[Any] = self.fit(X, y, **fit_params).memberships_
        return memberships

    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Memberships of new rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            One matrix with the aligned features, NaN where a value is missing.

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
            A row without any value belongs to all clusters equally.
        """
        check_is_fitted(self, "messages_")
        with np.errstate(over="ignore", invalid="ignore"):
            X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        return predict_rows(X, self.messages_["plan"], self.messages_["aggregate"])

    @property
    def _policy(self) -> Policy:
        """A pass at the server may make the objective worse if centroids that came in lack features."""
        known = not hasattr(self, "messages_") or not np.isnan(told_centers(self.messages_["fits"])[0]).any()
        return Policy(monotone=known, place=None)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = True
        return tags

    def _settings(self) -> Settings:
        """The parameters that the clients need to know."""
        shared = {name: getattr(self, name) for name in CONSTRAINTS}
        return Settings(**shared, seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)))

    def _store(self, run: Run[Messages], *, named: bool, dtype: DTypeLike = np.float64) -> list[str]:
        """Set the fitted attributes that the server knows: all but those with an entry per row."""
        _, _, plan, fits, aggregate = run.state
        self.messages_ = run.state._asdict()
        self.n_clusters_ = len(aggregate.centers)
        self.m_ = plan.m
        self.centers_ = (plan.mean + aggregate.centers * plan.std).astype(dtype)
        self.xie_beni_ = {
            plan.settings.min_clusters + i: float(np.exp(score))
            for i, score in enumerate(plan.log_xie_beni)
            if not np.isnan(score)
        }
        self.n_features_in_ = len(plan.features)
        if named:
            self.feature_names_in_ = np.array(plan.features, dtype=object)
        if self.projection == "sammon":
            points = np.vstack([aggregate.centers, told_centers(fits)[0]])
            self.embedding_ = sammon_map(np.sqrt(partial_distances(points, points)))[0]
        return []

    def _store_clients(self, run: Run[Messages], clients: list[Client]) -> list[str]:
        """Set all fitted attributes; gives what to warn of."""
        _, _, plan, _, aggregate = run.state
        dtype = np.result_type(*[client.X.dtype for client in clients])
        memberships = [client_score(client.X, plan, aggregate, feature_names=client.features) for client in clients]
        self._set_memberships(np.vstack(memberships).astype(dtype, copy=False))
        self.client_sizes_ = np.array([len(client.X) for client in clients])
        self.client_index_ = np.repeat(np.arange(len(clients)), self.client_sizes_)
        self.client_memberships_ = np.split(self.memberships_, np.cumsum(self.client_sizes_)[:-1])
        self._store(run, named=clients[0].named, dtype=dtype)
        return self._complaints(run, align_features([client.features for client in clients], plan.settings.align))

    def _complaints(self, run: Run[Messages], features: list[str]) -> list[str]:
        """What to warn of after a fit; ``features`` are those of the clients."""
        _, _, plan, fits, aggregate = run.state
        failed = [c for c, fit in enumerate(fits) if not fit.converged]
        passes = f"passes of fuzzy c-means at the clients {failed}"
        complaints = fitting.not_converged(self, run, passes=passes)
        rare = [feature for feature in features if feature not in set(plan.features)]
        if rare:
            complaints.append(
                f"FeMIFuzzy left out the features {rare}: no client has min_count={self.min_count} values of them. "
                "Prediction ignores them."
            )
        silent = [c for c, fit in enumerate(fits) if fit.n_iter and not fit.mass.any()]
        if silent:
            complaints.append(
                f"FeMIFuzzy got no centroid from the clients {silent}: none of their clusters has a weight of "
                f"min_count={self.min_count}. Use fewer clusters or a smaller min_count."
            )
        remedy = "use fewer clusters or a smaller m"
        return complaints + coinciding(
            "FeMIFuzzy", aggregate.centers, self.memberships_, float(len(plan.features)), remedy
        )
