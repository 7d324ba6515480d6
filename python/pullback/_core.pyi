"""The compiled half of the package. Private: arrays are addresses, and nothing is checked twice."""

from os import PathLike
from typing import TypeAlias, final

_Path: TypeAlias = str | PathLike[str]
_Three: TypeAlias = tuple[int, int, int]
_Origin: TypeAlias = tuple[str, _Path, bool, list[_Path], list[tuple[str, _Path]], str]
_Simulated: TypeAlias = tuple[float, int, int, str, tuple[str, int], str, int | None, float | None]
_Described: TypeAlias = tuple[str, int, int, str, str, float, float, bool]

def command(arguments: list[str]) -> int: ...
def panic() -> None: ...
def xla_handler() -> object: ...
def xla_number(simulation: Simulation) -> int: ...

@final
class Layout:
    def __len__(self) -> int: ...
    @property
    def tangent_len(self) -> int: ...
    def values(self) -> list[float]: ...
    def find(self, name: str) -> tuple[int, int, list[int]]: ...
    def select(self, pattern: str) -> list[tuple[int, int]]: ...
    def name_of(self, index: int) -> str: ...
    def parts(self) -> list[_Described]: ...
    def check(self, values: list[float]) -> None: ...
    def check_set(self, name: str, values: list[float]) -> None: ...
    def retract(self, values: list[float], tangent: list[float]) -> list[float]: ...
    def difference(self, values: list[float], to: list[float]) -> list[float]: ...
    def to_tangent(self, values: list[float], bars: list[float]) -> list[float]: ...

@final
class Model:
    def __new__(
        cls,
        text: str | None,
        file: _Path,
        lenient: bool,
        allow: list[_Path],
        packages: list[tuple[str, _Path]],
        base_name: str,
    ) -> Model: ...
    @property
    def origin(self) -> _Origin: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def particles(self) -> int: ...
    @property
    def robots(self) -> list[str]: ...
    @property
    def positions(self) -> int: ...
    @property
    def state_layout(self) -> Layout: ...
    @property
    def control_layout(self) -> Layout: ...
    @property
    def params_layout(self) -> Layout: ...
    def controls(self, steps: int) -> list[float]: ...
    @property
    def simulated(self) -> _Simulated: ...
    def energy(self, states: int, count: int, params: int) -> list[tuple[float, float]]: ...

@final
class Simulation:
    def __new__(
        cls,
        model: Model,
        dt: float,
        substeps: int,
        integrator: str,
        memory: tuple[str, int],
        snapshots: str,
        truncate: int | None,
        clip: float | None,
        threads: int,
    ) -> Simulation: ...
    def step(self, single: bool, worlds: int, shared: int, index: int, at: _Three, next: int, /) -> None: ...
    def step_pullback(
        self,
        single: bool,
        worlds: int,
        shared: int,
        index: int,
        at: _Three,
        next: int,
        next_bar: int,
        bars: _Three,
        /,
    ) -> None: ...
    def step_pushforward(
        self,
        single: bool,
        worlds: int,
        shared: int,
        index: int,
        at: _Three,
        dots: _Three,
        next: int,
        next_dot: int,
        /,
    ) -> None: ...
    def rollout(
        self, single: bool, worlds: int, shared: int, steps: int, last: bool, at: _Three, states: int, /
    ) -> None: ...
    def rollout_pullback(
        self,
        single: bool,
        worlds: int,
        shared: int,
        steps: int,
        last: bool,
        at: _Three,
        states: int,
        states_bar: int,
        bars: _Three,
        /,
    ) -> None: ...
    def rollout_pushforward(
        self,
        single: bool,
        worlds: int,
        shared: int,
        steps: int,
        last: bool,
        at: _Three,
        dots: _Three,
        states: int,
        states_dot: int,
        /,
    ) -> None: ...
    def linearise(self, index: int, at: _Three) -> tuple[list[float], list[float], list[float]]: ...
