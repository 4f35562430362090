"""Features from a table of all kinds of columns, as one fitted transformer of scikit-learn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

from ._extras import require
from ._text import one_line
from ._types import Array
from .datasets.files import check_name
from .inputs.cells import PLACEHOLDERS, date_formats, decimal_mark, numbers_of, texts_of
from .inputs.columns import Days, Indicators, Numbers, day_values, number_values
from .inputs.gower import codes_of, gower_dissimilarities

if TYPE_CHECKING:
    import pandas

#: A name, a transformer, and the columns that it takes.
_Step = tuple[str, Any, list[str]]

SCALES = ("auto", "none", "standard", "robust")
MISSING = ("median", "keep")
_FILLED, _KEPT = "replaced by the median", "kept"
#: Columns whose largest and smallest standard deviation differ by a larger factor are in different units.
_UNITS = 10.0
#: The largest share of cells that are not numbers in a column of numbers; they count as missing.
_UNREADABLE = 0.05
#: Texts of at least this many words on average are free text and not names.
_WORDS = 4.0
#: Fewer rows than this could be numbered by chance.
_FEWEST_NUMBERED = 10
#: Names of columns that identify rows, such as "id", "customer_id" and "customerId".
_ID_NAME = re.compile(r"(?i:(?:.*[\W_])?(?:id|key|uuid|guid))|.*[a-z]I[dD]")


class Preparation(ColumnTransformer):
    """A scikit-learn ``ColumnTransformer`` that :func:`prepare` makes; it takes data frames.

    Attributes
    ----------
    plan_ : list of dict
        For each column of the table its name ``column``, its ``kind``, whether it is ``used``, and a ``detail``.
    notes_ : list of str
        What was decided, a sentence each.
    ranges_ : dict of str to float
        The largest minus the smallest value of each column of numbers or dates, in its own units.
    id_column_, label_column_ : str or None
        The columns that :func:`prepare` was told of.
    """

    plan_: list[dict[str, Any]]
    notes_: list[str]
    ranges_: dict[str, float]
    id_column_: str | None
    label_column_: str | None

    def fit_transform(self, X: pandas.DataFrame, y: ArrayLike | None = None, **params: Any) -> Any:
        """Fit to the columns that are used, and return the features."""
        frame = self._used(X)
        features = super().fit_transform(frame, y, **params)
        numbers, _ = self._measured(frame)
        ranges = {name: np.fmax.reduce(values) - np.fmin.reduce(values) for name, values in numbers.items()}
        self.ranges_ = {name: float(np.nan_to_num(extent)) for name, extent in ranges.items()}
        return features

    def transform(self, X: pandas.DataFrame, **params: Any) -> Any:
        """Return the features; columns that are not used need not be there."""
        return super().transform(self._used(X), **params)

    def readable(self, X: pandas.DataFrame) -> pandas.DataFrame:
        """Return the columns that are used as they were understood, in their own units, with gaps.

        Numbers and dates that are written as text become numbers and dates; categories stay as they are.

        Examples
        --------
        >>> import pandas
        >>> df = pandas.DataFrame({"price": ["1,5", "2,5", "?"], "day": ["2020-01-31", "2020-02-01", "2020-02-03"]})
        >>> prepare(df).readable(df).dtypes.astype(str).str[:8].to_dict()
        {'price': 'float64', 'day': 'datetime'}
        """
        pandas = require("pandas", "prepare needs pandas")
        frame = self._used(X).copy()
        for _, step, names in self.transformers_:
            reader = step[0] if isinstance(step, Pipeline) else None
            for name in names:
                if not pandas.api.types.is_string_dtype(frame[name]) and frame[name].dtype != object:
                    continue
                if isinstance(reader, Numbers):
                    frame[name] = number_values(frame[name], (reader.marks or {}).get(name, "."))
                elif isinstance(reader, Days):
                    days = day_values(frame[name], (reader.formats or {}).get(name, "ISO8601"))
                    frame[name] = pandas.to_datetime(days, unit="D")
        return frame

    def gower(self, X: pandas.DataFrame, Y: pandas.DataFrame | None = None) -> Array:
        """Return Gower's dissimilarities of the rows of X to those of Y, or among those of X.

        The dissimilarity of two rows is the mean, over the columns that both have, of the difference of two numbers or
        dates in units of the range of the column in the table that was prepared, at most 1, and of 1 for two different
        categories. So it is between 0 and 1, and it is 1 if the rows have no column in common. Missing values are left
        out, not replaced; a category that is not known yet differs from all others.

        Parameters
        ----------
        X, Y : pandas.DataFrame
            With the columns that were prepared. Without Y, X is both.

        Returns
        -------
        dissimilarities : ndarray of shape (n_rows_of_X, n_rows_of_Y)
            For methods that take dissimilarities, such as ``EVCLUS(metric="precomputed")``; n^2 numbers of n rows.

        References
        ----------
        J. C. Gower (1971). A general coefficient of similarity and some of its properties. Biometrics 27(4), 857-871.

        Examples
        --------
        >>> import pandas
        >>> df = pandas.DataFrame({"age": [20, 40, None, 60], "plan": ["a", "b", "b", "a"]})
        >>> prepare(df).gower(df)
        array([[0.  , 0.75, 1.  , 0.5 ],
               [0.75, 0.  , 0.  , 0.75],
               [1.  , 0.  , 0.  , 1.  ],
               [0.5 , 0.75, 1.  , 0.  ]])
        """
        frame = self._used(X)
        other = frame if Y is None else self._used(Y)
        numbers, texts = self._measured(frame)
        other_numbers, other_texts = self._measured(other)
        pairs = [(numbers[name], other_numbers[name]) for name in numbers]
        pairs += [codes_of(texts[name], other_texts[name]) for name in texts]
        rows, others = (np.column_stack(columns) for columns in zip(*pairs, strict=True))
        D = gower_dissimilarities(rows, others, np.array([self.ranges_[name] for name in numbers] + [1.0] * len(texts)))
        if Y is None:
            np.fill_diagonal(D, 0)  # also of a row without any value
        return D

    def _measured(self, frame: pandas.DataFrame) -> tuple[dict[str, Array], dict[str, pandas.Series]]:
        """Return the numbers of each column, NaN where one is missing, and the texts of each category."""
        numbers: dict[str, Array] = {}
        texts: dict[str, pandas.Series] = {}
        for _, step, names in self.transformers_:
            if isinstance(step, Pipeline):
                values = np.asarray(step[0].transform(frame[names]))
                numbers |= dict(zip(names, values.T, strict=True))
            else:
                texts |= {name: texts_of(frame[name]) for name in names}
        return numbers, texts

    def _used(self, X: pandas.DataFrame) -> pandas.DataFrame:
        frame = _checked(X, "X")
        names = [name for _, _, columns in self.transformers for name in columns]
        missing = [name for name in names if name not in frame.columns]
        if missing:
            raise ValueError(f"X must have the columns that were prepared: {listed(missing)} not found.")
        return frame[names]


class _Column(NamedTuple):
    """What a column is, and what is done with it."""

    name: str
    kind: str
    used: bool
    detail: str
    values: Array | None = None  # of a number, a boolean or a date
    form: str | None = None  # the decimal mark or the format of the dates, of a column that is written as text
    n_values: int = 0  # of a category
    n_missing: int = 0
    remark: str = ""  # a sentence about this column only

    @property
    def spread(self) -> float:
        """The standard deviation of the values that are not missing."""
        return 0.0 if self.values is None else float(np.nanstd(self.values))


def prepare(
    df: pandas.DataFrame,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    drop: str | Sequence[str] = (),
    scale: str = "auto",
    missing: str = "median",
    max_categories: int = 20,
) -> Preparation:
    """Make features of a table: look at each column, decide what it is, and fit the transformer that does it.

    Parameters
    ----------
    df : pandas.DataFrame
        A row per sample, columns of any kind.
    id_column : str, default=None
        A column that names the rows; not a feature.
    label_column : str, default=None
        A column of classes; not a feature.
    drop : str or list of str, default=()
        Columns to leave out.
    scale : {'auto', 'none', 'standard', 'robust'}, default='auto'
        ``'standard'`` scales numbers and dates to mean 0 and variance 1, ``'robust'`` to median 0 and an interquartile
        range of 1 (a column whose middle half is constant to variance 1), ``'none'`` keeps their units. ``'auto'`` is
        ``'standard'`` if the largest standard deviation is more than 10 times the smallest, otherwise ``'none'``.
    missing : {'median', 'keep'}, default='median'
        What becomes of missing numbers and dates: the median of their column, or NaN, for methods that take missing
        values.
    max_categories : int, default=20
        Columns of text with more different values are left out.

    Returns
    -------
    transformer : Preparation
        A fitted ``sklearn.compose.ColumnTransformer``: ``transformer.transform(df)`` is a float64 array, without
        missing values unless they are kept. ``plan_`` tells what became of each column and ``notes_`` what was decided,
        a sentence each.

    See Also
    --------
    soft_clustering.saving.save_model : keep it with a fitted model.

    Notes
    -----
    * Numbers may be written as text, with a decimal comma and marks between thousands. Up to 5 % of the cells may be
      something else: they count as missing. Missing numbers become the median, or stay missing.
    * Dates become days since the first one.
    * Texts of at most ``max_categories`` values become a column of zeros and ones for each value. These are weighted so
      that their variances sum to the median variance of the numbers, which is 1 if these are standardised: a category
      counts as much as a number. A missing category is a value of its own.
    * Left out are columns that are constant or empty, that identify the rows (texts that are all different, integers
      that count the rows, different integers in a column whose name ends in "id"), free text, and categories of too
      many values.
    * In new data an unknown category is zero everywhere, and a cell that cannot be read is missing.

    The plan is made from ``df``. A clone that is fitted to other rows, in a cross-validation for example, keeps which
    columns are used and how they are read, and computes medians, scales and categories anew.

    Examples
    --------
    >>> import pandas
    >>> from sklearn.pipeline import make_pipeline
    >>> from soft_clustering import FCM, prepare
    >>> df = pandas.DataFrame({
    ...     "customer": ["c1", "c2", "c3", "c4"],
    ...     "income": [52000, 48000, None, 11000],
    ...     "age": [41, 38, 44, 19],
    ...     "plan": ["gold", "gold", "gold", "basic"],
    ... })
    >>> transformer = prepare(df, id_column="customer")
    >>> for note in transformer.notes_:
    ...     print(note)
    plan (2 values): categories, a column of zeros and ones for each value, together with the weight of one number
    missing values: income (1) replaced by the median
    spreads of the columns differ by 1891x (income, age): each is scaled to mean 0 and variance 1 (--scale none keeps \
their units)
    >>> transformer.get_feature_names_out().tolist()
    ['income', 'age', 'plan=basic', 'plan=gold']
    >>> model = make_pipeline(transformer, FCM(2, random_state=0)).fit(df)
    >>> len(set(model.predict(df[:3])))
    1
    """
    frame = _checked(df, "df")
    if scale not in SCALES:
        raise ValueError(f"scale must be one of {', '.join(map(repr, SCALES))}. Got {scale!r} instead.")
    if missing not in MISSING:
        raise ValueError(f"missing must be one of {', '.join(map(repr, MISSING))}. Got {missing!r} instead.")
    if not isinstance(max_categories, int | np.integer) or max_categories < 2:
        raise ValueError(f"max_categories must be an int >= 2. Got {max_categories!r} instead.")
    dropped = [drop] if isinstance(drop, str) else list(drop)
    named = [(id_column, "id_column"), (label_column, "label_column"), *((name, "drop") for name in dropped)]
    for name, option in named:
        if name is not None:
            check_name(name, frame.columns, f"column in {option}")
    columns = []
    for name in frame.columns:
        if name in (id_column, label_column):
            kind, detail = ("class", "the classes") if name == label_column else ("id", "names the rows")
            columns.append(_Column(name, kind, False, detail))
        elif name in dropped:
            columns.append(_Column(name, _kind_of_type(frame[name]), False, "left out as asked"))
        else:
            columns.append(_look_at(frame[name], max_categories))
    used = [column for column in columns if column.used]
    if not used:
        reasons = "; ".join(_notes(columns, max_categories, _FILLED)) or "all columns are left out as asked"
        raise ValueError(f"No column is left that could be a feature: {reasons}.")
    scale, scaling = _scale_of(used, scale)
    if missing == "keep":
        columns = [column._replace(detail=column.detail.replace(_FILLED, _KEPT)) for column in columns]
    transformer = Preparation(_steps(used, scale, missing), sparse_threshold=0.0, verbose_feature_names_out=False)
    if categories := [column.name for column in used if column.kind == "category"]:
        numbers = transformer.fit_transform(frame) if transformer.transformers else np.empty((len(frame), 0))
        variance = float(np.median(np.nanvar(numbers, axis=0))) if numbers.size else 1.0
        transformer.transformers.append(("categories", Indicators(variance), categories))
    transformer.fit(frame)
    names = [str(name) for _, step, _ in transformer.transformers_ for name in step.get_feature_names_out()]
    if len(set(names)) < len(names):  # such as a number "a=b" beside a category "a" of value "b"
        transformer.set_params(verbose_feature_names_out=True).fit(frame)
    scaled = {"standard": "; standardised", "robust": "; scaled robustly"}.get(scale, "")
    transformer.plan_ = [
        {
            "column": column.name,
            "kind": column.kind,
            "used": column.used,
            "detail": column.detail + (scaled if column.values is not None else ""),
        }
        for column in columns
    ]
    transformer.notes_ = [*_notes(columns, max_categories, _FILLED if missing == "median" else _KEPT), *scaling]
    transformer.id_column_, transformer.label_column_ = id_column, label_column
    return transformer


def _checked(df: pandas.DataFrame, what: str) -> pandas.DataFrame:
    """Return a data frame with str names that are all different."""
    pandas = require("pandas", "prepare needs pandas")
    if not isinstance(df, pandas.DataFrame):
        raise TypeError(f"{what} must be a pandas.DataFrame. Got {type(df).__name__} instead.")
    names = [str(name) for name in df.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{what} must have different names of columns. {twice!r} occurs more than once.")
    if any("\0" in name for name in names):  # NumPy would cut it off
        raise ValueError(f"{what} must have names of columns without the character 0. Rename them.")
    if len(df) == 0:
        raise ValueError(f"{what} must have rows. Got 0 rows.")
    return df.set_axis(names, axis=1)


# Looking at a column --------------------------------------------------------------------------------------------------


def _kind_of_type(column: pandas.Series) -> str:
    """Return the kind of a column by its type alone."""
    types = require("pandas", "prepare needs pandas").api.types
    if types.is_bool_dtype(column.dtype):
        return "boolean"
    if types.is_numeric_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype):
        return "number"
    is_period = isinstance(column.dtype, require("pandas", "prepare needs pandas").PeriodDtype)
    if types.is_datetime64_any_dtype(column.dtype) or is_period:
        return "date"
    return "text"


def _look_at(column: pandas.Series, max_categories: int) -> _Column:
    name, kind = str(column.name), _kind_of_type(column)
    if column.isna().all():
        return _Column(name, "empty", False, "left out: empty")
    if kind == "date":
        return _measured(
            name,
            kind,
            day_values(column),
            "days since the first one",
            remark=f"{name}: dates, as days since the first one",
        )
    if kind != "text":
        values = number_values(column)
        if kind == "number" and (why := _numbering(name, column, values)):
            return _Column(name, "id", False, f"left out: {why}")
        return _measured(name, kind, values, "as it is" if kind == "number" else "0 or 1")
    texts = texts_of(column)
    known = texts.dropna()
    if known.empty:
        return _Column(name, "empty", False, "left out: empty")
    if known.str.lower().isin(["true", "false"]).all():
        return _measured(name, "boolean", number_values(column), "0 or 1")
    return _as_number(name, texts, known) or _as_date(name, texts) or _as_text(name, texts, max_categories)


def _measured(name: str, kind: str, values: Array, detail: str, form: str | None = None, remark: str = "") -> _Column:
    """Return a column of numbers, unless all of them are equal."""
    missing = int(np.isnan(values).sum())
    if missing == len(values):
        return _Column(name, "empty", False, "left out: empty")
    found = _Column(name, kind, True, detail, values, form, n_missing=missing, remark=remark)
    size = np.nanmax(np.abs(values))
    if not found.spread > 1e-13 * size:  # a constant has rounding errors of this size
        return _Column(name, "constant", False, "left out: constant")
    filled = f"; {missing} missing, {_FILLED}" if missing else ""
    return found._replace(detail=detail + filled)


def _numbering(name: str, column: pandas.Series, values: Array) -> str:
    """Say why integers identify the rows; an empty text if they do not."""
    whole = bool(np.isfinite(values).all() and (values == np.floor(values)).all())
    if not whole or len(values) < _FEWEST_NUMBERED or len(np.unique(values)) < len(values):
        return ""
    if values.min() in (0, 1) and values.max() - values.min() == len(values) - 1:
        return "it counts the rows"
    return "all different, and its name is that of an id" if _ID_NAME.fullmatch(name) else ""


def _as_number(name: str, texts: pandas.Series, known: pandas.Series) -> _Column | None:
    """Return a column of numbers that are written as text, None if they are not numbers."""
    blank = known.str.lower().isin(PLACEHOLDERS)
    written = known[~blank]
    if written.empty or written.str.fullmatch(r"0\d+").any():  # a code with leading zeros is not a quantity
        return None
    mark = decimal_mark(written)
    bad = np.isnan(numbers_of(written, mark))
    if bad.mean() > _UNREADABLE:
        return None
    values = number_values(texts.rename(name), mark)
    remark = f"{name}: numbers written as text, the decimal mark is '{mark}'"
    others = [*dict.fromkeys([*written[bad], *known[blank]])]
    if others:
        row = int(np.argmax((texts == others[0]).to_numpy())) + 1
        n_others = int(bad.sum() + blank.sum())
        cells = "cell is not a number and counts" if n_others == 1 else "cells are not numbers and count"
        remark += f"; {n_others} {cells} as missing, such as {one_line(others[0])[:40]!r} in row {row}"
    return _measured(name, "number", values, f"written as text, decimal mark '{mark}'", mark, remark)


def _as_date(name: str, texts: pandas.Series) -> _Column | None:
    """Return a column of dates that are written as text, None if they are not dates."""
    forms = date_formats(texts)
    if not forms:
        return None
    written = _in_words(forms[0])
    remark = f"{name}: dates written {written}, as days since the first one"
    swapped = forms[0].replace("%d", "?").replace("%m", "%d").replace("?", "%m")
    if swapped in forms[1:]:
        remark += "; the month could also come first, but the day is taken to"
    detail = f"written {written}, days since the first one"
    return _measured(name, "date", day_values(texts, forms[0]), detail, forms[0], remark)


def _in_words(form: str) -> str:
    """Return a format of dates as people write it.

    Examples
    --------
    >>> _in_words("%d.%m.%Y %H:%M")
    'day.month.year hour:minute'
    """
    words = {"%Y": "year", "%y": "year", "%m": "month", "%b": "month", "%B": "month", "%d": "day"}
    for code, word in (words | {"%H": "hour", "%M": "minute", "%S": "second", "ISO8601": "as in ISO 8601"}).items():
        form = form.replace(code, word)
    return form


def _as_text(name: str, texts: pandas.Series, max_categories: int) -> _Column:
    known = texts.dropna()
    n_values, n_missing = int(known.nunique()), int(texts.isna().sum())
    words = float(known.str.split().str.len().mean())
    if n_values == 1 and not n_missing:
        return _Column(name, "constant", False, "left out: constant")
    if n_values > 1 and n_values == len(known):
        if words >= _WORDS:
            return _Column(name, "text", False, "left out: free text")
        return _Column(name, "id", False, "left out: all texts are different")
    if n_values > max_categories:
        if words >= _WORDS:
            return _Column(name, "text", False, "left out: free text")
        return _Column(name, "category", False, f"left out: {n_values} values", n_values=n_values)
    detail = f"{n_values} values, zeros and ones" + (f"; {n_missing} missing, a value of its own" if n_missing else "")
    return _Column(name, "category", True, detail, n_values=n_values, n_missing=n_missing)


# The transformer ------------------------------------------------------------------------------------------------------


def _scale_of(used: list[_Column], scale: str) -> tuple[str, list[str]]:
    """Return how to scale, and what there is to say about it."""
    measured = sorted((column for column in used if column.values is not None), key=lambda column: column.spread)
    if scale == "auto":
        if len(measured) < 2 or measured[-1].spread <= _UNITS * measured[0].spread:
            return "none", []
        ratio = measured[-1].spread / measured[0].spread
        return "standard", [
            f"spreads of the columns differ by {format(ratio, '.0f' if ratio < 1e5 else '.0e')}x "
            f"({measured[-1].name}, {measured[0].name}): each is scaled to mean 0 and variance 1 (--scale none keeps "
            "their units)"
        ]
    flat = [column.name for column in measured if _is_flat(column)] if scale == "robust" else []
    return scale, [f"{listed(flat)}: the middle half is constant, scaled by the standard deviation"] if flat else []


def _is_flat(column: _Column) -> bool:
    """Whether the middle half is constant, once the median is in the place of missing values."""
    assert column.values is not None
    filled = np.where(np.isnan(column.values), np.nanmedian(column.values), column.values)
    return bool(np.subtract(*np.percentile(filled, [75, 25])) <= 1e-8 * column.spread)


def _steps(used: list[_Column], scale: str, missing: str) -> list[_Step]:
    """Return the steps of the ColumnTransformer for numbers and dates; columns that are scaled alike are together."""
    groups: dict[tuple[type[Any], type[Any] | None], list[_Column]] = {}
    for column in used:
        if column.values is not None:
            scaler = {"standard": StandardScaler, "robust": RobustScaler}.get(scale)
            if scaler is RobustScaler and _is_flat(column):
                scaler = StandardScaler
            groups.setdefault((Days if column.kind == "date" else Numbers, scaler), []).append(column)
    steps: list[_Step] = []
    for (reader, scaler), columns in groups.items():
        forms = {column.name: column.form for column in columns if column.form}
        parts = [
            ("read", reader(forms or None)),
            *([("fill", SimpleImputer(strategy="median", keep_empty_features=True))] if missing == "median" else []),
            *([("scale", scaler())] if scaler else []),
        ]
        steps.append((f"{reader.__name__.lower()}_{len(steps)}", Pipeline(parts), [column.name for column in columns]))
    return steps


# What was decided -----------------------------------------------------------------------------------------------------


def _notes(columns: list[_Column], max_categories: int, gaps_are: str) -> list[str]:
    """Return a sentence for each decision that the user did not make."""

    def found(kind: str, used: bool = False) -> list[_Column]:
        reasons = "left out: " if not used else ""
        return [c for c in columns if c.kind == kind and c.used == used and c.detail.startswith(reasons)]

    notes = [column.remark for column in columns if column.remark]
    if categories := found("category", used=True):
        counts = listed(
            f"{c.name} ({c.n_values} values)" if i == 0 else f"{c.name} ({c.n_values})"
            for i, c in enumerate(categories)
        )
        notes.append(
            f"{counts}: categories, a column of zeros and ones for each value, together with the weight of one number"
        )
    for column in found("id"):
        why = column.detail.removeprefix("left out: ")
        notes.append(
            f"{column.name} looks like an id ({why}) and is left out; --id {column.name} keeps it in the output"
        )
    for column in found("text"):
        notes.append(f"{column.name} is free text and is left out; --text-column {column.name} clusters the texts")
    if large := found("category"):
        counts = listed(f"{column.name} ({column.n_values})" for column in large)
        notes.append(f"{counts}: text of more than {max_categories} values, left out")
    for kind in ("constant", "empty"):
        if names := [column.name for column in found(kind)]:
            notes.append(f"{listed(names)}: {kind}, left out")
    gaps = [column for column in columns if column.used and column.n_missing]
    sentences = [
        f"{listed(f'{column.name} ({column.n_missing})' for column in part)} {what}"
        for part, what in (
            ([column for column in gaps if column.kind != "category"], gaps_are),
            ([column for column in gaps if column.kind == "category"], "as a value of their own"),
        )
        if part
    ]
    return [*notes, *([f"missing values: {', '.join(sentences)}"] if sentences else [])]


def listed(names: Iterable[str]) -> str:
    """Join the first five names, and say how many more there are.

    Examples
    --------
    >>> listed("abcdefg")
    'a, b, c, d, e and 2 more'
    """
    known = list(names)
    more = f" and {len(known) - 5} more" if len(known) > 5 else ""
    return ", ".join(known[:5]) + more
