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
    reconstructed: str | None = None  # what is known, if the publication itself was not at hand


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
        "clusters among outliers, typicalities wanted; not if every cluster must be found: prototypes may coincide",
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
        "elongated or flat clusters of similar volume, any orientation; not for narrow clusters beside wide ones",
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
        "round clusters, sure and doubtful members to be separated; not for elongated clusters or fine degrees",
    ),
    Row(
        "AFCM",
        "soft_clustering.fuzzy.afcm",
        "fuzzy",
        None,
        "Chen, Yu, Nie, Li (2024)",
        "clusters of any shape that a neighbour graph connects, larger than 30 samples; not for bridged clusters or "
        "tables of binary and heavy-tailed features",
        "The abstract and summaries name a learnt fuzziness, an embedding from an eigenproblem with a graph term and "
        "the mixture without it; the form of the objective, the graph and the degrees from neighbours are ours.",
    ),
    Row(
        "AFCMSimple",
        "soft_clustering.fuzzy.afcm_simple",
        "fuzzy",
        None,
        "Chen, Yu, Nie, Li (2024)",
        "round clusters of similar spread, no fuzziness to choose; not for elongated clusters or very unequal spreads",
        "Only the abstract was at hand: it names the case without the graph, a simplified Gaussian mixture; the "
        "constants of the objective and of the entropy weight are ours.",
    ),
    Row(
        "CAFHFCM",
        "soft_clustering.fuzzy.cafhfcm",
        "fuzzy",
        None,
        "Lin, Chen (2020)",
        "round clusters, a result that does not depend on the start, or an unknown number of separate clusters; not "
        "for overlapping clusters of unknown number",
        "Only the abstract was at hand: fuzzy c-means with a fusion penalty on many first centroids and one "
        "hyper-parameter; the form of the penalty, the path, the solver and the choice of the number are ours.",
    ),
    Row(
        "CAFCM",
        "soft_clustering.fuzzy.cafcm",
        "fuzzy",
        None,
        "Li, Wang (2024)",
        "a k-means partition of least cost despite many poor local optima; not for clusters that are not round",
    ),
    Row(
        "SFCMEP",
        "soft_clustering.fuzzy.sfcmep",
        "fuzzy",
        None,
        "Hong et al. (2025)",
        "round clusters, labels or prior memberships of a few samples; not if only the classes of the rest matter",
        "Only the abstract and introduction were at hand: an entropy between memberships and priors, for samples that "
        "have one, is added to fuzzy c-means; its form, the learnt entropy weight and the weight of labels are ours.",
    ),
    Row(
        "FCC",
        "soft_clustering.fuzzy.fcc",
        "fuzzy",
        None,
        "Kim, Lee (2002)",
        "colours of images, grouped by how alike they look; on other features no better than FCM",
        "The abstract names a three-dimensional fuzzy colour ball, two distances between colours and fuzzy colour "
        "centroids; the formulae and the radii are ours.",
    ),
    Row(
        "RPFKM",
        "soft_clustering.fuzzy.rpfkm",
        "fuzzy",
        None,
        "Zhao et al. (2022)",
        "round clusters among outliers or in many redundant features; not for elongated clusters or very large n and d",
        "Only the abstract was at hand: memberships learnt in a projection, unsquared distances, a reconstruction term "
        "and reweighting; the squares of the memberships, the automatic weights and the seeding are ours.",
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
        "round clusters, doubt between clusters to be told from outliers; not for many clusters or elongated ones",
    ),
    Row(
        "EVCLUS",
        "soft_clustering.evidential.evclus",
        "evidential",
        None,
        "Denoeux, Masson (2004); Denoeux, Sriboonchitta, Kanjanatarakul (2016)",
        "dissimilarities instead of features, doubt to be told from outliers; not for very many rows, as it fits pairs "
        "of them, or overlap in 40 features and more",
    ),
    Row(
        "KFCM",
        "soft_clustering.kernelized.kfcm",
        "kernelized",
        None,
        "Zhang, Chen (2004)",
        "round clusters among far outliers; not for rings or other clusters that are not convex",
        "kernel distance, memberships and centres agree with public programs written after the publication; its text "
        "was not at hand, and the rules for the kernel width and the fuzzifier are ours",
    ),
    Row(
        "KFCCL",
        "soft_clustering.kernelized.kfccl",
        "kernelized",
        None,
        "Mizutani, Miyamoto (2005)",
        "clusters that are compact in the feature space of a kernel, cosine similarities; not for large n: O(n^2), or "
        "a small cluster beside a much larger one",
        "The title and abstracts of the same group name kernels, competitive learning and cosine correlation; the "
        "entropy, the batches, the passes after the epochs and the rules for width and entropy weight are ours.",
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
        "an unknown number of clusters, centres that are samples; not for overlap in more than 10 features, nor for "
        "classes that are not dense regions",
    ),
    Row(
        "SoftDBSCANGM",
        "soft_clustering.density.soft_dbscan_gm",
        "density",
        None,
        "Smiti, Elouedi (2016)",
        "dense clusters among noise, their number not known; not for overlap, different densities, or classes that "
        "are not dense regions",
        "only abstracts: DBSCAN-GM joins DBSCAN and Gaussian means, Soft DBSCAN adds degrees as in fuzzy c-means",
    ),
    Row(
        "SCSPA",
        "soft_clustering.consensus.scspa",
        "consensus",
        None,
        "Punera, Ghosh (2008)",
        "one partition from several whose clusters differ in number and size; not with METIS for unequal clusters",
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
        "one soft partition from several with similar clusters; not if their numbers of clusters are far from K",
    ),
    Row(
        "SKFCM",
        "soft_clustering.images.skfcm",
        "images",
        None,
        "Zhang, Chen (2004); Chen, Zhang (2004)",
        "noisy grey or colour images; not if one region is much larger than the others",
        "the penalty agrees with public programs written after its publication, the other three terms are known from "
        "an abstract, with centres that we derived from the objective; borders and default weight are ours",
    ),
    Row(
        "AFCMAdaptive",
        "soft_clustering.images.afcm_adaptive",
        "images",
        None,
        "Pham, Prince (1999)",
        "grey images and volumes with smooth shading; not if the shading has the scale of the regions",
    ),
    Row(
        "RDFKC",
        "soft_clustering.deep.rdfkc",
        "deep",
        "deep",
        "Wu, Yu, Chen, Ding, Wang (2024)",
        "images and other data with many related features; not for small tables or features of different units",
    ),
    Row(
        "FeMIFuzzy",
        "soft_clustering.federated.femi_fuzzy",
        "federated",
        None,
        "Ngo, Fang, Rumbut, Wang (2024)",
        "rows that must stay with several clients, values missing; not if the rows can be pooled and are complete",
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
    Row(
        "WBSC",
        "soft_clustering.documents.wbsc",
        "documents",
        None,
        "Lin, Kondadadi (2001)",
        "short result lists, groups that words explain; not for rich vocabularies, which give very many groups",
    ),
    Row(
        "SISC",
        "soft_clustering.documents.sisc",
        "documents",
        None,
        "Lin, Kondadadi (2001)",
        "overlapping groups of texts by any similarity, some texts in no group; not for texts of a few words",
    ),
    Row(
        "KMART",
        "soft_clustering.documents.kmart",
        "documents",
        None,
        "Kondadadi, Kozma (2002)",
        "streaming texts, number of groups unknown, one pass; not if the order of the texts must not matter",
    ),
    Row(
        "BIGCLAM",
        "soft_clustering.graphs.bigclam",
        "graphs",
        None,
        "Yang, Leskovec (2013)",
        "large graphs whose communities overlap densely; not for weighted graphs or communities of few links",
    ),
    Row(
        "BayesianNMF",
        "soft_clustering.graphs.bayesian_nmf",
        "graphs",
        None,
        "Psorakis, Roberts, Ebden, Sheldon (2011)",
        "weighted graphs, number of overlapping communities unknown; not for very sparse graphs",
    ),
    Row(
        "MMSB",
        "soft_clustering.graphs.mmsb",
        "graphs",
        None,
        "Airoldi, Blei, Fienberg, Xing (2008); Gopalan, Blei (2013)",
        "shares of blocks and the links between blocks wanted; not if overlaps matter most",
    ),
    Row(
        "CDCGS",
        "soft_clustering.graphs.cdcgs",
        "graphs",
        "deep",
        "Acharya, Zhang (2020)",
        "separate communities of small and medium-sized graphs, weighted or not; not if overlaps matter most",
    ),
    Row(
        "NOCD",
        "soft_clustering.graphs.nocd",
        "graphs",
        "deep",
        "Shchur, Guennemann (2019)",
        "overlapping communities of sparse graphs, with or without attributes of the nodes; not for weighted graphs",
    ),
    Row(
        "DMoN",
        "soft_clustering.graphs.dmon",
        "graphs",
        "deep",
        "Tsitsulin, Palowitch, Perozzi, Mueller (2023)",
        "communities of similar size and high modularity, features of the nodes to use; not for overlapping ones",
    ),
)
