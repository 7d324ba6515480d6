"""Many rollouts with gradients from four threads, in constant memory."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading

import numpy as np
import pytest
from conftest import PARTICLES

import pullback

#: How many rollouts; `PULLBACK_SOAK=10000` for the whole soak.
ROLLOUTS = int(os.environ.get("PULLBACK_SOAK", "10000"))
THREADS = 4


class Mallinfo2(ctypes.Structure):
    """What glibc says of memory: the parts that are used in it, and those that it has from the system alone."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    )


def held() -> tuple[int, int]:
    """The bytes that are used now, and the objects of Python."""
    gc.collect()
    info = ctypes.CDLL(None).mallinfo2
    info.restype = Mallinfo2
    found = info()
    return found.uordblks + found.hblkhd, sys.getallocatedblocks()


counted = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="memory is counted by glibc")


@counted
def test_no_more_memory_is_kept_for_the_next_call_than_is_said() -> None:
    """However many batches of other sizes come."""
    sim = pullback.Simulation(pullback.Model.parse(PARTICLES))
    x = np.tile(sim.model.state().values, (30_030, 1))
    before, kept = held()[0], []
    for worlds in range(30_000, 30_012):
        sim.step(x[:worlds])
        kept.append(held()[0] - before)
    each = kept[0]
    assert 12 * each > 400e6, "all of them would be more"
    assert max(kept) < 256 * 2**20 + each


@counted
def test_memory_stays_constant() -> None:
    sim = pullback.Simulation(pullback.Model.parse(PARTICLES))
    binomial = sim.replace(memory=pullback.Binomial(3))
    reference = sim.rollout_vjp(sim.model.state())[1](np.ones((21, 12)))
    wrong: list[int] = []

    def work(count: int) -> None:
        for i in range(count):
            one = binomial if i % 4 == 0 else sim
            states, pull = one.rollout_vjp(sim.model.state())
            bars = pull(np.ones_like(states))
            if not all(np.array_equal(a, b) for a, b in zip(bars, reference, strict=True)):
                wrong.append(i)

    def all_threads(count: int) -> None:
        threads = [threading.Thread(target=work, args=(count // THREADS,)) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    all_threads(ROLLOUTS // 10)
    rounds = []
    for _ in range(5):
        before = held()
        all_threads(ROLLOUTS // 5)
        rounds.append([now - then for now, then in zip(held(), before, strict=True)])
    assert not wrong
    # Now and then more calls come at once than ever before, and memory is kept for one more; what leaks does so in every round,
    # and in most of them not a byte is left of each rollout.
    grown = np.median(rounds, axis=0)
    assert grown[0] < ROLLOUTS // 5, f"{rounds} bytes and objects more"
    assert grown[1] < ROLLOUTS // 50, f"{rounds} bytes and objects more"
