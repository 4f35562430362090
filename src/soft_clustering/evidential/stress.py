"""The criterion of EVCLUS, over all pairs of objects or over some, and its descent."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._types import Array
from ..engine.loop import Run
from ..engine.simplex import project_rows

SLACK = 1e-14  # by which rounding may move the objective
_PATIENCE = 5  # steps of little gain that end a run
_PART = 1 << 17  # numbers of a temporary array that should stay in the cache


def conflict_matrix(focal_sets: NDArray[np.bool_]) -> Array:
    """Xi (f, f): 1 where two sets have no cluster in common.

    Examples
    --------
    >>> from soft_clustering.evidential.credal import make_focal_sets
    >>> conflict_matrix(make_focal_sets("full", 2)).astype(int)
    array([[1, 1, 1, 1],
           [1, 0, 1, 0],
           [1, 1, 0, 0],
           [1, 0, 0, 0]])
    """
    sets = focal_sets.astype(np.float64)
    disjoint: Array = (sets @ sets.T == 0).astype(np.float64)
    return disjoint


def targets(D: Array, d0: float, near: float = 0.0) -> Array:
    """Degrees of conflict delta = 1 - 0.05^((d^2 - near^2) / (d0^2 - near^2)), 0 up to near, in place of d."""
    with np.errstate(over="ignore", under="ignore"):
        D /= d0
        np.square(D, out=D)
        if near > 0:
            D -= (near / d0) ** 2
            np.maximum(D, 0, out=D)
            D /= 1 - (near / d0) ** 2
        D *= np.log(0.05)
        np.exp(D, out=D)
    return np.subtract(1, D, out=D)


class AllPairs:
    """The criterion over all ordered pairs of objects, by traces; ``delta`` (n, n) has a zero diagonal."""

    def __init__(self, delta: Array, Xi: Array) -> None:
        self.delta, self.Xi = delta, Xi
        self.total = float(np.vdot(delta, delta))

    def products(self, masses: list[Array]) -> list[Any]:
        """P = Delta M of each M, the dear part, at hardly more than the cost of one: Delta is read once."""
        return np.split(self.delta @ np.hstack(masses), len(masses), axis=1)

    def stress(self, M: Array, P: Array) -> float:
        """J at M, given its product."""
        return self._evaluate(M, P)[0]

    def gradient(self, M: Array, P: Array) -> tuple[float, Array]:
        """J at M and its gradient, given the product."""
        J, MX, S, q = self._evaluate(M, P)
        return J, 4 / self.total * ((MX @ S - P - q[:, None] * M) @ self.Xi)

    def _evaluate(self, M: Array, P: Array) -> tuple[float, Array, Array, Array]:
        MX, S = M @ self.Xi, M.T @ M
        q, XS = np.einsum("if,if->i", MX, M), self.Xi @ S
        J = float((XS * XS.T).sum() - q @ q - 2 * np.vdot(P, MX)) / self.total + 1
        return max(J, 0.0), MX, S, q


class SampledPairs:
    """The criterion over pairs of each object with k partners, which the objects of a group share.

    ``order`` lists the objects group by group, ``partners`` (groups, k) are places in that order, ``delta``
    (groups, size, k) the targets. Objects without mass, of conflict and target 0, fill the last group.
    """

    def __init__(self, order: NDArray[np.intp], partners: NDArray[np.intp], delta: Array, Xi: Array) -> None:
        self.order, self.partners, self.delta, self.Xi = order, partners, delta, Xi
        self.total = float(np.vdot(delta, delta))
        groups, size, k = delta.shape
        places = partners.ravel(), np.arange(groups * k)
        self._back = sparse.csr_array((np.ones(groups * k), places), shape=(groups * size, groups * k))

    def products(self, masses: list[Array]) -> list[Any]:
        """Nothing that is linear in M is needed here."""
        return [0.0] * len(masses)

    def stress(self, M: Array, P: object) -> float:
        """J at M."""
        return sum(float(np.vdot(R, R)) for _, _, R in self._parts(M)) / self.total

    def gradient(self, M: Array, P: object) -> tuple[float, Array]:
        """J at M and its gradient."""
        f, squares, own_side, partner_side = M.shape[1], 0.0, [], []
        for own, others, R in self._parts(M):
            squares += float(np.vdot(R, R))
            own_side.append((R @ others).reshape(-1, f))
            partner_side.append((R.transpose(0, 2, 1) @ own).reshape(-1, f))
        summed = np.concatenate(own_side) + self._back @ np.concatenate(partner_side)
        G = np.empty_like(M)
        G[self.order] = summed[: len(M)]
        return squares / self.total, 2 / self.total * (G @ self.Xi)

    def _parts(self, M: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Masses of some groups, of their partners, and kappa - delta between them."""
        groups, size, k = self.delta.shape
        padded = np.zeros((groups * size, M.shape[1]))
        padded[: len(M)] = M[self.order]
        step = max(1, _PART // (size * k))
        for lo in range(0, groups, step):
            own = padded[lo * size : (lo + step) * size].reshape(-1, size, M.shape[1])
            others = padded[self.partners[lo : lo + step]]
            yield own, others, (own @ self.Xi) @ others.transpose(0, 2, 1) - self.delta[lo : lo + step]


def descend(pairs: AllPairs | SampledPairs, run: Run[Array], max_iter: int, tol: float) -> Generator[Array, Any, None]:
    """Accelerated projected gradients from ``run.state`` until the objective hardly falls any more.

    The step 1 / L is found by backtracking. A step that would raise the objective is not taken: the momentum is
    forgotten instead, and the next step goes down. A generator: it yields masses and is sent their product, so that
    several starts can share one (see :meth:`AllPairs.products`).
    """
    M = run.state
    P = yield M
    J, slope = pairs.gradient(M, P)
    run.history.append(J)
    before, P_before, momentum, small = M, P, 1.0, 0
    L = float(np.sqrt(np.vdot(slope, slope) / len(M))) or 1.0  # a first step about as long as the simplex
    for run.n_iter in range(1, max_iter + 1):
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = (momentum - 1) / following
        Y, P_Y = M + ahead * (M - before), P + ahead * (P - P_before)
        J_Y, slope = pairs.gradient(Y, P_Y)
        while True:
            new = project_rows(Y - slope / L)
            P_new = yield new
            J_new, step = pairs.stress(new, P_new), new - Y
            if J_new <= J_Y + np.vdot(slope, step) + L / 2 * np.vdot(step, step) + SLACK:
                break
            L *= 2
        if J_new > J and ahead > 0:
            before, P_before, momentum = M, P, 1.0
            continue
        run.residual = max(J - J_new, 0) / J if J > SLACK else 0.0
        if J_new <= J:
            before, P_before, momentum = M, P, following
            run.state, M, P, J = new, new, P_new, J_new
            run.history.append(J)
        L *= 0.95
        small = small + 1 if run.residual <= tol else 0
        if small == _PATIENCE:
            run.converged = True
            return
