"""Pictures of soft clusterings, designed like scikit-learn's displays; they need matplotlib.

A display is made by ``from_estimator`` or ``from_memberships``, which draw and return it, or by its constructor from
computed data, and is drawn by ``plot``. It keeps the artists in attributes that end in an underscore.
"""

from .contour import MembershipContourDisplay
from .cover import CoverDisplay
from .curves import IndexCurvesDisplay, ObjectiveHistoryDisplay
from .graph import GraphDisplay, graph_layout
from .heatmap import MembershipHeatmapDisplay
from .palette import cluster_colors, membership_colors
from .profiles import ClusterProfilesDisplay
from .scatter import MembershipScatterDisplay
from .segmentation import SegmentationDisplay
from .ternary import TernaryDisplay
from .topics import TopicWordsDisplay

__all__ = [
    "ClusterProfilesDisplay",
    "CoverDisplay",
    "GraphDisplay",
    "IndexCurvesDisplay",
    "MembershipContourDisplay",
    "MembershipHeatmapDisplay",
    "MembershipScatterDisplay",
    "ObjectiveHistoryDisplay",
    "SegmentationDisplay",
    "TernaryDisplay",
    "TopicWordsDisplay",
    "cluster_colors",
    "graph_layout",
    "membership_colors",
]
