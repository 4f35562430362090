"""One table, a row per estimator; everything that lists estimators reads it."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """What is known of an estimator without importing it."""

    name: str
    module: str
    family: str
    extra: str | None  # the extra that ``fit`` needs
    citation: str
    use_when: str


REGISTRY: tuple[Row, ...] = (
    Row(
        "FCM",
        "soft_clustering.fuzzy.fcm",
        "fuzzy",
        None,
        "Bezdek (1981)",
        "round clusters of similar size, large or streaming data; not for elongated clusters or outliers",
    ),
    Row(
        "GMM",
        "soft_clustering.mixture.gmm",
        "mixture",
        None,
        "Dempster, Laird, Rubin (1977)",
        "elliptic clusters of different size, a likelihood and BIC wanted; not for d close to n with full covariances",
    ),
)
