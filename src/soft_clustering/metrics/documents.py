"""Quality of topics by the documents alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy import sparse

from .._types import MatrixLike
from ..inputs.features import naming
from ._validation import check_features


def coherence(counts: MatrixLike, topics: Sequence[Sequence[int]]) -> float:
    """NPMI coherence of topics: whether their words occur in the same documents.

    Parameters
    ----------
    counts : array-like or sparse matrix of shape (n_documents, n_words)
        How often each word is in each document; only whether it is there matters.
    topics : sequence of sequences of int
        The words of each topic, such as its ten most probable ones, as columns of ``counts``.

    Returns
    -------
    value : float
        In [-1, 1], larger is better: 1 if words of a topic occur only together, 0 as often as by chance, -1 never. nan
        if no topic has two words that occur.

    Notes
    -----
    The normalised pointwise mutual information of two words is

        log(p_ab / (p_a p_b)) / -log p_ab,

    with the shares p of the documents that have the word, or both [1]_; it is -1 if no document has both, and 1 if all
    documents do. The coherence is the mean over pairs of words of a topic, and then over topics [2]_. Words that occur
    in no document and topics of fewer than two words are left out. It does not punish topics that are all the same.

    References
    ----------
    .. [1] G. Bouma (2009). Normalized (pointwise) mutual information in collocation extraction. GSCL, 31-40.
    .. [2] J. H. Lau, D. Newman, T. Baldwin (2014). Machine reading tea leaves: automatically evaluating topic coherence
       and topic model quality. EACL, 530-539.

    Examples
    --------
    >>> from soft_clustering.metrics import coherence
    >>> counts = [[2, 1, 0, 0], [1, 3, 0, 0], [0, 0, 1, 1], [0, 0, 2, 0]]
    >>> coherence(counts, [[0, 1], [2, 3]])
    0.75
    >>> coherence(counts, [[0, 2], [1, 3]])
    -1.0
    """
    X = sparse.csr_array(check_features(counts))
    n, n_words = X.shape
    with naming("topics"):
        lists = [np.asarray(list(topic), dtype=np.intp) for topic in topics]
    if any(len(words) and (words.min() < 0 or words.max() >= n_words) for words in lists):
        raise ValueError(f"topics must hold columns of counts, from 0 to {n_words - 1}. Got others.")
    used = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *lists]))
    present = (X[:, used] > 0).astype(np.float64)
    together = (present.T @ present).toarray() / n
    alone = together.diagonal()
    values = []
    for words in lists:
        columns = [int(i) for i in np.searchsorted(used, np.unique(words)) if alone[i] > 0]
        pairs = [_npmi(together[i, j], alone[i], alone[j]) for i, j in combinations(columns, 2)]
        if pairs:
            values.append(sum(pairs) / len(pairs))
    return float(np.mean(values)) if values else math.nan


def _npmi(both: float, first: float, second: float) -> float:
    if both == 0:
        return -1.0
    return 1.0 if both == 1 else math.log(both / (first * second)) / -math.log(both)
