"""What the commands cost at the start of `scrapy`: ``python -m benchmarks.start_up [--rounds N]``.

`scrapy version` with our commands and without (the entry points are not asked for), and `scrapy dustmine --help`
against `scrapy bench --help`: in turns, each in a process of its own, CPU time of the process, the least and the
median of the rounds. scrapy-dust must be installed, so that its entry points are found.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys

WITH = "from scrapy.cmdline import execute; execute({})"
WITHOUT = "import scrapy.cmdline as c; c._get_commands_from_entry_points = lambda *_: {{}}; c.execute({})"

PAIRS = {
    "scrapy version, with our commands against without": (
        WITH.format(["scrapy", "version"]),
        WITHOUT.format(["scrapy", "version"]),
    ),
    "scrapy dustmine --help against scrapy bench --help": (
        WITH.format(["scrapy", "dustmine", "--help"]),
        WITH.format(["scrapy", "bench", "--help"]),
    ),
}


def cpu_seconds(program: str) -> float:
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"It failed: {program}")
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.start_up", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    for what, pair in PAIRS.items():
        for program in pair:
            cpu_seconds(program)  # so that the bytecode is there
        ours, theirs = zip(*([cpu_seconds(program) for program in pair] for _ in range(rounds)), strict=True)
        least, median = min(ours) / min(theirs), statistics.median(ours) / statistics.median(theirs)
        print(
            f"{what}: {min(ours):.3f} s against {min(theirs):.3f} s, {least:.3f} times; median {median:.3f} times"
        )


if __name__ == "__main__":
    main()
