"""Shares of the multiply-add peak, for programs that measure from Python."""
import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def measured_peak(program=ROOT / "build/release/benchmarks/benchmark_explain"):
    """Operations per second that registers alone reach now (a multiply-add counts as two); None without the program."""
    if not Path(program).exists():
        return None
    out = subprocess.run([program, "--serve"], input="16\n", capture_output=True, text=True, check=True).stdout
    return json.loads(out)["peak_gflops"] * 1e9


def forward_operations(tokens, width=768, inner=3072, layers=12):
    """Of one input of an encoder that reads one row: after queries, keys, values and scores of the last layer only the
    read-out row is computed."""
    square, wide, attention = width * width, width * inner, tokens * tokens * width
    return 2 * ((layers - 1) * (tokens * (4 * square + 2 * wide) + 2 * attention) + tokens * 3 * square + attention)
