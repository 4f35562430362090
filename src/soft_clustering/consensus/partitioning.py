"""Cutting a graph into parts: spectral vectors and k-means, or METIS.

The normalised cut of a graph with weights S and degrees D = S 1 relaxes to the K leading eigenvectors of
D^(-1/2) S D^(-1/2). Their rows, scaled to length 1, are clustered by k-means. If the normalised matrix is Z Z^T with Z
of few columns, they are the left singular vectors of Z, and come from the small matrix Z^T Z.

References
----------
A. Y. Ng, M. I. Jordan, Y. Weiss (2002). On spectral clustering: analysis and an algorithm. NIPS 14, 849-856.
G. Karypis, V. Kumar (1998). A fast and high quality multilevel scheme for partitioning irregular graphs. SIAM Journal
on Scientific Computing 20(1), 359-392.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, eigsh

from .._extras import require
from .._types import Array, Matrix
from ..engine.blocks import make_blocks
from ..engine.initialisation import kmeans
from ..kernels.centers import center_memberships, center_statistics

_ZERO = 1e-10  # an eigenvalue below this, relative to the largest, is zero
_SHORT = 1e-12  # a row shorter than this is zero
_DIGITS = 9  # of the vectors that k-means looks at: rows that differ by rounding are the same
_DENSE = 1000  # nodes from which on Lanczos iterations are faster than all eigenvectors
_LEVELS = 1000  # METIS takes integer weights: 1 ... 1000


def singular_vectors(Z: Matrix, K: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """The leading left and right singular vectors of a tall matrix (n, t), at most K, those of zero left out.

    O(n t^2): from the eigenvectors of Z^T Z.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[3.0, 0.0], [4.0, 0.0], [0.0, 2.0]])
    >>> left, right = singular_vectors(Z, 2, np.random.RandomState(0))
    >>> np.abs(left).round(2).tolist()
    [[0.0, 0.6], [0.0, 0.8], [1.0, 0.0]]
    """
    gram: Any = Z.T @ Z
    values, right = _leading(gram.toarray() if sparse.issparse(gram) else gram, K, rng)
    left = Z @ right / np.sqrt(values)
    signs = _signs(left)
    return left * signs, right * signs


def cut_vectors(S: Array, K: int, rng: np.random.RandomState) -> Array:
    """The leading eigenvectors of D^(-1/2) S D^(-1/2), at most K, those of zero left out; S is overwritten."""
    scale = 1 / np.sqrt(S.sum(axis=1))
    S *= scale[:, None]
    S *= scale
    vectors = _leading(S, K, rng)[1]
    return vectors * _signs(vectors)


def _leading(S: Array, K: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """The largest eigenvalues of a symmetric matrix in ascending order, at most K, and their vectors."""
    n = len(S)
    pairs = None
    if n > max(_DENSE, 10 * K):
        with suppress(ArpackError):  # it may stop at many equal eigenvalues
            pairs = eigsh(S, k=K, which="LA", v0=rng.uniform(-1, 1, n))
    values, vectors = eigh(S, subset_by_index=[max(n - K, 0), n - 1]) if pairs is None else pairs
    kept = values > _ZERO * values.max()
    return values[kept], vectors[:, kept]


def _signs(vectors: Array) -> Array:
    """The sign of the entry of largest size in each column, the first of equal ones."""
    size = np.abs(vectors)
    first = np.argmax(size >= size.max(axis=0) * (1 - 1e-6), axis=0)
    return np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


def k_means_parts(
    vectors: Array, K: int, n_init: int, rng: np.random.RandomState, weight: Array | None = None
) -> NDArray[np.intp]:
    """k-means of the rows, each scaled to length 1; a row of weight 2 counts as two."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.where(length > _SHORT, vectors / np.maximum(length, _SHORT), 0)
    rows = np.ascontiguousarray(np.round(rows, _DIGITS) + 0.0)  # no -0
    blocks = make_blocks(rows, weight)
    starts = [kmeans(blocks, K, rng) for _ in range(n_init)]
    best = min(starts, key=lambda V: blocks.reduce(center_statistics, V, "nearest").objective)
    labels: NDArray[np.intp] = blocks.map_rows(center_memberships, best, "nearest").argmax(axis=1)
    return labels


def metis_parts(S: Matrix, K: int, n_init: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Parts of nearly equal numbers of nodes, by METIS; S is a symmetric matrix, its diagonal does not matter."""
    pymetis = require("pymetis", "partitioner='metis' needs pymetis", extra="metis")
    index = pymetis.zero_copy_dtype()
    graph = sparse.csr_array(S)
    graph = sparse.csr_array(graph - sparse.diags(graph.diagonal()))
    if graph.nnz and graph.max() > 0:
        # The sum of all weights, too, must be an integer of METIS.
        levels = min(_LEVELS, np.iinfo(index).max / 2 / (graph.sum() / graph.max()))
        graph.data = np.rint(graph.data * (levels / graph.max()))
    graph.eliminate_zeros()
    parts = pymetis.part_graph(
        K,
        pymetis.CSRAdjacency(graph.indptr.astype(index), graph.indices.astype(index)),
        eweights=graph.data.astype(index),
        options=pymetis.Options(seed=int(rng.randint(2**31 - 1)), ncuts=n_init),
    )
    return np.array(parts.vertex_part, dtype=np.intp)
