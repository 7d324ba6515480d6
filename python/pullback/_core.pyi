"""The compiled half of the package. Private: arrays are addresses, and nothing is checked twice."""

from collections.abc import Callable
from os import PathLike
from typing import TypeAlias, final

__all__ = [
    "Layout",
    "Model",
    "Problem",
    "Run",
    "Simulation",
    "Watch",
    "command",
    "forked",
    "page",
    "panic_next",
    "xla_handler",
    "xla_number",
]

_Path: TypeAlias = str | PathLike[str]
_Three: TypeAlias = tuple[int, int, int]
_Origin: TypeAlias = tuple[str, _Path, bool, list[_Path], list[tuple[str, _Path]], str]
_Simulated: TypeAlias = tuple[float, int, int, str, tuple[str, int], str, int | None, float | None]
_Described: TypeAlias = tuple[str, int, int, str, str, float, float, bool]

def command(arguments: list[str]) -> int: ...
def forked() -> None: ...
def page(
    model: Model, simulation: Simulation, moments: int, states: int, controls: int, params: int
) -> str: ...
def panic_next() -> None: ...
def xla_handler() -> object: ...
def xla_number(simulation: Simulation | Watch) -> int: ...

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
    def retract_all(self, values: list[float], tangents: list[float]) -> list[float]: ...
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
    def parts(self) -> list[str]: ...
    @property
    def positions(self) -> int: ...
    @property
    def state_layout(self) -> Layout: ...
    @property
    def control_layout(self) -> Layout: ...
    @property
    def params_layout(self) -> Layout: ...
    def controls(self) -> tuple[int, list[float]]: ...
    @property
    def controllers(self) -> int: ...
    @property
    def simulated(self) -> _Simulated: ...
    def energy(self, states: int, count: int, params: int, found: int) -> None: ...

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
        steps: int,
        gpu: int | None,
    ) -> Simulation: ...
    def step(
        self, single: bool, worlds: int, shared: int, index: tuple[int, int], at: _Three, next: int
    ) -> None: ...
    def step_pullback(
        self,
        single: bool,
        worlds: int,
        shared: int,
        index: tuple[int, int],
        at: _Three,
        next: int,
        next_bar: int,
        bars: _Three,
    ) -> None: ...
    def step_pushforward(
        self,
        single: bool,
        worlds: int,
        shared: int,
        index: tuple[int, int],
        at: _Three,
        dots: _Three,
        next: int,
        next_dot: int,
    ) -> None: ...
    def rollout(
        self, single: bool, worlds: int, shared: int, steps: int, last: bool, at: _Three, states: int
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
    ) -> None: ...
    def linearise(self, index: int, at: _Three, found: _Three) -> None: ...

@final
class Watch:
    @staticmethod
    def part(model: Model, simulation: Simulation, name: str) -> Watch: ...
    @staticmethod
    def contacts(model: Model, simulation: Simulation, of: str | None, by: str | None) -> Watch: ...
    def __len__(self) -> int: ...
    def step(
        self, single: bool, worlds: int, shared: int, index: tuple[int, int], at: _Three, seen: int
    ) -> None: ...
    def step_pullback(
        self,
        single: bool,
        worlds: int,
        shared: int,
        index: tuple[int, int],
        at: _Three,
        seen: int,
        seen_bar: int,
        bars: _Three,
    ) -> None: ...
    def step_pushforward(
        self,
        single: bool,
        worlds: int,
        shared: int,
        index: tuple[int, int],
        at: _Three,
        dots: _Three,
        seen: int,
        seen_dot: int,
    ) -> None: ...

_Method: TypeAlias = tuple[str, dict[str, float], dict[str, int]]
_Variable: TypeAlias = tuple[str, float | None, float | None, bool, float | None, list[float] | None, bool]
_Measured: TypeAlias = tuple[
    str, str, str | None, list[float], tuple[bool, bool, bool], list[int] | None, float
]
_Recorded: TypeAlias = tuple[list[str], list[float], list[int], float]
_Record: TypeAlias = tuple[int, float, float, float | None, float, tuple[int, int, int]]
_Audit: TypeAlias = tuple[str, str, float, float, float, float, str]
_Health: TypeAlias = tuple[
    list[_Audit],
    list[tuple[str, str]],
    float | None,
    tuple[list[float], list[float], list[float], bool, float],
    tuple[float, float, str, str],
    list[float],
    float,
]

@final
class Problem:
    def __new__(cls, text: str | None, file: _Path, gpu: int | None = None) -> Problem: ...
    @staticmethod
    def of(
        model: Model,
        simulation: Simulation,
        steps: int,
        variables: list[_Variable],
        terms: list[_Measured | _Recorded],
        method: _Method,
        stopping: tuple[int, float, float | None],
    ) -> Problem: ...
    @property
    def source(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def method(self) -> str: ...
    def variables(self) -> list[tuple[str, str, float, float]]: ...
    def start(self) -> tuple[list[float], list[float], list[float]]: ...
    def values(self, z: list[float]) -> list[float]: ...
    def point(self, z: list[float]) -> tuple[list[float], list[float], list[float]]: ...
    def value(self, z: list[float]) -> float: ...
    def gradient(self, z: list[float]) -> tuple[float, list[float]]: ...
    def full_gradient(
        self, z: list[float]
    ) -> tuple[float, list[float], list[float], list[float], list[float]]: ...
    def jacobian(self, z: list[float]) -> tuple[list[float], list[float]]: ...
    def parts(self, z: list[float]) -> list[tuple[str, float]]: ...
    def standard_errors(self, z: list[float]) -> list[float] | None: ...
    def check(self, z: list[float]) -> _Health: ...
    def begin(self, method: _Method | None) -> Run: ...

@final
class Run:
    def __new__(
        cls,
        method: _Method,
        start: list[float],
        lower: list[float] | None,
        upper: list[float] | None,
        iterations: int,
        tolerance: float,
        target: float | None,
        patience: int | None,
    ) -> Run: ...
    @staticmethod
    def load(path: _Path, fingerprint: str) -> Run: ...
    def save(self, path: _Path) -> None: ...
    def iterate(self, problem: Problem) -> bool: ...
    def iterate_on(
        self,
        value: Callable[[list[float]], float],
        gradient: Callable[[list[float]], tuple[float, list[float]]],
    ) -> bool: ...
    @property
    def best(self) -> tuple[list[float], float]: ...
    @property
    def stopped(self) -> str | None: ...
    @property
    def history(self) -> list[_Record]: ...
    @property
    def note(self) -> str | None: ...
