"""What graph neural networks share: features of nodes, normalised links, sparse products that pass gradients on.

Networks learn in single precision with torch. What they say of nodes, known or new, is computed in double precision
with NumPy, so that a node gets the same answer whatever nodes are asked for with it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .. import kernels
from .._types import Array, GraphLike, Matrix, MatrixLike
from ..inputs.graphs import validate_node_features
from .network import GraphClusterer, row_sums

if TYPE_CHECKING:
    import torch

Scaling = Literal["columns", "rows"]
_LARGEST = 1e15  # of a feature that is taken as it is: its square does not overflow in single precision


class NodeNetwork(GraphClusterer):
    """A clusterer of the nodes of a graph by a network that may also see features of the nodes."""

    def fit_transform(self, X: GraphLike, y: object = None, *, node_features: MatrixLike | None = None) -> NDArray[Any]:
        """Fit, and the memberships of the same nodes as those of new ones.

        Parameters
        ----------
        X : as for ``fit``
        y : ignored
        node_features : as for ``fit``

        Returns
        -------
        memberships : ndarray of shape (n_nodes, n_clusters)
        """
        model = self.fit(X, y, node_features=node_features)
        memberships: NDArray[Any] = model.transform(X, node_features=node_features)
        return memberships

    def _new_features(self, node_features: MatrixLike | None, n: int, width: int | None) -> Any:
        """Features of n new nodes, which must be given if ``fit`` had features, and only then."""
        name = type(self).__name__
        if width is None:
            if node_features is not None:
                raise ValueError(f"node_features must be None: {name} was fitted without node_features.")
            return None
        if node_features is None:
            raise ValueError(f"node_features must be given: {name} was fitted with node_features. Got None.")
        features = validate_node_features(node_features, n)
        if features.shape[1] != width:
            raise ValueError(
                f"node_features has {features.shape[1]} features, but {name} is expecting {width} features as input."
            )
        return features


# Features -------------------------------------------------------------------------------------------------------------


class Standard(NamedTuple):
    """Means and deviations of columns, in units of their largest entries, so that no square overflows."""

    unit: Array
    mean: Array
    deviation: Array

    @classmethod
    def of(cls, X: Array) -> Standard:
        """Those of an array."""
        unit = _or_one(np.abs(X).max(axis=0))
        mean = (X / unit).mean(axis=0)
        deviation = np.sqrt(np.square(X / unit - mean).mean(axis=0))
        # What is left of a constant column is rounding.
        return cls(unit, mean, np.where(deviation > 1e-12, deviation, np.inf))

    def of_rows(self, X: Array) -> Array:
        """Rows in these units: 0 throughout in a constant column."""
        return (X / self.unit - self.mean) / self.deviation


class Features(NamedTuple):
    """How features and links of nodes become the input of a network."""

    width: int | None  # features of a node; None without
    rows: bool  # whether their rows get unit length
    standard: Standard | None  # of the columns, where they are standardised
    links: bool  # whether the links, in rows of unit length, are input, too

    @classmethod
    def of(cls, features: Matrix | None, scaling: Scaling | None, links: bool) -> Features:
        """``scaling`` is that of the features; without features the links are the input."""
        if features is None:
            return cls(None, False, None, True)
        standard = Standard.of(dense(features)) if scaling == "columns" else None
        return cls(features.shape[1], scaling == "rows", standard, links)

    def input(self, links: sparse.csr_array, features: Matrix | None) -> Any:
        """A row per node: CSR where links are in it."""
        parts = []
        if features is not None:
            if self.standard is not None:
                features = self.standard.of_rows(dense(features))
            elif self.rows:
                features = unit_rows(features)
            else:
                largest = float(abs(features).max())
                if largest > _LARGEST:
                    raise ValueError(f"node_features must be at most {_LARGEST:g}. Got {largest:.3g}: scale them.")
            parts.append(features)
        if self.links:
            parts.append(unit_rows(links))
        return parts[0] if len(parts) == 1 else sparse.hstack(parts, format="csr")


def dense(X: Any) -> Any:
    """An array."""
    return X.toarray() if sparse.issparse(X) else X


def unit_rows(X: Matrix) -> Any:
    """Rows divided by their lengths; rows of zeros stay.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    X = X.astype(np.float64)
    # In units of the largest entry, so that no square overflows.
    X = _divided(X, dense(abs(X).max(axis=1)))
    return _divided(X, np.sqrt((X * X).sum(axis=1)))


def _divided(X: Any, lengths: ArrayLike) -> Any:
    """Rows divided by their lengths, those of length 0 by 1."""
    scale = 1 / _or_one(np.asarray(lengths).reshape(-1, 1))
    return sparse.csr_array(X.multiply(scale)) if sparse.issparse(X) else X * scale


def _or_one(x: Array) -> Array:
    return np.where(x > 0, x, 1.0)


# Links ----------------------------------------------------------------------------------------------------------------


def normalised_adjacency(A: sparse.csr_array) -> Any:
    """D^(-1/2) (A + I) D^(-1/2), where D is the diagonal of the row sums of A + I."""
    joined = sparse.csr_array(A.astype(np.float64) + sparse.eye_array(A.shape[0], format="csr"))
    joined.sort_indices()
    root = sparse.diags_array(1 / np.sqrt(row_sums(joined)))
    return sparse.csr_array(root @ joined @ root)


class NewRows(NamedTuple):
    """The rows of new nodes in a normalised adjacency matrix, in which the old nodes keep their degrees."""

    links: Any  # to the old nodes
    own: Array  # (n_new, 1), to themselves

    @classmethod
    def of(cls, links: sparse.csr_array, degrees: Array) -> NewRows:
        """``degrees`` are the sums of the links of the old nodes."""
        own = 1 / (1 + row_sums(links)[:, None])
        scaled = links.astype(np.float64).multiply(np.sqrt(own)).multiply(1 / np.sqrt(1 + degrees))
        return cls(sparse.csr_array(scaled), own)

    def mix(self, products: list[Array]) -> Callable[[int, Array], Array]:
        """The messages that new nodes get in each layer, where the old nodes send ``products``."""
        return lambda layer, own_products: self.links @ products[layer] + self.own * own_products


# Learning -------------------------------------------------------------------------------------------------------------


@cache
def _sparse_product(torch: Any) -> Any:
    """The function (W, M, M^T) -> M W of torch with a gradient for W alone; the matrices are functions, too."""

    class SparseProduct(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, W: Any, matrix: Any, transpose: Any) -> Any:
            context.transpose = transpose
            return matrix(W)

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            # torch's own rule makes the transpose anew each time.
            return context.transpose(gradient), None, None

    return SparseProduct


class Pattern:
    """Where the entries of a CSR matrix are, on a device."""

    def __init__(self, torch: ModuleType, M: sparse.csr_array, device: torch.device) -> None:
        self._torch, self._shape = torch, M.shape
        self._arrays = M.indptr, M.indices.astype(M.indptr.dtype, copy=False)
        self._tensors = tuple(torch.from_numpy(part).to(device) for part in self._arrays)

    def filled(self, values: torch.Tensor) -> Callable[[torch.Tensor], Any]:
        """The function W -> M W for these entries of M."""
        torch = self._torch
        if values.device.type == "cpu" and values.dtype == torch.float32 and kernels.use_compiled():
            # Zeros, of which dropout makes many, cost nothing here.
            return partial(links_product, torch, self._arrays, values.numpy(), self._shape[0])
        with warnings.catch_warnings():  # CSR is new in torch, as it says once
            warnings.filterwarnings("ignore", message="Sparse CSR", category=UserWarning)
            matrix = torch.sparse_csr_tensor(
                *self._tensors, values, size=self._shape, device=values.device, check_invariants=False
            )
        return lambda W: matrix @ W


def links_product(torch: ModuleType, pattern: Any, values: NDArray[np.float32], n: int, W: torch.Tensor) -> Any:
    """The product of a CSR matrix and a tensor on the CPU."""
    out = torch.empty((n, W.shape[1]), dtype=torch.float32, device="cpu")
    kernels.compiled.links_product(*pattern, values, W.detach().contiguous().numpy(), out.numpy())
    return out


class SparseMatrix:
    """A CSR matrix on a device, its entries fixed or given with each product."""

    def __init__(
        self, torch: ModuleType, M: sparse.csr_array, device: torch.device, *, symmetric: bool = False
    ) -> None:
        self._torch = torch
        self._values = torch.from_numpy(M.data.astype(np.float32)).to(device)
        self._pattern = Pattern(torch, M, device)
        numbered = sparse.csr_array((np.arange(M.nnz), M.indices, M.indptr), shape=M.shape).T.tocsr()
        self._turned_pattern = Pattern(torch, numbered, device)
        self._order = torch.from_numpy(numbered.data).to(device)  # of the entries in the transpose
        self._matrix = self._pattern.filled(self._values)
        self._transpose = self._matrix if symmetric else self._turned(self._values)

    def _turned(self, values: torch.Tensor) -> Any:
        return self._turned_pattern.filled(values[self._order])

    def __matmul__(self, W: torch.Tensor) -> Any:
        return _sparse_product(self._torch).apply(W, self._matrix, self._transpose)

    def dropped(self, W: torch.Tensor, rate: float, generator: torch.Generator) -> Any:
        """The product after dropout of stored entries."""
        if rate == 0:
            return self @ W
        values = dropout(self._torch, self._values, rate, generator)
        return _sparse_product(self._torch).apply(W, self._pattern.filled(values), self._turned(values))


class DenseMatrix:
    """The same for an array."""

    def __init__(self, torch: ModuleType, M: NDArray[Any], device: torch.device) -> None:
        self._torch = torch
        self._matrix = torch.from_numpy(M.astype(np.float32)).to(device)

    def dropped(self, W: torch.Tensor, rate: float, generator: torch.Generator) -> Any:
        """The product after dropout of entries."""
        return dropout(self._torch, self._matrix, rate, generator) @ W


def as_matrix(torch: ModuleType, M: Matrix, device: torch.device) -> SparseMatrix | DenseMatrix:
    """The input of a network on a device."""
    return (SparseMatrix if sparse.issparse(M) else DenseMatrix)(torch, M, device)


def narrow_product(torch: ModuleType, h: torch.Tensor, W: torch.Tensor) -> Any:
    """H W for a W of few columns; the plain product and its gradient are several times slower there."""
    return torch.nn.functional.linear(h, W.T.contiguous())


def dropout(torch: ModuleType, x: torch.Tensor, rate: float, generator: torch.Generator) -> Any:
    """Entries set to 0 with probability ``rate``, the others raised so that the mean stays."""
    if rate == 0:
        return x
    # Four decisions from each random number of 64 bits: drawing them is most of the work.
    bits = torch.empty(-(-x.numel() // 4), dtype=torch.int64, device="cpu").random_(-(2**63), None, generator=generator)
    kept = (bits.numpy().view(np.uint16)[: x.numel()] >= round(rate * 2**16)).astype(np.float32)
    kept *= 1 / (1 - rate)
    return x * torch.from_numpy(kept).view(x.shape).to(device=x.device, dtype=x.dtype)
