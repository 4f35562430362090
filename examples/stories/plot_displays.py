"""One picture of each kind: the displays of ``soft_clustering.plotting``.

Run ``python examples/plot_gallery_of_displays.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_iris

from soft_clustering import FCM, GMM
from soft_clustering.datasets import get_dataset, load_graph, make_phantom, make_topic_corpus
from soft_clustering.plotting import (
    GraphDisplay,
    IndexCurvesDisplay,
    MembershipContourDisplay,
    MembershipHeatmapDisplay,
    MembershipScatterDisplay,
    ObjectiveHistoryDisplay,
    SegmentationDisplay,
    TernaryDisplay,
    TopicWordsDisplay,
)
from soft_clustering.selection import choose_n_clusters


def communities(adjacency, n_clusters: int) -> np.ndarray:
    """Memberships of the nodes of a graph: fuzzy c-means on the leading eigenvectors of its random walk."""
    degree = adjacency.sum(axis=1)
    vectors = np.linalg.eigh(adjacency / np.sqrt(np.outer(degree, degree)))[1][:, -n_clusters:]
    return FCM(n_clusters, m=1.6, random_state=0).fit(vectors / np.sqrt(degree)[:, None]).memberships_


def main() -> None:
    figure, axes = plt.subplots(3, 3, figsize=(13.5, 11), layout="constrained")

    iris = load_iris(as_frame=True).data
    fcm = FCM(3, random_state=0).fit(iris)
    MembershipScatterDisplay.from_estimator(fcm, iris, ax=axes[0, 0])
    TernaryDisplay.from_estimator(fcm, ax=axes[0, 1])
    digits = FCM(10, m=1.1, random_state=0).fit(load_digits().data)
    MembershipHeatmapDisplay.from_estimator(digits, ax=axes[0, 2])

    blobs, _ = get_dataset("varied_blobs")
    MembershipContourDisplay.from_estimator(GMM(4, n_init=5, random_state=0).fit(blobs), blobs, ax=axes[1, 0])
    criteria = ["xie_beni", "fuzzy_silhouette", "calinski_harabasz", "davies_bouldin"]
    result = choose_n_clusters(FCM(random_state=0), blobs, range(2, 9), criteria=criteria)
    IndexCurvesDisplay.from_result(result, ax=axes[1, 1])
    for accelerate in (False, True):
        model = FCM(8, m=2.0, accelerate=accelerate, n_init=1, random_state=1).fit(blobs)
        name = "accelerated" if accelerate else "plain"
        ObjectiveHistoryDisplay.from_estimator(model, name=name, ax=axes[1, 2])

    karate = load_graph("karate")
    memberships = communities(karate.adjacency.toarray(), 4)
    GraphDisplay.from_memberships(memberships, karate.adjacency, node_names=karate.node_names, ax=axes[2, 0])
    corpus = make_topic_corpus(n_topics=4, vocabulary_size=100, random_state=3)
    TopicWordsDisplay(corpus.topic_words, corpus.vocabulary).plot(axes[2, 1], n_words=8)
    phantom = make_phantom(random_state=0)
    corrected = phantom.image / phantom.bias
    tissue = FCM(3, random_state=0).fit(corrected.reshape(-1, 1))
    SegmentationDisplay.from_memberships(
        tissue.memberships_, phantom.image, bias=phantom.bias, corrected=corrected, ax=axes[2, 2]
    )

    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=100)
    else:
        plt.show()


if __name__ == "__main__":
    main()
