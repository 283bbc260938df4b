"""What a solve will do and cost, without solving."""

from __future__ import annotations

from dataclasses import dataclass

from ddelm import _html


@dataclass(frozen=True)
class Check:
    """What a problem and its options ask for, and what a solve will cost; made by `Problem.check`.

    It prints as ``ddelm check`` does.
    """

    #: Names and lines of text; the name is empty where a line continues the one above.
    entries: list[tuple[str, str]]

    def __str__(self) -> str:
        return "\n".join(f"{name:<10} {text}" for name, text in self.entries)

    __repr__ = __str__

    def __getitem__(self, name: str) -> str:
        """Return the lines of a name: ``check["cost"]``."""
        found: list[str] = []
        current = ""
        for entry, text in self.entries:
            current = entry or current
            if current == name:
                found.append(text)
        if not found:
            raise KeyError(name)
        return "\n".join(found)

    def _repr_html_(self) -> str:
        names = dict.fromkeys(name for name, _ in self.entries if name)
        rows = []
        for name in names:
            first, *rest = self[name].splitlines()
            shown = _html.mathematics(first) if name == "equation" else _html.code(first)
            rows.append((name, _html.lines([shown, *map(_html.code, rest)])))
        return _html.table(rows)
