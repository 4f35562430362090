"""The explanation of a clustering: tables, sentences, plain values and a picture of what each cluster is."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from .._extras import require
from .profile import Profile
from .weights import Rows, Sizes
from .wording import counted, percent, short

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from ..plotting import ClusterProfilesDisplay

_WIDTH = 80
_IN_A_SENTENCE = 3
_PRINTED = 20  # clusters
_SAMPLES = {"documents": "document", "graph": "node", "image": "pixel"}


@dataclass(eq=False, repr=False)
class Explanation:
    """What ``explain`` found: what each cluster is, and which samples show it. Printed, it is a list of clusters.

    Attributes
    ----------
    model : str
        The name of the model.
    modality : {'features', 'documents', 'graph', 'image', 'distances'}
    n_samples : int
    sizes : Sizes
        Arrays ``size``, ``share``, ``effective_size`` and ``doubtful``, an entry per cluster.
    profile : Profile
        What sets the clusters apart: the arrays behind ``features``.
    typical, borderline : list of ndarray
        For each cluster the numbers of the samples that show it best, and of those that might as well belong to another
        cluster.
    sample_names : sequence of str or None
        The names of the samples; None if they are only numbered.
    n_top : int
        How many features, words or nodes of a cluster are printed and kept in ``to_dict``.
    notes : list of str
        What was left out.
    clusters : pandas.DataFrame
        A row per cluster.
    features : pandas.DataFrame
        A row per cluster and feature; ``features.loc[k]`` is the table of cluster k.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM, explain
    >>> X = load_iris(as_frame=True).data
    >>> explanation = explain(FCM(3, random_state=0).fit(X), X)
    >>> explanation.clusters[["size", "share", "doubtful"]].round(2)  # doctest: +NORMALIZE_WHITESPACE
             size  share  doubtful
    cluster
    0          60   0.36      0.15
    1          50   0.35      0.00
    2          40   0.29      0.10
    >>> table = explanation.features.loc[1][["feature", "inside", "elsewhere", "difference"]]
    >>> table.round(2).head(2)  # doctest: +NORMALIZE_WHITESPACE
                    feature  inside  elsewhere  difference
    rank
    1     petal length (cm)    1.66       4.87       -1.82
    2      petal width (cm)    0.33       1.66       -1.75
    """

    model: str
    modality: str
    n_samples: int
    sizes: Sizes
    profile: Profile
    typical: Rows
    borderline: Rows
    sample_names: Sequence[str] | None
    n_top: int
    notes: list[str] = field(default_factory=list)

    @property
    def sentences(self) -> list[str]:
        """A sentence about each cluster."""
        return [self._sentence(k) for k in range(len(self.sizes.size))]

    def _sentence(self, k: int) -> str:
        share = self.sizes.share[k]
        if share == 0:
            return f"Cluster {k} is empty: no sample belongs to it."
        doubtful = self.sizes.doubtful[k]
        head = f"Cluster {k} ({percent(share)}{f', {percent(doubtful)} doubtful' if doubtful else ''})"
        phrases = self.profile.phrases(k, min(_IN_A_SENTENCE, self.n_top))
        if phrases:
            return f"{head}: {', '.join(phrases)}."
        if share == 1:
            return f"{head}: it holds all samples, so there is nothing to compare it with."
        return f"{head}: nothing sets it clearly apart from the rest."

    @property
    def clusters(self) -> pandas.DataFrame:
        """A row per cluster: ``size``, ``share``, ``effective_size``, ``doubtful`` and the ``sentence``."""
        pandas = require("pandas", "The table of clusters needs pandas")
        index = pandas.RangeIndex(len(self.sizes.size), name="cluster")
        return pandas.DataFrame(self.sizes._asdict() | {"sentence": self.sentences}, index=index)

    @property
    def features(self) -> pandas.DataFrame:
        """A row per cluster and feature, ranked by how much the feature sets the cluster apart, from 1."""
        pandas = require("pandas", "The table of features needs pandas")
        K = len(self.sizes.size)
        frames = {k: pandas.DataFrame(self.profile.columns(k)) for k in range(max(K, 1))}
        for frame in frames.values():
            frame.index = pandas.RangeIndex(1, len(frame) + 1)
        table = pandas.concat(frames, names=["cluster", "rank"])
        return table if K else table.iloc[:0]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON.

        Returns
        -------
        values : dict
            ``modality``, ``model``, ``n_samples``, ``notes`` and ``clusters``: a dict per cluster with its number
            ``cluster``, ``size``, ``share``, ``doubtful``, the ``features`` that set it apart (for documents
            ``words``, for graphs ``nodes``, for images also its ``colour``), the rows ``typical`` and ``borderline``,
            and a ``sentence``. A number has its ``mean`` and its mean ``elsewhere``, the standardised ``difference``
            and the ends ``low`` and ``high`` of its interval; a date the same, with means as text; a category its
            ``value``, its ``share`` and the share ``elsewhere``, and the ``lift`` with its interval.
        """
        clusters = []
        for k, sentence in enumerate(self.sentences):
            clusters.append(
                {
                    "cluster": k,
                    "size": int(self.sizes.size[k]),
                    "share": float(self.sizes.share[k]),
                    "doubtful": float(self.sizes.doubtful[k]),
                    **self.profile.to_dict(k, self.n_top),
                    "typical": self.typical[k].tolist(),
                    "borderline": self.borderline[k].tolist(),
                    "sentence": sentence,
                }
            )
        head = {"modality": self.modality, "model": self.model, "n_samples": self.n_samples, "notes": self.notes}
        return {**head, "clusters": clusters}

    def names(self, rows: Sequence[int] | np.ndarray[Any, Any]) -> list[str]:
        """Return the names of samples, or their numbers if they have no names."""
        return [str(row) if self.sample_names is None else self.sample_names[row] for row in rows]

    # How it is shown --------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        K = len(self.sizes.size)
        lines = [f"{self.model}: {counted(K, 'cluster')} of {self._counted(self.n_samples)}"]
        for k in range(min(K, _PRINTED)):
            lines += ["", *self._block(k)]
        if K > _PRINTED:
            lines += ["", f"... and {K - _PRINTED} more clusters: see clusters and features."]
        lines += [""] if self.notes else []
        for note in self.notes:
            lines += textwrap.wrap(note, _WIDTH)
        return "\n".join(lines)

    def _counted(self, n: int) -> str:
        return counted(n, _SAMPLES.get(self.modality, "sample"))

    def _block(self, k: int) -> list[str]:
        size, share, doubtful = self.sizes.size[k], self.sizes.share[k], self.sizes.doubtful[k]
        if share == 0:
            return [f"cluster {k}: empty"]
        vague = f", {percent(doubtful)} doubtful" if doubtful else ""
        lines = [f"cluster {k}: {percent(share)}, {self._counted(size)}{vague}"]
        more = self.profile.lines(k, self.n_top) if share < 1 else []
        for what, rows in (("typical", self.typical[k]), ("borderline", self.borderline[k])):
            if len(rows):
                more.append(f"{what}: {', '.join(short(name, 24) for name in self.names(rows))}")
        for line in more:
            lines += ["  " + line] if len(line) <= _WIDTH - 2 else _wrapped(line)
        return lines

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        head = ("cluster", "share", "samples", "doubtful", "what sets it apart", "typical", "borderline")
        rows = []
        for k in range(len(self.sizes.size)):
            described = self._sentence(k).partition(": ")[2] or "nothing"
            cells = (
                str(k),
                percent(self.sizes.share[k]),
                str(self.sizes.size[k]),
                percent(self.sizes.doubtful[k]),
                described,
                ", ".join(self.names(self.typical[k])),
                ", ".join(self.names(self.borderline[k])),
            )
            rows.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
        titles = "".join(f"<th>{title}</th>" for title in head)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        caption = f"{escape(self.model)}: {counted(len(rows), 'cluster')} of {self._counted(self.n_samples)}"
        return (
            f"<table><caption>{caption}</caption><thead><tr>{titles}</tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table>{notes}"
        )

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> ClusterProfilesDisplay:
        """Draw what sets each cluster apart, in a panel of its own.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Replaced by the panels, if there are several. None makes a new figure.
        **kwargs : dict
            Passed to :meth:`soft_clustering.plotting.ClusterProfilesDisplay.plot`.

        Returns
        -------
        display : ClusterProfilesDisplay
        """
        from ..plotting import ClusterProfilesDisplay

        return ClusterProfilesDisplay(self).plot(ax, **kwargs)


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, _WIDTH, initial_indent="  ", subsequent_indent="    ")
