"""Types that many modules share.

SciPy, pandas, Dask and networkx are imported for type checkers only: the aliases that name their classes are strings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import dask.array
    import dask.dataframe
    import networkx
    import pandas
    from scipy import sparse

Array = NDArray[np.float64]

Matrix: TypeAlias = "NDArray[Any] | sparse.csr_array | sparse.csr_matrix"
"""Validated rows: a C-ordered array or a canonical CSR matrix."""

MatrixLike: TypeAlias = (
    "ArrayLike | sparse.sparray | sparse.spmatrix | pandas.DataFrame | dask.array.Array | dask.dataframe.DataFrame"
)
"""What a user passes as features (n, d); an estimator says which of these kinds it takes."""

Memberships: TypeAlias = "NDArray[Any] | sparse.csr_array"
"""Memberships (n, K): an array, or the largest of each row in a CSR matrix."""

GraphLike: TypeAlias = "MatrixLike | networkx.Graph | Sequence[tuple[Any, ...]]"
"""What a user passes as a graph: an adjacency matrix, a networkx graph, edges (node, node) or (node, node, weight)."""

DocumentsLike: TypeAlias = "Sequence[str] | Sequence[Sequence[str]] | MatrixLike"
"""What a user passes as documents: texts, lists of tokens, or a matrix of counts."""

DataLike: TypeAlias = "MatrixLike | GraphLike | DocumentsLike | Sequence[MatrixLike]"
"""What an estimator of some modality is fitted to; partitions and clients are sequences of matrices."""

CoverLike: TypeAlias = "MatrixLike | Sequence[Sequence[int]]"
"""What a user passes as overlapping communities: a 0/1 matrix, labels, or lists of nodes."""

Init: TypeAlias = str | ArrayLike | Callable[..., ArrayLike]
"""What a user passes as ``init``: the name of a rule, a starting point, or a function that draws one."""

Kernel: TypeAlias = str | Callable[[Any, Any], ArrayLike]
"""What a user passes as ``kernel``: its name, or a function of two sets of rows that gives the matrix of all pairs."""

Seed: TypeAlias = int | np.random.RandomState | None
"""What a user passes as ``random_state``."""

Names: TypeAlias = Sequence[str] | NDArray[Any]
"""What a user passes as names of features, words or nodes: strings."""

Indices: TypeAlias = slice | Sequence[int] | NDArray[np.intp] | NDArray[np.bool_]
"""What picks rows or columns of an array."""
