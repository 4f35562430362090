"""Numbers and tables as the pages show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Page = TypeVar("Page", bound=Callable[[], object])


def made_from(*records: str) -> Callable[[Page], Page]:
    """Mark what makes a part of a page with the records that it reads."""

    def mark(page: Page) -> Page:
        page.records = records  # type: ignore[attr-defined]
        return page

    return mark


def table(header: Sequence[str], rows: Iterable[Sequence[object]], right: bool = True) -> str:
    """The lines of a table in Markdown; unless told otherwise, all columns but the first stand to the right."""
    lines = [header, ["---", *["--:" if right else "---"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def duration(seconds: float) -> str:
    """Seconds for people."""
    return f"{1e3 * seconds:.2g} ms" if seconds < 0.1 else f"{seconds:.2g} s" if seconds < 100 else f"{seconds:.0f} s"


def factor(ratio: float) -> str:
    """A quotient of two times."""
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2g}"


def faster(theirs: float, ours: float) -> str:
    """How many times faster ours is; what is slower is called so."""
    ratio = theirs / ours
    return f"{factor(ratio)}x faster" if ratio >= 1 else f"{factor(ratio)}x: slower"


def significant(value: float) -> str:
    """Milliseconds or megabytes: three digits, and no power of ten."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
