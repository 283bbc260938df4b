"""Makes pages of the site that are not written by hand: the reference, from the program, the gallery, from its files, and the page
that solves in the browser, from web/dist.

`DDELM` names the program (or one on the path is taken), `DDELM_GALLERY` the folder of the gallery's pictures.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
import gallery  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent

KEYS = """# Problem files

Every key of a problem file, printed by the program that reads them (`ddelm reference keys`). A formula is a string; see
[formulas](formulas.md). `NAME` is a name of your own. `--set table.key=value` sets any of them on the command line.

Conditions stand in `[boundary]` for the whole boundary, or in a table of a part: `[boundary.left]`. `SIDE` is a side of a rectangle; see
[domains](../domains.md).

"""

FORMULAS = """# Formulas

Numbers (`1`, `.5`, `1e-3`), the operators `+ - * /`, powers `^` or `**`, and parentheses. `-x^2` is `-(x^2)`, `2^3^2` is `2^(3^2)`. A
product needs its `*`. The names below are those that the program knows (`ddelm reference formulas`); the fields of `[fields]` are
called by their own, at any point: `grf(2*x, 1 - y)`.

Derivatives of formulas are exact. At a kink (`abs`, `min`, `max`) the slope is the mean of those on both sides; at a jump (`step`,
`sign`, `floor`) it is zero, so that jumps belong where subdomains meet.

"""

NO_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>ddelm in the browser</title></head>
<body><p>The page that solves in the browser was not built with this copy of the documentation.
<a href="../web.html">How to build it</a></p></body></html>
"""


def on_files(files, config):
    """Add the pages that are made."""
    made = {
        "reference/keys.md": KEYS + program("reference", "keys"),
        "reference/formulas.md": FORMULAS + program("reference", "formulas"),
        "contributing.md": contributing(),
    }
    pictures = Path(os.environ.get("DDELM_GALLERY", ROOT / "target" / "gallery"))
    found = gallery.entries()
    made["gallery/index.md"] = overview(found)
    for entry in found:
        made[f"gallery/{entry.path.stem}.md"] = page(entry)
        picture = pictures / f"{entry.path.stem}.png"
        if not picture.exists():
            raise SystemExit(f"{picture} is missing: run scripts/gallery.py --out {pictures}")
        files.append(File.generated(config, f"gallery/{entry.path.stem}.png", abs_src_path=str(picture)))
    for name, text in made.items():
        file = File.generated(config, name, content=text)
        if name.startswith("gallery/") and name != "gallery/index.md":
            file.inclusion = file.inclusion.NOT_IN_NAV
        files.append(file)
    for file in browser_page(config):
        files.append(file)
    return files


def browser_page(config):
    """Return the files of web/dist, below page/; where it was not built, a page that says so."""
    built = ROOT / "web" / "dist"
    if not (built / "index.html").exists():
        return [File.generated(config, "page/index.html", content=NO_PAGE)]
    paths = [path for path in sorted(built.rglob("*")) if path.is_file() and path.name != "sizes.json"]
    name = lambda path: f"page/{path.relative_to(built).as_posix()}"  # noqa: E731
    return [File.generated(config, name(path), abs_src_path=str(path)) for path in paths]


def program(*arguments):
    """Return what the program prints."""
    command = [os.environ["DDELM"]] if "DDELM" in os.environ else [sys.executable, "-m", "ddelm"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, check=True).stdout


def contributing():
    """Return CONTRIBUTING.md with links that hold in the site."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return re.sub(r"\[([^\]]*)\]\((?:DESIGN|CHANGELOG|README)\.md\)", r"`\1`", text)


def overview(entries):
    """Return the page with all pictures."""
    cards = "".join(
        f'<a href="{entry.path.stem}.html" style="text-align:center"><img src="{entry.path.stem}.png" alt="" '
        f'style="height:160px;object-fit:contain;background:white"><br>{entry.title}</a>\n'
        for entry in entries
    )
    style = "display:grid;grid-template-columns:repeat(auto-fill,minmax(210px,1fr));gap:20px"
    return (
        f"# Gallery\n\n{len(entries)} problems. Each is a file that runs as it stands, and that the tests solve and compare with its "
        f'figure.\n\n<div style="{style}">\n{cards}</div>\n'
    )


def page(entry):
    """Return the page of a problem."""
    kind = "toml" if entry.path.suffix == ".toml" else "python"
    run = f"ddelm solve {entry.path.name} --out result" if kind == "toml" else f"python {entry.path.name}"
    return (
        f"# {entry.title}\n\n{entry.text}\n\n![{entry.title}]({entry.path.stem}.png){{ width=520 }}\n\n"
        f"The tests check: `{entry.figure}`.\n\n```{kind}\n{entry.source}```\n\nSave it as `{entry.path.name}` and run `{run}`.\n\n"
        "[Back to the gallery](index.md)\n"
    )
