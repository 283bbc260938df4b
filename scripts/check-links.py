#!/usr/bin/env python3
"""Checks that every link and picture of a built site, or of Markdown files, leads to something that is there.

    scripts/check-links.py target/site README.md

Addresses on other machines are not visited.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.links += [found[name] for name in ("href", "src") if found.get(name) is not None]
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}


def links(path):
    """The links of a file, and its anchors if they are known."""
    text = path.read_text()
    if path.suffix == ".html":
        page = Page(text)
        return page.links, page.anchors
    outside_code = re.sub(r"```.*?```", "", text, flags=re.S)
    return re.findall(r"\]\(([^)\s]+)\)", outside_code), None


def broken(path, known):
    """The links of a file that lead nowhere."""
    found, anchors = links(path)
    for link in found:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        # The page for what is not found knows where the site is, and this program does not.
        if path.name == "404.html":
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
        if target.is_dir():
            target = target / "index.html" if (target / "index.html").exists() else target
        if not target.exists():
            yield link
        elif parts.fragment and target.suffix == ".html":
            if target not in known:
                known[target] = links(target)[1]
            if unquote(parts.fragment) not in known[target]:
                yield link


def main():
    files = []
    for name in sys.argv[1:]:
        path = Path(name)
        files += sorted(path.rglob("*.html")) if path.is_dir() else [path]
    if not files:
        raise SystemExit("there is nothing to check")
    known, wrong = {}, []
    for path in files:
        wrong += [f"{path}: {link}" for link in broken(path, known)]
    print(f"{len(files)} pages, {len(wrong)} broken links")
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
