"""Writes the page: tables and pictures from the results of a run."""

from pathlib import Path

from environment import SYSTEMS
from measure import best, cost, scale_cost
from problems import PROBLEMS

_COLORS = {
    "ddelm": "#c1272d",
    "ngsolve": "#0055a4",
    "fenicsx": "#2a9d55",
    "scikitfem": "#e0912f",
    "jaxhps": "#7b4fa3",
    "pyrfm": "#8c6d4f",
    "paper": "#888888",
}

#: Less than this between the first and the second is no difference.
_LEVEL = 1.05


def write(results: dict, page: Path, pictures: Path, command: str) -> None:
    """Write the page and its pictures."""
    pictures.mkdir(parents=True, exist_ok=True)
    page.parent.mkdir(parents=True, exist_ok=True)
    for problem, systems in results["problems"].items():
        draw(problem, systems, pictures / f"{problem}.svg")
    prefix = pictures.relative_to(page.parent).as_posix() if pictures.is_relative_to(page.parent) else pictures.as_posix()
    parts = [
        _head(results, command),
        _winners(results),
        *(_problem(results, problem, prefix) for problem in results["problems"]),
        _large(results),
        _how(results),
    ]
    page.write_text("\n".join(part for part in parts if part).rstrip() + "\n")


def _name(system: str) -> str:
    return SYSTEMS[system][0]


def _number(seconds: float) -> str:
    milliseconds = 1e3 * seconds
    return f"{milliseconds:.2g}" if milliseconds < 9.95 else f"{milliseconds:.0f}"


def _times(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"


def _head(results: dict, command: str) -> str:
    machine = results["machine"]
    lines = [
        "# Against its peers",
        "",
        "What a solution of a given accuracy costs here and elsewhere: CPU milliseconds on one thread, from coefficients and mesh",
        "to a solution, until the relative L2 error is below the number over the column. Every system may choose its",
        "discretization for every number. A dash: not reached by what was tried. The page is written by",
        "",
        f"    {command}",
        "",
        f"Measured on {machine['cores']} cores ({machine['processor']}), revision {results['revision']}: "
        + ", ".join(results["versions"].values())
        + ".",
        *(["Other programs ran on the machine meanwhile, on average " + f"{machine['load']:.0f} at a time: these are CPU times, and less certain for it."]
          if machine.get("load", 0) > machine["cores"] + 1 else []),
        "",
    ]
    for system, reason in results["skipped"].items():
        lines += [f"**{_name(system)} is not measured here:** {reason}.", ""]
    if results.get("quick"):
        lines += ["**A quick run:** only ddelm and NGSolve, few repetitions. The command without `--quick` measures all.", ""]
    return "\n".join(lines)


def _winners(results: dict) -> str:
    """Say who wins where, by how much over the next."""
    levels = results["levels"]
    won: dict[str, list[str]] = {}
    level_with: list[str] = []
    cells = 0
    for problem, systems in results["problems"].items():
        for level in levels:
            costs = {system: cost(point) for system, points in systems.items() if (point := best(points, level))}
            if not costs:
                continue
            cells += 1
            first, *rest = sorted(costs, key=costs.get)
            where = f"{problem} {_level(level)}"
            if rest and costs[rest[0]] <= _LEVEL * costs[first]:
                level_with.append(f"{where} ({_name(first)}, {_name(rest[0])})")
            else:
                by = _times(costs[rest[0]] / costs[first]) if rest else "alone"
                won.setdefault(first, []).append(f"{where} ({by})")
    lines = ["## Where each wins", "", "In brackets: how many times the next system's time is the winner's.", ""]
    for system in sorted(won, key=lambda system: -len(won[system])):
        lines.append(f"- **{_name(system)}**, {len(won[system])} of {cells}: {', '.join(won[system])}.")
    if level_with:
        lines.append(f"- Level, within {100 * _LEVEL - 100:.0f} %, {len(level_with)} of {cells}: {', '.join(level_with)}.")
    never = [system for system in results["versions"] if system not in won]
    if never:
        lines.append(f"- Nowhere the fastest: {', '.join(_name(system) for system in never)}.")
    if "ngsolve" in results["versions"] and "ddelm" in results["versions"]:
        lines += ["", "ddelm's time over NGSolve's (below 1: ddelm is faster; a dash where one of them does not get there):", ""]
        lines += ["| problem | " + " | ".join(_level(level) for level in levels) + " |", "| --- |" + " --- |" * len(levels)]
        for problem, systems in results["problems"].items():
            entries = []
            for level in levels:
                own, peer = best(systems.get("ddelm", []), level), best(systems.get("ngsolve", []), level)
                entries.append(f"{cost(own) / cost(peer):.2f}" if own and peer else "-")
            lines.append(f"| {problem} | " + " | ".join(entries) + " |")
    return "\n".join([*lines, ""])


def _level(level: float) -> str:
    return f"{level:.0e}".replace("e-0", "e-")


def _problem(results: dict, problem: str, prefix: str) -> str:
    levels = results["levels"]
    systems = results["problems"][problem]
    lines = [f"## {PROBLEMS[problem].title}", ""]
    lines += ["| system | " + " | ".join(_level(level) for level in levels) + " |", "| --- |" + " --- |" * len(levels)]
    least = {}
    for level in levels:
        costs = [cost(point) for points in systems.values() if (point := best(points, level))]
        least[level] = min(costs, default=0.0)
    chosen = {}
    for system, points in systems.items():
        found = [best(points, level) for level in levels]
        if not points:
            continue
        entries = []
        for level, point in zip(levels, found):
            if point is None:
                entries.append("-")
            else:
                text = _number(cost(point))
                entries.append(f"**{text}**" if cost(point) <= least[level] else text)
        lines.append(f"| {_name(system)} | " + " | ".join(entries) + " |")
        chosen[system] = found
    lines.append("")
    for system in ("ddelm", "ngsolve"):
        texts = [_configuration(point["config"]) if point else "-" for point in chosen.get(system, [])]
        if texts:
            lines.append(f"{_name(system)}: {'; '.join(texts)}.  ")
    missing = [_name(system) for system, points in systems.items() if not points]
    if missing:
        lines.append(f"Not asked, or not able: {', '.join(missing)}.")
    return "\n".join([*lines, "", f"![{problem}: error over CPU time]({prefix}/{problem}.svg)", ""])


def _configuration(config: dict) -> str:
    if "subdomains" in config:
        rings = " and rings at the corners" if config.get("corners") == "auto" else ""
        return f"{config['subdomains'][0]} x {config['subdomains'][1]}{rings}, {config['points']} points"
    if "points" in config:
        text = f"{config['cells']} x {config['cells']} subdomains, {config['points']} points"
    else:
        text = f"{config['cells']} x {config['cells']} {'triangle pairs' if config.get('triangles') else 'cells'}, order {config['order']}"
    if config.get("levels"):
        text += f", {config['levels']} levels of {config['factor']}"
    if "layers" in config:
        text += f" and {config['layers'] + 1} in the layers"
    return text


def _large(results: dict) -> str:
    if not results.get("scale"):
        return ""
    lines = [
        "## Large problems",
        "",
        "Diffusion 1.1 + tanh(3 sin(5x + 2y)), one wave per subdomain, u = sin(2 pi N x) sin(2 pi N y), 12 points. NGSolve has the",
        "cheapest discretization whose error is not larger. CPU seconds on one thread, largest memory of the process (and what",
        "it has before it solves), a new process for every solve, after a small solve that is not counted.",
        "",
        "| N | system | discretization | error | CPU seconds | GB (before) |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for entry in results["scale"]:
        for system in ("ddelm", "ngsolve"):
            if system not in entry:
                lines.append(f"| {entry['waves']} | {_name(system)} | not reached | - | - | - |")
                continue
            seconds, memory = scale_cost(entry[system])
            before = entry[system]["runs"][0]["empty"] / 1e9
            lines.append(
                f"| {entry['waves']} | {_name(system)} | {_configuration(entry[system]['config'])} | {entry[system]['error']:.1e} "
                f"| {seconds:.2f} | {memory:.2f} ({before:.2f}) |"
            )
    return "\n".join([*lines, ""])


def _how(results: dict) -> str:
    return f"""## How it was measured

- One thread and one core per system, each in a process of its own. Import, compilation (jaxhps, FEniCSx), formulas and meshes are
  not counted; spaces, assembly, factorization, solution and all evaluation of coefficients are. That is kind to the
  systems that need a mesh or a compiler: ddelm needs neither.
- Each system tries discretizations, cheap ones first: numbers of cells or subdomains (as many in x as in y) and orders or points. The
  search ends after {results['budget']:.0f} CPU seconds for ddelm and for NGSolve, {results['budget'] / 2:.0f} for each of the others,
  compilation not counted. The cheapest three for each accuracy are timed {results['rounds']} times (slow ones and the other peers three times), all systems in
  turns; the medians are shown.
- Errors are relative L2 errors from 3,025 to 7,744 Gauss points that are no nodes of any system. ddelm's and the paper's are the
  median of three seeds, so that no lucky seed is shown.
- NGSolve: static condensation, sparse Cholesky (UMFPACK with advection), quadrilaterals and triangles, compiled coefficients, hp
  refinement towards corners, graded meshes in layers; ddelm has the same meshes in layers, as subdomains. The plate is two Poisson problems with one factorization for all finite
  elements; jaxhps builds its solver twice.
- FEniCSx: MUMPS with OpenBLAS. scikit-fem: SuperLU. Neither condenses. jaxhps: uniform quadtrees. pyRFM: partition of unity, up to
  4 x 4 parts. They were not asked to grade meshes for f = 1 and the layer.
"""


def front(points: list[dict]) -> list[tuple[float, float]]:
    """Return seconds and errors of the discretizations that no other beats in both."""
    kept: list[tuple[float, float]] = []
    for seconds, error in sorted((cost(point) if point.get("rounds") else point["seconds"], point["error"]) for point in points):
        if not kept or error < kept[-1][1]:
            kept.append((seconds, error))
    return kept


def draw(problem: str, systems: dict[str, list[dict]], path: Path) -> None:
    """Draw error over CPU time, both logarithmic."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "peers", "svg.fonttype": "none", "font.size": 10})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.6, 4.0), layout="constrained")
    for system, points in systems.items():
        line = [(seconds, max(error, 1e-14)) for seconds, error in front(points) if error < 0.5]
        if line:
            strong = system in ("ddelm", "ngsolve")
            axes.loglog(
                [1e3 * seconds for seconds, _ in line],
                [error for _, error in line],
                color=_COLORS[system],
                marker="o" if strong else "s",
                markersize=4 if strong else 3,
                linewidth=2 if strong else 1,
                label=_name(system),
            )
    axes.set_ylim(1e-14, 1)
    axes.set_xlabel("CPU milliseconds, one thread")
    axes.set_ylabel("relative L2 error")
    axes.set_title(PROBLEMS[problem].title, fontsize=10)
    axes.grid(True, which="major", color="#dddddd")
    # Beside the axes: slow systems fill every corner.
    figure.legend(loc="outside right upper", fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    path.write_text("\n".join(text.rstrip() for text in path.read_text().splitlines()) + "\n")
