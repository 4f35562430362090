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
        "ENTROPYFCM",
        "soft_clustering.fuzzy.entropy_fcm",
        "fuzzy",
        None,
        "Gupta, Datta, Das (2021)",
        "round clusters in many features or of different units, a front of softness wanted; not for elongated clusters",
    ),
    Row(
        "RoughKMeans",
        "soft_clustering.fuzzy.rough_k_means",
        "fuzzy",
        None,
        "Lingras, West (2004)",
        "round clusters, sure members to be told from doubtful ones; not for elongated clusters or fine degrees",
    ),
    Row(
        "AFCM",
        "soft_clustering.fuzzy.afcm",
        "fuzzy",
        None,
        "Chen, Yu, Nie, Li (2024)",
        "clusters of any shape that a neighbour graph connects; not for bridged or strongly overlapping clusters",
    ),
    Row(
        "AFCMSimple",
        "soft_clustering.fuzzy.afcm_simple",
        "fuzzy",
        None,
        "Chen, Yu, Nie, Li (2024)",
        "round clusters of similar spread, no fuzziness to choose; not for elongated clusters or very unequal spreads",
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
        "MBMM",
        "soft_clustering.mixture.mbmm",
        "mixture",
        None,
        "Hsu, Chen (2024)",
        "proportions and scores in [0, 1], skewed clusters that lean on a border; not for negatively correlated ones",
    ),
    Row(
        "BGMM",
        "soft_clustering.mixture.bgmm",
        "mixture",
        None,
        "Dai, Erkkila, Yli-Harja, Lahdesmaki (2009)",
        "measurements together with proportions of the same samples; not for dependence between the two in a cluster",
    ),
    Row(
        "ECM",
        "soft_clustering.evidential.ecm",
        "evidential",
        None,
        "Masson, Denoeux (2008)",
        "round clusters, doubt between clusters and outliers told apart; not for many clusters or elongated ones",
    ),
    Row(
        "EVCLUS",
        "soft_clustering.evidential.evclus",
        "evidential",
        None,
        "Denoeux, Masson (2004); Denoeux, Sriboonchitta, Kanjanatarakul (2016)",
        "dissimilarities instead of features, doubt and outliers told apart; not for more rows than pairs of them fit",
    ),
    Row(
        "KFCM",
        "soft_clustering.kernelized.kfcm",
        "kernelized",
        None,
        "Zhang, Chen (2004)",
        "round clusters among far outliers; not for rings or other clusters that are not convex",
    ),
    Row(
        "KFCCL",
        "soft_clustering.kernelized.kfccl",
        "kernelized",
        None,
        "Mizutani, Miyamoto (2005)",
        "clusters that are compact in the feature space of a kernel, cosine similarities; not for large n: O(n^2)",
    ),
    Row(
        "SoftKSC",
        "soft_clustering.kernelized.soft_ksc",
        "kernelized",
        None,
        "Langone, Mall, Suykens (2013)",
        "clusters of any shape, new samples to predict, a few labels to use; not for many clusters of different size",
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
        "SoftDBSCANGM",
        "soft_clustering.density.soft_dbscan_gm",
        "density",
        None,
        "Smiti, Elouedi (2016)",
        "dense clusters among noise, their number not known; not for clusters of different density or curved ones",
    ),
    Row(
        "SCSPA",
        "soft_clustering.consensus.scspa",
        "consensus",
        None,
        "Punera, Ghosh (2008)",
        "one partition from several, in numbers and sizes of clusters that differ; not with METIS for unequal clusters",
    ),
    Row(
        "SHBGF",
        "soft_clustering.consensus.shbgf",
        "consensus",
        None,
        "Punera, Ghosh (2008)",
        "one partition from several, and which of their clusters go together; not with METIS for unequal clusters",
    ),
    Row(
        "SMCLA",
        "soft_clustering.consensus.smcla",
        "consensus",
        None,
        "Punera, Ghosh (2008)",
        "one soft partition from several with similar clusters; not where their numbers of clusters are far from K",
    ),
    Row(
        "SKFCM",
        "soft_clustering.images.skfcm",
        "images",
        None,
        "Zhang, Chen (2004); Chen, Zhang (2004)",
        "noisy grey or colour images; not where one region is much larger than the others",
    ),
    Row(
        "FeMIFuzzy",
        "soft_clustering.federated.femi_fuzzy",
        "federated",
        None,
        "Ngo, Fang, Rumbut, Wang (2024)",
        "rows that must stay with several clients, values missing; not where the rows can be pooled and are complete",
    ),
    Row(
        "LDA",
        "soft_clustering.documents.lda",
        "documents",
        None,
        "Blei, Ng, Jordan (2003); Hoffman, Blei, Bach (2010)",
        "texts that mix several topics, many or streaming documents; not for texts of a few words",
    ),
    Row(
        "PLSI",
        "soft_clustering.documents.plsi",
        "documents",
        None,
        "Hofmann (1999, 2001)",
        "texts that mix several topics, by maximum likelihood; tempered for short texts; not for streams of documents",
    ),
)
