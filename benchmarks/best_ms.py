"""How long peers take, measured as best_seconds.h measures our own programs."""
import time

WINDOW_SECONDS = 1.0


def best_ms(work):
    """Milliseconds of one run: the better of two windows, each the mean of the runs that fill it."""
    work()
    best = float("inf")
    for _ in range(2):
        begin, runs = time.perf_counter(), 0
        while runs == 0 or time.perf_counter() - begin < WINDOW_SECONDS:
            work()
            runs += 1
        best = min(best, (time.perf_counter() - begin) / runs)
    return best * 1e3
