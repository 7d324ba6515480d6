"""The handler of XLA's foreign function interface, called as XLA does and as it must not."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_int,
    c_int64,
    c_size_t,
    c_void_p,
    cast,
    sizeof,
)
from pathlib import Path
from typing import Any

import pytest

from pullback import _core

METADATA, EXECUTE = 1, 3


class Extension(Structure):
    _fields_ = (("size", c_size_t), ("kind", c_int), ("next", c_void_p))


class Version(Structure):
    _fields_ = (("size", c_size_t), ("extension", c_void_p), ("major", c_int), ("minor", c_int))


class Metadata(Structure):
    _fields_ = (("size", c_size_t), ("version", Version), ("traits", ctypes.c_uint32), ("state", c_int64))


class Question(Structure):
    _fields_ = (("base", Extension), ("metadata", POINTER(Metadata)))


class ErrorArguments(Structure):
    _fields_ = (("size", c_size_t), ("extension", c_void_p), ("message", c_char_p), ("code", c_int))


ErrorCreate = CFUNCTYPE(c_void_p, POINTER(ErrorArguments))


class Api(Structure):
    _fields_ = (
        ("size", c_size_t),
        ("extension", c_void_p),
        ("version", Version),
        ("internal", c_void_p),
        ("error_create", ErrorCreate),
    )


class Buffers(Structure):
    _fields_ = (
        ("size", c_size_t),
        ("extension", c_void_p),
        ("count", c_int64),
        ("types", c_void_p),
        ("items", c_void_p),
    )


class Attributes(Structure):
    _fields_ = (*Buffers._fields_, ("values", c_void_p))


class Frame(Structure):
    _fields_ = (
        ("size", c_size_t),
        ("extension", c_void_p),
        ("api", POINTER(Api)),
        ("context", c_void_p),
        ("stage", c_int),
        ("arguments", Buffers),
        ("results", Buffers),
        ("attributes", Attributes),
    )


class Xla:
    """A frame of a call, and what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[int, str]] = []
        self.create = ErrorCreate(self._create)
        version = Version(sizeof(Version), None, 0, 7)
        self.api = Api(sizeof(Api), None, version, None, self.create)
        self.frame = Frame(sizeof(Frame), None, ctypes.pointer(self.api), None, EXECUTE)
        self.frame.arguments.size = self.frame.results.size = sizeof(Buffers)
        self.frame.attributes.size = sizeof(Attributes)

    def _create(self, arguments: Any) -> int:
        self.told.append((arguments.contents.code, arguments.contents.message.decode()))
        return 0x1234

    def ask(self) -> Metadata:
        """A frame that only asks what the handler is."""
        answer = Metadata(sizeof(Metadata), Version(sizeof(Version)))
        self.question = Question(Extension(sizeof(Question), METADATA), ctypes.pointer(answer))
        self.frame.extension = cast(byref(self.question), c_void_p)
        return answer

    def call(self) -> str | None:
        """The message of the error, if it is one."""
        capsule = ctypes.pythonapi.PyCapsule_GetPointer
        capsule.restype, capsule.argtypes = c_void_p, (ctypes.py_object, c_char_p)
        handler = CFUNCTYPE(c_void_p, POINTER(Frame))(
            capsule(_core.xla_handler(), b"xla._CUSTOM_CALL_TARGET")
        )
        self.told.clear()
        error = handler(byref(self.frame))
        assert (error == 0x1234) == bool(self.told), "null is success, and nothing else is"
        return self.told[0][1] if self.told else None


def test_it_says_which_version_it_was_written_for() -> None:
    xla = Xla()
    answer = xla.ask()
    assert xla.call() is None
    assert (answer.version.major, answer.version.minor) == (0, 1), "not that of who asks, 0.7"
    old = Xla()
    answer = old.ask()
    old.frame.api = None
    answer.size = Metadata.state.offset
    assert old.call() is None
    assert (answer.version.major, answer.version.minor) == (0, 1)


def test_structs_of_other_lengths_are_refused() -> None:
    def short(xla: Xla) -> None:
        xla.frame.size -= 8

    def arguments(xla: Xla) -> None:
        xla.frame.arguments.size += 8

    def results(xla: Xla) -> None:
        xla.frame.results.size -= 8

    def attributes(xla: Xla) -> None:
        xla.frame.attributes.size += 8

    def version(xla: Xla) -> None:
        xla.api.version.size += 8

    for change, message in (
        (short, "frame has 160 bytes, and at least 168 are wanted"),
        (arguments, "arguments: 40 bytes are wanted, and there are 48"),
        (results, "results: 40 bytes are wanted, and there are 32"),
        (attributes, "attributes: 48 bytes are wanted, and there are 56"),
        (version, "version: 24 bytes are wanted, and there are 32"),
    ):
        xla = Xla()
        change(xla)
        assert message in (xla.call() or "")
        assert xla.told[0][0] == 3, "an invalid argument"
    longer = Xla()
    longer.frame.size += 8
    assert "attribute is missing" in (longer.call() or ""), "frames grow at their ends"

    def question(xla: Xla, answer: Metadata) -> None:
        xla.question.base.size -= 8

    def room(xla: Xla, answer: Metadata) -> None:
        answer.size = 16

    def inner(xla: Xla, answer: Metadata) -> None:
        answer.version.size = 16

    def nothing(xla: Xla, answer: Metadata) -> None:
        xla.question.metadata = POINTER(Metadata)()

    for spoil in (question, room, inner, nothing):
        xla = Xla()
        answer = xla.ask()
        spoil(xla, answer)
        assert "a call from XLA does not fit" in (xla.call() or "")
        assert answer.version.minor == 0, "nothing is written"
        xla.frame.api = None
        assert xla.call() is None, "without a function for errors the version 0.0 is refused"


def test_other_stages_are_refused() -> None:
    for stage in (0, 1, 2, 4):
        xla = Xla()
        xla.frame.stage = stage
        assert f"it is of stage {stage}, and 3 is wanted" in (xla.call() or "")


def test_a_panic_is_an_error() -> None:
    xla = Xla()
    _core.panic_next()
    assert "this is a bug in Pullback" in (xla.call() or "")
    assert xla.told[0][0] == 13


@pytest.mark.parametrize(
    "spoil",
    [
        "xla.frame.api = None",
        "xla.api.size = 8",
        "xla.api.error_create = test_xla.ErrorCreate(lambda _: None)",
    ],
)
def test_an_error_that_cannot_be_told_is_no_success(spoil: str) -> None:
    code = f"import test_xla; xla = test_xla.Xla(); {spoil}; xla.call(); print('a success')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parent, check=False
    )
    assert done.returncode == -6, done.stderr
    assert "a call from XLA does not fit" in done.stderr
    assert "a success" not in done.stdout
