"""Boundary conditions. Every value is a number, a formula or a function of (x, y)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Optional, Union, get_args

from ddelm._types import FieldLike, Part, Side

#: The sides of a rectangle, in the order of the native module.
SIDES: tuple[str, ...] = get_args(Side)


@dataclass(frozen=True)
class Dirichlet:
    """``u = value``."""

    value: FieldLike = 0.0
    kind: ClassVar[str] = "dirichlet"

    def _fields(self) -> list[FieldLike]:
        return [self.value]


@dataclass(frozen=True)
class Neumann:
    """``n . a grad u = value``, the flux out of the domain."""

    value: FieldLike = 0.0
    kind: ClassVar[str] = "neumann"

    def _fields(self) -> list[FieldLike]:
        return [self.value]


@dataclass(frozen=True)
class Robin:
    """``n . a grad u + coefficient * u = value``."""

    coefficient: FieldLike
    value: FieldLike = 0.0
    kind: ClassVar[str] = "robin"

    def _fields(self) -> list[FieldLike]:
        return [self.coefficient, self.value]


@dataclass(frozen=True)
class SimplySupported:
    """A plate's ``u = value``, ``Laplacian u = laplacian``."""

    value: FieldLike = 0.0
    laplacian: FieldLike = 0.0
    kind: ClassVar[str] = "simply_supported"

    def _fields(self) -> list[FieldLike]:
        return [self.value, self.laplacian]


@dataclass(frozen=True)
class Clamped:
    """A plate's ``u = value``, ``du/dn = normal``, n pointing out of the domain."""

    value: FieldLike = 0.0
    normal: FieldLike = 0.0
    kind: ClassVar[str] = "clamped"

    def _fields(self) -> list[FieldLike]:
        return [self.value, self.normal]


#: Any boundary condition.
Condition = Union[Dirichlet, Neumann, Robin, SimplySupported, Clamped]

#: A condition for the whole boundary, or one for each named side.
BoundaryLike = Union[Condition, Mapping[Part, Condition]]

_CONDITIONS = (Dirichlet, Neumann, Robin, SimplySupported, Clamped)


def sides(
    dirichlet: Optional[FieldLike], boundary: Optional[BoundaryLike], names: Sequence[str] = SIDES
) -> list[Optional[Condition]]:
    """Return the condition of every part of the boundary; None where none was given."""
    whole: Optional[Condition] = None if dirichlet is None else Dirichlet(dirichlet)
    if boundary is None:
        return [whole] * len(names)
    if isinstance(boundary, Mapping):
        for name, condition in boundary.items():
            if name not in names:
                raise ValueError(f"boundary: there is no side {name!r}\nhint: the sides are {', '.join(names)}")
            _check(condition, f"boundary[{name!r}]")
        return [boundary.get(name, whole) for name in names]
    _check(boundary, "boundary")
    if whole is not None:
        raise ValueError(
            "boundary: a condition for the whole boundary, besides dirichlet\n"
            "hint: give one of them, or boundary as a dictionary of sides"
        )
    return [boundary] * len(names)


def _check(condition: object, name: str) -> None:
    if not isinstance(condition, _CONDITIONS):
        raise TypeError(
            f"{name}: expected ddelm.Dirichlet, Neumann, Robin, SimplySupported or Clamped, "
            f"not `{type(condition).__name__}`\nhint: ddelm.Dirichlet({condition!r}) gives u there"
        )
