"""Sammon's map: points in the plane whose distances are near given ones.

Minimise E = (1 / sum_i<j d*_ij) sum_i<j (d*_ij - d_ij)^2 / d*_ij over the positions y, d_ij = |y_i - y_j|, from
classical scaling (principal components, where the distances are Euclidean), by Sammon's diagonal Newton steps.

References
----------
J. W. Sammon (1969). A nonlinear mapping for data structure analysis. IEEE Trans. Computers C-18(5), 401-409.

V. de Silva, J. B. Tenenbaum (2004). Sparse multidimensional scaling using landmark points. Stanford University.
"""

from __future__ import annotations

import numpy as np

from .._types import Array

_FACTOR = 0.3  # of a Newton step, Sammon's "magic factor"
_MAX_ITER, _LEAST_STEP, _TOL = 500, 1e-6, 1e-9


def sammon_map(distances: Array) -> tuple[Array, float]:
    """Positions in the plane (n, 2), and their stress.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
        Symmetric, of diagonal 0. Points at distance 0 stay together.

    Examples
    --------
    >>> from scipy.spatial.distance import cdist
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> Y, stress = sammon_map(cdist(square, square))
    >>> bool(np.allclose(cdist(Y, Y), cdist(square, square))), bool(stress < 1e-20)
    (True, True)
    """
    size = distances.max()
    if size == 0:
        return np.zeros((len(distances), 2)), 0.0
    D = distances / size
    weight = _inverse(D)
    Y = _classical_scaling(D)
    step, stress = _FACTOR, float(_stress(Y, Y, D, weight).sum())
    for _ in range(_MAX_ITER):
        moved = Y - step * _newton(Y, Y, D, weight)
        new = float(_stress(moved, moved, D, weight).sum())
        if new >= stress:
            step /= 2
            if step < _LEAST_STEP:
                break
            continue
        rests = stress - new <= _TOL * stress
        Y, stress, step = moved, new, _FACTOR
        if rests:
            break
    return Y * size, stress / float(D.sum())


def place_by_landmarks(distances: Array, landmarks: Array) -> Array:
    """Positions (n, 2) of points by their distances to landmarks with positions: the same stress, landmarks fixed.

    Parameters
    ----------
    distances : ndarray of shape (n, K)
    landmarks : ndarray of shape (K, 2)

    Examples
    --------
    >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> place_by_landmarks(np.sqrt([[0.5, 0.5, 0.5]]), corners).round(6)
    array([[0.5, 0.5]])
    """
    size = max(float(distances.max()), float(np.abs(landmarks).max()))
    if size == 0:
        return np.zeros((len(distances), 2))
    D, L = distances / size, landmarks / size
    # |y - l_k|^2 is linear in y but for |y|^2, which differences over k take away.
    centroid = L.mean(axis=0)
    squares = ((L - centroid) ** 2).sum(axis=1) - D * D
    Y: Array = centroid + (squares - squares.mean(axis=1, keepdims=True)) @ np.linalg.pinv(2 * (L - centroid)).T
    weight = _inverse(D)
    step, stress, moving = np.full(len(D), _FACTOR), _stress(Y, L, D, weight), np.full(len(D), True)
    for _ in range(_MAX_ITER):
        moved = Y - step[:, None] * _newton(Y, L, D, weight)
        new = _stress(moved, L, D, weight)
        better = moving & (new < stress)
        moving &= np.where(better, stress - new > _TOL * stress, step > _LEAST_STEP)
        Y, stress = np.where(better[:, None], moved, Y), np.where(better, new, stress)
        step = np.where(better, _FACTOR, step / 2)
        if not moving.any():
            break
    return Y * size


def _inverse(D: Array) -> Array:
    """1 / D, and no weight where points coincide."""
    return np.divide(1.0, D, out=np.zeros_like(D), where=D > 0)


def _classical_scaling(D: Array) -> Array:
    """The two largest principal components of points with these distances."""
    square = D * D
    gram = -0.5 * (square - square.mean(axis=0) - square.mean(axis=1, keepdims=True) + square.mean())
    values, vectors = np.linalg.eigh(gram)
    Y = np.zeros((len(D), 2))
    top = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    top *= np.where(top[np.abs(top).argmax(axis=0), np.arange(top.shape[1])] < 0, -1, 1)  # a sign of its own
    Y[:, : top.shape[1]] = top
    return Y


def _stress(Y: Array, L: Array, target: Array, weight: Array) -> Array:
    distance = np.sqrt(_square(Y, L))
    stress: Array = (weight * (target - distance) ** 2).sum(axis=1)
    return stress


def _square(Y: Array, L: Array) -> Array:
    square: Array = (Y[:, [0]] - L[:, 0]) ** 2 + (Y[:, [1]] - L[:, 1]) ** 2
    return square


def _newton(Y: Array, L: Array, target: Array, weight: Array) -> Array:
    """Gradient over the absolute second derivative, per point and coordinate."""
    distance = np.maximum(np.sqrt(_square(Y, L)), 1e-12)
    pull = weight * (target - distance) / distance
    direction = np.empty_like(Y)
    for axis in range(2):
        gap = Y[:, [axis]] - L[:, axis]
        first = -(pull * gap).sum(axis=1)
        second = -(pull - weight * target * gap**2 / distance**3).sum(axis=1)
        np.divide(first, np.abs(second), out=direction[:, axis], where=second != 0)
        direction[second == 0, axis] = 0
    return direction
