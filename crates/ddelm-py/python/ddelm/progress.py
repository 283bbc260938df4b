"""Progress of a long computation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Optional, Union


class Progress(NamedTuple):
    """How far a computation has come."""

    #: "assemble", "factor", "interface", "recover" or "estimate".
    stage: str
    #: Steps of the stage that are done.
    done: int
    #: Steps of the stage.
    total: int
    #: Relative residual of conjugate gradients, while they run.
    residual: Optional[float]


#: A function that is told, True for a bar in the terminal or the notebook, or nothing.
ProgressLike = Union[bool, Callable[[Progress], object], None]

#: What the native module calls.
Native = Callable[[str, int, int, Optional[float]], object]


@contextmanager
def listener(progress: ProgressLike) -> Iterator[Optional[Native]]:
    """Yield what the native module calls; a bar is closed afterwards."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        bar = _Bar()
        try:
            yield bar
        finally:
            bar.close()
    elif callable(progress):
        told = progress
        yield lambda stage, done, total, residual: told(Progress(stage, done, total, residual))
    else:
        raise TypeError(f"progress: expected True or a function, not `{type(progress).__name__}`")


class _Bar:
    """A tqdm bar for each stage."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("progress=True needs tqdm\nhint: pip install tqdm, or give a function") from error
        self._tqdm: Any = tqdm
        self._bar: Any = None
        self._stage: Optional[tuple[str, int]] = None

    def __call__(self, stage: str, done: int, total: int, residual: Optional[float]) -> None:
        if self._stage != (stage, total):
            self.close()
            self._stage = (stage, total)
            self._bar = self._tqdm(total=total, desc=stage, leave=False)
        if residual is not None:
            self._bar.set_postfix(residual=f"{residual:.1e}", refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
