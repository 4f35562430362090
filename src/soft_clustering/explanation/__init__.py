"""What the clusters are: the features, words, nodes or colours that set each apart, and the samples that show it."""

from .colours import ColourProfile, profile_colours
from .explaining import explain, explain_memberships
from .features import profile_categories, profile_features
from .profile import FeatureProfile
from .relations import NodeProfile, PairProfile, profile_nodes, profile_pairs
from .result import Explanation
from .weights import Sizes, borderline_samples, cluster_sizes, cluster_weights, typical_samples
from .words import WordProfile, profile_words

__all__ = [
    "ColourProfile",
    "Explanation",
    "FeatureProfile",
    "NodeProfile",
    "PairProfile",
    "Sizes",
    "WordProfile",
    "borderline_samples",
    "cluster_sizes",
    "cluster_weights",
    "explain",
    "explain_memberships",
    "profile_categories",
    "profile_colours",
    "profile_features",
    "profile_nodes",
    "profile_pairs",
    "profile_words",
    "typical_samples",
]
