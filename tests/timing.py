"""How long work takes, told so that a busy machine changes little: CPU time, the best of some runs, no collector."""

from __future__ import annotations

import gc
import time
from typing import Callable


def cpu_seconds(work: Callable[[], object], runs: int = 2) -> float:
    """The least CPU time of some runs. The collector's work grows with all that the test process holds: it is off."""
    gc.collect()
    gc.disable()
    try:
        best = float("inf")
        for _ in range(runs):
            start = time.process_time()
            work()
            best = min(best, time.process_time() - start)
        return best
    finally:
        gc.enable()
