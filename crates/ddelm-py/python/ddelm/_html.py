"""Rich representations for notebooks: small tables without style sheets or scripts."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_NAME = "text-align:left;vertical-align:top;font-weight:600;padding:1px 12px 1px 0"
_TEXT = "text-align:left;vertical-align:top;padding:1px 0"
_MATHEMATICS = "font-family:'STIX Two Math','Cambria Math',Georgia,serif;font-style:italic;font-size:1.15em"


def mathematics(text: str) -> str:
    """Return an equation as mathematics looks."""
    # A minus sign is as long as a plus sign.
    shown = escape(text.replace("-", "\u2212"))
    return f'<span style="{_MATHEMATICS}">{shown}</span>'


def code(text: str) -> str:
    """Return text as it would be typed."""
    return f"<code>{escape(text)}</code>"


def lines(parts: Iterable[str]) -> str:
    """Return pieces of HTML below each other."""
    return "<br>".join(parts)


def table(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of names and pieces of HTML, without those that are empty."""
    shown = "".join(
        f'<tr><th style="{_NAME}">{escape(name)}</th><td style="{_TEXT}">{text}</td></tr>' for name, text in rows if text
    )
    return f'<table style="border-collapse:collapse;margin:4px 0">{shown}</table>'


def beside(left: str, right: str) -> str:
    """Return two pieces of HTML side by side, below each other where there is no room."""
    style = "display:flex;flex-wrap:wrap;gap:24px;align-items:center"
    return f'<div style="{style}"><div>{left}</div><div>{right}</div></div>'


def warnings(messages: Iterable[str]) -> str:
    """Return warnings as people see them."""
    style = "border-left:3px solid #d9822b;padding:2px 8px;margin:4px 0"
    return "".join(f'<div style="{style}">{escape(message)}</div>' for message in messages)
