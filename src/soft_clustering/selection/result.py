"""The result of choosing K: the values of the criteria as a table and a picture, and the choice of each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._extras import require
from .._types import Array
from .criteria import CRITERIA, PREFERENCE, all_equal, choice_of

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from ..plotting import IndexCurvesDisplay

_WHY = {
    "gaussian_bic": "; of all criteria it finds planted clusters most often.",
    "held_out": ": these clusters predict held-out words best.",
    "thinned_links": ": these communities predict held-out links best.",
}


def _texts(values: Array) -> list[str]:
    """Format the numbers with the same number of decimals, so that the largest has four digits."""
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if finite.any() else 1.0
    if not 1e-3 <= largest < 1e7:
        return [f"{value:.3e}" for value in values]
    decimals = max(0, 3 - math.floor(math.log10(largest)))
    return [f"{value:.{decimals}f}" for value in values]


@dataclass(eq=False, repr=False)
class NClustersResult:
    """What ``choose_n_clusters`` found: each criterion over K, and its choice. Printed, it is a table.

    Attributes
    ----------
    k_values : ndarray of shape (n_k,)
        The numbers of clusters.
    scores : dict of str to ndarray of shape (n_k,)
        The values of each criterion, nan where it does not apply or the fit failed. Stability is the mean of the
        agreements.
    best : dict of str to int or None
        The choice of each criterion.
    recommended : int or None
        The K to take: the choice of the criterion that is right most often, among those that choose one.
    reason : str
        Why this K is recommended.
    agreements : ndarray of shape (n_k, n_bootstrap) or None
        The agreement of each pair of fits to bootstrap samples; None if stability was not asked for.
    stability_std : ndarray of shape (n_k,) or None
        The standard deviation of the agreements.
    estimators : dict of int to estimator
        The fitted estimator of each K; None if the fit failed, or with ``keep_estimators=False``.
    errors : dict of int to str
        The error of each K whose fit failed.
    warnings : dict of int to list of str
        The warnings of each K whose fits warned, for example that they did not converge.
    merged : set of int
        The K for which ``gaussian_bic`` is the value of clusters merged from the fits of larger K, because it is
        smaller than the value of the fit.
    sampled : dict of str to int
        The criteria that were computed on a sample of the rows, and how many rows it has.
    unfinished : list of int
        The K that were not fitted, because the work was interrupted.
    """

    k_values: NDArray[np.intp]
    scores: dict[str, Array]
    agreements: Array | None
    estimators: dict[int, Any]  # fitted, of any class: users read the attributes of theirs
    errors: dict[int, str]
    warnings: dict[int, list[str]]
    merged: set[int] = field(default_factory=set)
    sampled: dict[str, int] = field(default_factory=dict)
    unfinished: list[int] = field(default_factory=list)

    @property
    def best(self) -> dict[str, int | None]:
        """The K that each criterion chooses; None if no value is finite, or all are equal.

        Of equal values the smallest K is chosen; by stability the largest, because few clusters are easily stable.
        Gains on held-out words are equal if they differ by less than 1 % of the largest, on held-out links by 0.1 %.
        """
        return {name: choice_of(name, self.k_values, values) for name, values in self.scores.items()}

    @property
    def recommended(self) -> int | None:
        """The K to take; None if no criterion chooses one."""
        name = self._deciding
        return None if name is None else self.best[name]

    @property
    def _deciding(self) -> str | None:
        best = self.best
        return next((name for name in PREFERENCE if best.get(name) is not None), None)

    @property
    def reason(self) -> str:
        """Why this K is recommended: which criterion decides, and what the user should know about its choice."""
        ties = [name for name, values in self.scores.items() if all_equal(values)]
        silent = f"{' and '.join(ties)}: equal for every K, so no K is preferred." if ties else ""
        name = self._deciding
        if name is None:
            return silent or "none of the criteria applies to this estimator and these data."
        K = self.recommended
        extreme = "largest" if CRITERIA[name].sense == "max" else "smallest"
        why = _WHY.get(name, "; it is preferred to the others." if len(self.scores) > 1 else ".")
        sentences = [f"{name} is {extreme} there{why}"]
        if name in self.sampled:
            sentences.append(f"It was computed on {self.sampled[name]} of the rows.")
        if self.unfinished:
            sentences.append(f"The work was interrupted before K={', '.join(map(str, self.unfinished))}.")
        elif len(self.k_values) > 1 and self.k_values[-1] == K:
            sentences.append("It is the largest K of the range: try larger ones.")
        if name == "gaussian_bic" and K in self.merged:
            sentences.append("The fit found worse clusters than those merged from a larger K: try more starts.")
        return " ".join([*sentences, silent]).strip()

    @property
    def stability_std(self) -> Array | None:
        """The standard deviation of the agreements at each K."""
        if self.agreements is None:
            return None
        deviations: Array = np.ma.masked_invalid(self.agreements).std(axis=1, ddof=1).filled(np.nan)
        return deviations

    def to_frame(self) -> pandas.DataFrame:
        """Return the table as a data frame.

        Returns
        -------
        frame : pandas.DataFrame
            A row per K; a column per criterion, then ``stability_std`` where there is stability, ``n_warnings`` and
            ``error`` (empty if the fit did not fail).
        """
        pandas = require("pandas", "to_frame needs pandas")
        columns: dict[str, Any] = dict(self.scores)
        if self.agreements is not None:
            columns["stability_std"] = self.stability_std
        columns["n_warnings"] = [len(self.warnings.get(K, ())) for K in self.k_values]
        columns["error"] = [self.errors.get(K, "") for K in self.k_values]
        return pandas.DataFrame(columns, index=pandas.Index(self.k_values, name="n_clusters"))

    def __repr__(self) -> str:
        rows = [["criterion", "better", *(f"K={K} " for K in self.k_values), "choice"]]
        for name, choice in self.best.items():
            texts = zip(_texts(self.scores[name]), self.k_values, strict=True)
            marked = [text + ("*" if choice == K else " ") for text, K in texts]
            better = "larger" if CRITERIA[name].sense == "max" else "smaller"
            rows.append([name, better, *marked, str(choice)])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for name, better, *cells in rows:
            right = [cell.rjust(width) for cell, width in zip(cells, widths[2:], strict=True)]
            lines.append("  ".join([name.ljust(widths[0]), better.ljust(widths[1]), *right]))
        lines.append(f"recommended: K={self.recommended}: {self.reason}")
        if self.sampled:
            lines.append(f"on a sample of {max(self.sampled.values())} rows: {', '.join(self.sampled)}")
        lines += [f"K={K} failed: {error}" for K, error in self.errors.items()]
        lines += [f"K={K} warned: {text}" for K, each in self.warnings.items() for text in each]
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> IndexCurvesDisplay:
        """Draw each criterion over K in a panel of its own, its choice marked.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Replaced by the panels, if there are several. None makes a new figure.

        Returns
        -------
        display : IndexCurvesDisplay
            ``figure_`` and ``axes_`` are matplotlib's.
        """
        from ..plotting import IndexCurvesDisplay

        return IndexCurvesDisplay.from_result(self, ax=ax)
