"""The loop of every iterating method, and the policy by which a method controls it.

* :class:`Policy`: how the runs of a method go and end, one frozen value on its class;
* :class:`Run`: one start, kept up to date while it runs;
* :func:`iterate`: the loop, which gets the step of the method as an argument;
* :func:`run_starts`: several starts, of which the best is kept.

This module knows no estimators: :mod:`.fitting` connects the loop with one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy.spatial.distance import cdist

from .._types import Array
from .acceleration import Anderson, from_vector, to_vector

if TYPE_CHECKING:
    from typing import Self

    from .blocks import Blocks

S = TypeVar("S")
Sense = Literal["min", "max"]

NEAR = 0.01  # part of the root mean variance: centres that differ by less are in the same place
ROUNDING = 1e-10  # relative difference of the objectives of two starts that end in the same place
_SLOW = 0.1  # centres that move by more than this are not yet near any optimum


class Scale(Protocol):
    """The units of a residual; blocks of rows provide them."""

    @property
    def length(self) -> float:
        """The root mean variance of the features."""

    @property
    def total_weight(self) -> float:
        """The sum of the weights of the rows."""


class Unscaled(NamedTuple):
    """The units of states without lengths."""

    length: float = 1.0
    total_weight: float = 1.0


UNSCALED = Unscaled()
Residual = Callable[[Any, Any, list[float], Scale], float]


class Drifting(Protocol):
    """A state of several parts that measures its own movement."""

    def drift(self, old: Self, unit: float) -> float:
        """How far it is from an earlier state; ``unit`` is the root mean variance of the features."""


# Residuals ------------------------------------------------------------------------------------------------------------


def center_shift(old: Array, new: Array, history: list[float], scale: Scale) -> float:
    """Movement of the centres, in units of the root mean variance of the features."""
    step = new - old
    return math.sqrt(np.vdot(step, step)) / scale.length


def state_shift(old: Drifting, new: Drifting, history: list[float], scale: Scale) -> float:
    """``new.drift(old, unit)``: the movement of a state of several parts."""
    return float(new.drift(old, scale.length))


def likelihood_change(old: object, new: object, history: list[float], scale: Scale) -> float:
    """Absolute change of the mean log likelihood."""
    return abs(history[-1] - history[-2]) / scale.total_weight if len(history) > 1 else np.inf


def objective_change(old: object, new: object, history: list[float], scale: Scale = UNSCALED) -> float:
    """Relative change of the objective; only for an objective whose zero does not depend on the units of the data."""
    if len(history) < 2:
        return np.inf
    change = abs(history[-1] - history[-2])
    return change / abs(history[-1]) if history[-1] != 0 else change


# The objective in input units, from its value or its history in the coordinates of the frame --------------------------


def squared_units(objective: Any, blocks: Blocks) -> Any:
    """The value in input units of a sum of squared distances."""
    return objective / blocks.frame.unit / blocks.frame.unit


def no_units(objective: Any, blocks: Blocks) -> Any:
    """The value of an objective without units, unchanged."""
    return objective


def itself(value: S) -> S:
    """The value unchanged."""
    return value


@dataclass(frozen=True)
class Policy:
    """How the runs of a method go and end, and how its data are read."""

    sense: Sense = "min"  # of the objective
    monotone: bool = True  # whether no pass makes the objective worse
    residual: Residual = center_shift  # the loop ends when it is at most tol
    by_objective: bool = False  # whether the residual compares objectives, so that it is tested after plain steps only
    keeps: Literal["last", "best"] = "last"  # the state in which a run ends that does not converge
    cycle_key: Callable[[Any], bytes] | None = None  # identifies a state, for methods that may cycle
    place: Callable[[Any], Array] | None = itself  # the centres, if they alone determine where a run converges
    final: Callable[[Any], Any] = itself  # the state as it is kept after the fit
    units: Callable[[Any, Any], Any] = squared_units  # objectives in input units, from those on some blocks
    holds_rows: bool = False  # whether the statistics hold the memberships (K, n) of all rows
    rows: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # attribute per row: its method
    sparse: bool = False  # whether X may be sparse
    missing: bool = False  # whether values of X may be missing (NaN)
    scaling: Literal["standard", "minmax"] | None = None  # the units of the features while fitting
    subspace: bool = False  # whether to work in the span of the rows if they are fewer than the features
    needs_rows: bool = True  # whether there must be at least n_clusters rows

    @property
    def sign(self) -> int:
        """The factor that makes a smaller objective a better one."""
        return 1 if self.sense == "min" else -1


def array_key(state: Array) -> bytes:
    """A hash of a state that is an array."""
    return sha256(state.tobytes()).digest()


# Runs -----------------------------------------------------------------------------------------------------------------


@dataclass
class Run(Generic[S]):
    """One start of the loop; kept up to date while it runs."""

    state: S
    history: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False
    joined: bool = False  # it came to the centres of a better run
    period: int = 0  # length of the cycle that the run ended in
    residual: float = np.inf

    @property
    def begun(self) -> bool:
        """Whether it has made a pass, so that it can be kept."""
        return self.n_iter > 0

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        if self.period:
            return f"in a cycle of {self.period} states"
        return "converged" if self.converged else "joined the best start" if self.joined else "not converged"


def finished(state: S) -> Run[S]:
    """A run for data without anything to learn: converged at once, with an objective of 0."""
    return Run(state, [0.0], n_iter=1, converged=True)


def silent(*run: object) -> None:
    """Report nothing."""


def best_run(runs: Sequence[Run[S]], sense: Sense) -> Run[S] | None:
    """The begun run of best objective, the first of several that only rounding tells apart; None if none has begun."""
    sign = 1 if sense == "min" else -1
    begun = [(sign * run.history[-1] if run.history else np.inf, run) for run in runs if run.begun]
    least = min((objective for objective, _ in begun), default=np.inf)
    return next((run for objective, run in begun if objective <= least + ROUNDING * abs(least)), None)


def run_starts(
    states: Iterable[S],
    loop: Callable[[Run[S], Run[S] | None], None],
    sense: Sense,
    runs: list[Run[S]],
    report: Callable[[int, Run[S]], None] = silent,
) -> Run[S]:
    """Run the loop from each state; gives the best run.

    ``runs`` holds the best run so far and the present one, so that an interrupted fit can keep the better of them.
    """
    best: Run[S] | None = None
    for number, run in enumerate(map(Run, states), 1):
        runs.append(run)
        loop(run, best)
        report(number, run)
        best = best_run(runs, sense)
        runs[:] = [] if best is None else [best]  # the others are not needed, and a state may be large
    assert best is not None
    return best


def iterate(
    run: Run[S],
    rival: Run[S] | None = None,
    *,
    step: Callable[[S], tuple[S, float | None]],
    policy: Policy,
    max_iter: int,
    tol: float,
    done: int = 0,
    scale: Scale = UNSCALED,
    accelerate: bool = False,
    first_mixed: int = 1,
    report: Callable[[Run[S]], None] = silent,
) -> None:
    """Repeat a step from ``run.state`` until the residual of the policy is at most ``tol``.

    Parameters
    ----------
    run : Run
        Kept up to date; its state is the one to start from.
    rival : Run, default=None
        A finished run. If the centres determine where a run converges, a run that has come to the centres of a better
        rival joins it and ends.
    step : callable
        From a state to the next one and the objective, if the method has one. The objective belongs to the state given
        or to the next one, always to the same of the two.
    policy : Policy
    max_iter : int
        The largest number of passes, including ``done``.
    tol : float
    done : int, default=0
        Passes that were made before.
    scale : Scale, default=UNSCALED
        The units of the residual.
    accelerate : bool, default=False
        Anderson acceleration from pass ``first_mixed`` on. An accelerated point is kept only if the objective there is
        no worse than at the point before; otherwise the loop goes on from the plain image of that point. ``run.state``
        is always the plain image of the last kept point.
    report : callable, default=silent
        Called with the run after each pass.

    Notes
    -----
    If the passes may cycle, a state that is met again ends the run in the best state of the cycle: the second round
    stops there. A pass is a function of the state, so a repeated state means that everything after it repeats, too.
    """
    sign = policy.sign
    mixer = Anderson() if accelerate else None
    met: dict[bytes, int] = {}
    state, mixed, best = run.state, False, np.inf
    for n_iter in range(done + 1, max_iter + 1):
        visited = state
        image, objective = step(visited)
        run.n_iter = n_iter
        if objective is not None:
            if mixed and not sign * objective <= sign * run.history[-1] + 1e-12 * abs(run.history[-1]):
                assert mixer is not None
                mixer.reject()
                state, mixed = run.state, False
                continue
            run.history.append(objective)
        run.residual = policy.residual(visited, image, run.history, scale)
        settled = run.residual <= tol
        if policy.keeps == "last" or n_iter == done + 1 or settled:
            run.state = image
        elif objective is not None and sign * objective <= best:
            run.state, best = visited, sign * objective
        report(run)
        # Right after an accelerated step the change of the objective does not show convergence: wait for a plain step.
        if settled and not (mixed and policy.by_objective):
            run.converged = True
            return
        if rival is not None and policy.place is not None and run.residual < _SLOW:
            worse = sign * (run.history[-1] - rival.history[-1]) >= 0
            run.joined = worse and same_centers(policy.place(image), policy.place(rival.state), scale)
            if run.joined:
                return
        if policy.cycle_key is not None:
            before = met.setdefault(policy.cycle_key(visited), n_iter)
            round_ = run.history[before - n_iter - 1 : -1]  # the objectives of the states from the first time on
            if before < n_iter and (objective is None or sign * objective <= min(sign * J for J in round_)):
                run.state, run.period = visited, n_iter - before
                return
        state, mixed = image, False
        if mixer is not None and n_iter >= first_mixed and not settled:
            vector = to_vector(image)
            proposed = mixer.propose(to_vector(visited), vector)
            if proposed is not vector:
                state, mixed = from_vector(proposed, image), True


def same_centers(V: Array, other: Array, scale: Scale) -> bool:
    """Whether each centre of either set is within a hundredth of the spread from some centre of the other set."""
    near = (NEAR * scale.length) ** 2
    first = other - V[0]
    if np.einsum("ij,ij->i", first, first).min() > near:  # the usual answer, quickly
        return False
    D = cdist(V, other, "sqeuclidean")
    return bool(max(D.min(axis=0).max(), D.min(axis=1).max()) <= near)
