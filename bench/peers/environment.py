"""The environment of the comparison: a virtual environment with pinned versions, and this program built in release mode.

All of it can be run again: what is there already is kept. A peer that cannot be had is a reason to say so, not to stop.
"""

import hashlib
import os
import platform
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

#: Every system: its name on the page, and what pip installs for it.
SYSTEMS = {
    "ddelm": ("ddelm", []),
    "ngsolve": ("NGSolve", ["ngsolve"]),
    "fenicsx": ("FEniCSx", []),
    "scikitfem": ("scikit-fem", ["scikit-fem", "scipy"]),
    "jaxhps": ("jaxhps", ["jaxhps", "jax", "jaxlib"]),
    "pyrfm": ("pyRFM", ["pyrfm", "torch"]),
    "paper": ("the paper's algorithm", []),
}

_DEBIAN = Path("/usr/bin/python3")
_DEBIAN_PACKAGES = ["python3-dolfinx", "libopenblas0-pthread"]


def target() -> Path:
    """Return the folder of build results."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def say(text: str) -> None:
    """Say how it goes on standard error."""
    print(text, file=sys.stderr, flush=True)


class Environment:
    """A folder with a virtual environment, and the interpreter of every system that can be measured."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "venv" / "bin" / "python"
        #: The interpreter of every system.
        self.interpreters: dict[str, Path] = {}
        #: Why a system is not measured.
        self.skipped: dict[str, str] = {}

    def make(self, systems: list[str], build: bool) -> None:
        """Install what the systems need, and build this program."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not _runs(self.python, "import sys, pip"):
            say(f"making {self.folder / 'venv'}")
            venv.create(self.folder / "venv", with_pip=True, clear=True)
        self._pip(["numpy", "matplotlib", "maturin"])
        for system in systems:
            say(f"setting up {SYSTEMS[system][0]}")
            try:
                getattr(self, f"_set_up_{system}", self._set_up)(system, build)
            except (subprocess.CalledProcessError, OSError, RuntimeError) as error:
                self.skip(system, _reason(error))

    def skip(self, system: str, reason: str) -> None:
        """Leave a system out, loudly."""
        self.interpreters.pop(system, None)
        self.skipped[system] = reason
        say(f"\n*** {SYSTEMS[system][0]} IS NOT MEASURED: {reason}\n")

    def _set_up(self, system: str, _build: bool) -> None:
        self._pip(SYSTEMS[system][1])
        self.interpreters[system] = self.python

    def _set_up_ddelm(self, system: str, build: bool) -> None:
        if build:
            wheels = self.folder / "wheels"
            for old in wheels.glob("*.whl"):
                old.unlink()
            variables = {**os.environ, "CARGO_TARGET_DIR": str(target())}
            maturin = [str(self.python), "-m", "maturin", "build", "--profile", "dist", "--quiet", "--out", str(wheels)]
            subprocess.run(maturin, cwd=ROOT, env=variables, check=True, stdout=sys.stderr)
            (wheel,) = wheels.glob("*.whl")
            self._run_pip(["--force-reinstall", "--no-deps", str(wheel)])
        if not _runs(self.python, "import ddelm"):
            raise RuntimeError("the package is not installed; run without --no-build")
        self.interpreters[system] = self.python

    def _set_up_paper(self, system: str, _build: bool) -> None:
        if not _runs(self.python, "import ddelm"):
            raise RuntimeError("the package ddelm is not installed")
        self.interpreters[system] = self.python

    def _set_up_fenicsx(self, system: str, _build: bool) -> None:
        check = "import dolfinx, petsc4py"
        if not _runs(_DEBIAN, check) and hasattr(os, "geteuid") and os.geteuid() == 0 and _has_program("apt-get"):
            quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            for command in (["update"], ["install", "--yes", "--no-install-recommends", *_DEBIAN_PACKAGES]):
                subprocess.run(["apt-get", "--quiet", *command], env=quiet, check=True, capture_output=True)
        if not _runs(_DEBIAN, check):
            raise RuntimeError(f"on Debian, apt-get install {' '.join(_DEBIAN_PACKAGES)}")
        self.interpreters[system] = _DEBIAN

    def _stamp(self, packages: list[str]) -> Path:
        pins = (HERE / "requirements.txt").read_text() + " ".join(packages) + platform.python_version()
        return self.folder / f"installed-{hashlib.sha256(pins.encode()).hexdigest()[:16]}"

    def _pip(self, packages: list[str]) -> None:
        stamp = self._stamp(packages)
        if not stamp.exists():
            self._run_pip(["-c", str(HERE / "requirements.txt"), *packages])
            stamp.touch()

    def _run_pip(self, arguments: list[str]) -> None:
        command = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
        subprocess.run(command, check=True, capture_output=True, text=True)


def machine() -> dict[str, object]:
    """Return what is worth knowing of the machine."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    # What else runs: a busy machine shares its caches, and CPU times grow by it.
    load = os.getloadavg()[2] if hasattr(os, "getloadavg") else 0.0
    return {"processor": model, "cores": os.cpu_count(), "python": platform.python_version(), "load": load}


def revision() -> str:
    """Return the commit that is measured."""
    try:
        asked = ["git", "describe", "--always", "--dirty", "--abbrev=9"]
        return subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    except (subprocess.CalledProcessError, OSError):
        return "unknown"


def _runs(python: Path, program: str) -> bool:
    try:
        return subprocess.run([str(python), "-c", program], capture_output=True).returncode == 0
    except OSError:
        return False


def _has_program(name: str) -> bool:
    return any((Path(folder) / name).exists() for folder in os.environ.get("PATH", "").split(os.pathsep))


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        output = error.stderr.decode() if isinstance(error.stderr, bytes) else error.stderr or ""
        last = [line for line in output.strip().splitlines() if line.strip()][-1:]
        return f"{Path(error.cmd[0]).name} failed{': ' + last[0].strip() if last else ''}"
    return str(error)
