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
        "GK",
        "soft_clustering.fuzzy.gk",
        "fuzzy",
        None,
        "Gustafson, Kessel (1979)",
        "elongated or flat clusters of similar volume, any orientation; not for very different sizes or large d",
    ),
    Row(
        "GathGeva",
        "soft_clustering.fuzzy.gath_geva",
        "fuzzy",
        None,
        "Gath, Geva (1989)",
        "elliptic clusters of different volume, shape and weight; not for d close to n or clusters far from Gaussian",
    ),
    Row(
        "PCM",
        "soft_clustering.fuzzy.pcm",
        "fuzzy",
        None,
        "Krishnapuram, Keller (1993, 1996)",
        "clusters among outliers, typicalities wanted; not where every cluster must be found: prototypes may coincide",
    ),
    Row(
        "PFCM",
        "soft_clustering.fuzzy.pfcm",
        "fuzzy",
        None,
        "Pal, Pal, Keller, Bezdek (2005)",
        "round clusters with outliers, memberships and typicalities wanted; not for elongated clusters",
    ),
    Row(
        "ENTROPYFCM",
        "soft_clustering.fuzzy.entropy_fcm",
        "fuzzy",
        None,
        "Gupta, Datta, Das (2021)",
        "round clusters in many features or of different units, a front of softness wanted; not for elongated clusters",
    ),
    Row(
        "SCM",
        "soft_clustering.density.scm",
        "density",
        None,
        "Chiu (1994)",
        "the number of clusters is not known, centres are to be samples; not for clusters of very different spread",
    ),
    Row(
        "GMM",
        "soft_clustering.mixture.gmm",
        "mixture",
        None,
        "Dempster, Laird, Rubin (1977)",
        "elliptic clusters of different size, a likelihood and BIC wanted; not for d close to n with full covariances",
    ),
    Row(
        "FeMIFuzzy",
        "soft_clustering.federated.femi_fuzzy",
        "federated",
        None,
        "Ngo, Fang, Rumbut, Wang (2024)",
        "rows that must stay with several clients, values missing; not where the rows can be pooled and are complete",
    ),
)
