"""The colours of the clusters, and their mixtures."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._types import Array
from .data import check_count, check_memberships, check_noise, with_noise

# Derived by tools/make_palette.py.
PALETTE = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#000000"),
    *("#5A1E00", "#000F96", "#962D5A", "#A5E1B4", "#A53CFF", "#001ED2", "#5A4B00", "#96C387"),
    *("#C30F96", "#00F0FF", "#3C1E5A", "#8787FF"),
)
UNASSIGNED = "#999999"  # the colour of a sample without a cluster: a row of zeros


def from_hex(colors: tuple[str, ...]) -> Array:
    """Return colours ``#RRGGBB`` as rows of sRGB in [0, 1]."""
    return np.array([[int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)] for color in colors])


def to_linear(srgb: Array) -> Array:
    """Convert sRGB to amounts of light."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def to_srgb(light: Array) -> Array:
    """Convert amounts of light to sRGB."""
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def cluster_colors(n_clusters: int) -> Array:
    """Return colours for clusters 0, 1, ...: up to 20 distinct ones, also for colour-blind readers.

    Parameters
    ----------
    n_clusters : int
        Above 20 the colours repeat, with a warning.

    Returns
    -------
    colors : ndarray of shape (n_clusters, 3)
        sRGB in [0, 1].

    Notes
    -----
    The first eight are those of Okabe and Ito [1]_. Each further one is, among all colours that are neither greyish nor
    very dark or light, the one farthest from the colours before it, from white and from the grey of samples without a
    cluster. The distance is the smallest of four cases: normal vision, and protanopia, deuteranopia and tritanopia as
    simulated by Machado et al. [2]_; it is the Euclidean distance in Oklab [3]_, where 0.02 is just noticeable.
    The smallest distance of two of the 20 colours is 0.076.

    References
    ----------
    .. [1] M. Okabe, K. Ito (2002). Color universal design: how to make figures and presentations that are friendly to
       colorblind people.
    .. [2] G. M. Machado, M. M. Oliveira, L. A. F. Fernandes (2009). A physiologically-based model for simulation of
       color vision deficiency. IEEE TVCG 15(6), 1291-1298.
    .. [3] B. Ottosson (2020). A perceptual color space for image processing.

    Examples
    --------
    >>> from soft_clustering.plotting import cluster_colors
    >>> cluster_colors(2).round(2)
    array([[0.  , 0.45, 0.7 ],
           [0.9 , 0.62, 0.  ]])
    """
    if check_count("n_clusters", n_clusters) > len(PALETTE):
        message = f"There are {n_clusters} clusters, but only {len(PALETTE)} colours: the colours repeat."
        warnings.warn(message, stacklevel=2)
    return from_hex(PALETTE)[np.arange(n_clusters) % len(PALETTE)]


def membership_shares(memberships: NDArray[Any]) -> Array:
    """Divide the memberships by the sum of their row; a row of zeros stays."""
    # Dividing by the largest first keeps the sum of huge entries finite.
    largest = memberships.max(axis=1, keepdims=True)
    relative = np.divide(memberships, largest, out=np.zeros(memberships.shape), where=largest > 0)
    shares: Array = relative / np.maximum(relative.sum(axis=1, keepdims=True), 1)
    return shares


def membership_colors(
    memberships: ArrayLike, *, noise_mass: ArrayLike | None = None, min_opacity: float = 0.25
) -> Array:
    """Return the colour of each sample: a mixture of its clusters' colours, fainter if the sample is uncertain.

    Parameters
    ----------
    memberships : array-like of shape (n_samples, n_clusters)
        Non-negative.
    noise_mass : array-like of shape (n_samples,), default=None
        Memberships in the noise, which is grey.
    min_opacity : float, default=0.25
        Opacity of a sample of certainty 0, in [0, 1].

    Returns
    -------
    colors : ndarray of shape (n_samples, 4)
        sRGB and opacity in [0, 1].

    Notes
    -----
    With shares p_ik = u_ik / sum_l u_il, the colour is the mean of the clusters' colours weighted by p_i, taken in
    amounts of light; noise counts as one more cluster. The opacity grows from ``min_opacity`` to 1 with the certainty

        c_i = min(1, sum_k u_ik) (max_k p_ik - 1 / K) / (1 - 1 / K),

    1 for a sample of one cluster, 0 for equal shares. The first factor is 1 for memberships that sum to 1; it fades the
    outliers of possibilistic memberships. A row of zeros is grey and opaque.

    Examples
    --------
    >>> from soft_clustering.plotting import membership_colors
    >>> membership_colors([[1, 0], [0.5, 0.5], [0, 0]]).round(2)
    array([[0.  , 0.45, 0.7 , 1.  ],
           [0.66, 0.54, 0.51, 0.25],
           [0.6 , 0.6 , 0.6 , 1.  ]])
    """
    memberships = check_memberships(memberships)
    if not 0 <= min_opacity <= 1:
        raise ValueError(f"min_opacity must be in [0, 1]. Got {min_opacity!r} instead.")
    colors, noise = cluster_colors(memberships.shape[1]), check_noise(noise_mass, len(memberships))
    if noise is not None:
        colors = np.vstack([colors, from_hex((UNASSIGNED,))])
    return mixed_colors(with_noise(memberships, noise), colors, min_opacity)


def mixed_colors(memberships: Array, colors: Array, min_opacity: float = 0.25) -> Array:
    """Return the mixture of each sample's clusters with given colours of the clusters: :func:`membership_colors`."""
    K = memberships.shape[1]
    shares = membership_shares(memberships)
    certainty = (shares.max(axis=1) * K - 1) / (K - 1) if K > 1 else np.ones(len(shares))
    certainty *= np.minimum(memberships, 1).sum(axis=1).clip(max=1)
    mixed = np.empty((len(shares), 4))
    mixed[:, :3] = to_srgb((shares @ to_linear(colors)).clip(0, 1))
    mixed[:, 3] = min_opacity + (1 - min_opacity) * certainty.clip(0, 1)
    mixed[~memberships.any(axis=1)] = [*from_hex((UNASSIGNED,))[0], 1]
    return mixed
