"""Memory does not grow, and Python's threads do not disturb each other."""

import gc
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from conftest import SENTENCE, without_seconds


# The address sanitizer keeps what was freed, to see whether it is used again.
freed_memory_is_returned = pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""),
                                              reason="the address sanitizer keeps freed memory")


def resident_megabytes() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20


@freed_memory_is_returned
def test_ten_thousand_explanations_do_not_grow_memory(model):
    for _ in range(500):
        model.explain(SENTENCE, "gae")["gae"].scores.sum()
    gc.collect()
    before = resident_megabytes()
    for _ in range(10_000):
        model.explain(SENTENCE, "gae")["gae"].scores.sum()
    gc.collect()
    # An explanation of this model holds about 4 layers × 4 heads × 81 maps: a leak of every thousandth would show.
    assert resident_megabytes() - before < 8


@freed_memory_is_returned
def test_models_are_freed():
    import whyformer as wf

    for _ in range(5):
        wf.load("sentiment").explain(SENTENCE, "gae")
    gc.collect()
    before = resident_megabytes()
    for _ in range(20):
        wf.load("sentiment").explain(SENTENCE, "gae")
    gc.collect()
    assert resident_megabytes() - before < 40  # a model takes about 15


def test_python_threads_do_not_change_a_result(model):
    texts = ["I like the movie", "This is so boring", SENTENCE, "She hates the book"] * 5
    alone = [without_seconds(model.explain(text, ["gae", "partition-shap"]).to_dict()) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: without_seconds(model.explain(text, ["gae", "partition-shap"]).to_dict()),
                                 texts))
    assert together == alone


def test_the_interpreter_runs_while_the_engine_computes(model):
    # Work in another thread goes on: with the lock held, it could not count.
    import threading

    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1

    counter = threading.Thread(target=count)
    text = " ".join(["good"] * 300)
    counter.start()
    before = counted[0]
    model.explain(text, ["gae"])
    during = counted[0] - before
    stop.set()
    counter.join()
    assert during > 0
    assert np.isfinite(during)
