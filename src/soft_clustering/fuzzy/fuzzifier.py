"""The fuzzifier m: its rule, its limits, and what to try if it was too large."""

from __future__ import annotations

import numpy as np


def auto_fuzzifier(n_samples: float, n_features: int) -> float:
    """The fuzzifier of ``m='auto'``: the rule of Schwaemmle and Jensen, at most the customary 2.

    With m = 2 in high dimension all prototypes slide to the mean of the data; the rule keeps them apart.

    References
    ----------
    V. Schwaemmle, O. N. Jensen (2010). A simple and fast method to determine the parameters for fuzzy c-means cluster
    analysis. Bioinformatics 26(22), 2841-2848.

    Examples
    --------
    >>> auto_fuzzifier(150, 4)
    2.0
    >>> round(auto_fuzzifier(1797, 64), 3)
    1.05
    """
    n, d = n_samples, n_features
    rule = 1 + (1418 / n + 22.05) * d**-2 + (12.33 / n + 0.243) * d ** (-0.0406 * np.log(n) - 0.1134)
    return float(min(2.0, rule))


def resolve_fuzzifier(m: float | str, n_samples: float, n_features: int, n_clusters: int) -> float:
    """The value of ``m``, refused where u^m of equal memberships would underflow."""
    value = auto_fuzzifier(n_samples, n_features) if isinstance(m, str) else float(m)
    if n_clusters > 1 and value > 1 + 500 / np.log(n_clusters):
        raise ValueError(
            f"m={value:g} is too large for n_clusters={n_clusters}: (1/n_clusters)^m underflows. "
            f"Use m <= {1 + 500 / np.log(n_clusters):.4g}."
        )
    return value


def smaller(name: str, value: float | str) -> str:
    """What to try if the fuzzifier of this name was too large."""
    return f"a smaller {name}" if value == "auto" else f"{name}='auto' or a smaller {name}"
