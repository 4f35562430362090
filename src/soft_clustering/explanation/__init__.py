"""What the clusters are: the features, words, nodes or colours that set each apart, and the samples that show it."""

from .explain import explain, explain_memberships
from .features import profile_categories, profile_features
from .profile import FeatureProfile
from .result import Explanation
from .weights import Sizes, borderline_samples, cluster_sizes, cluster_weights, typical_samples

__all__ = [
    "Explanation",
    "FeatureProfile",
    "Sizes",
    "borderline_samples",
    "cluster_sizes",
    "cluster_weights",
    "explain",
    "explain_memberships",
    "profile_categories",
    "profile_features",
    "typical_samples",
]
