"""Many rollouts with gradients from four threads, in constant memory."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from conftest import PARTICLES

import pullback

#: How many rollouts; `PULLBACK_SOAK=10000` for the whole soak.
ROLLOUTS = int(os.environ.get("PULLBACK_SOAK", "10000"))
THREADS = 4


def resident() -> int:
    """The memory of this process [bytes]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
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
    before = resident()
    all_threads(ROLLOUTS)
    grown = resident() - before
    assert not wrong
    # Freed pages come and go; what leaks with every rollout would be 10,000 times its size.
    assert grown < 4_000_000, f"{grown} bytes more"
