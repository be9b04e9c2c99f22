"""All benchmarks in one run, as ratios: ``python -m benchmarks [--quick] [--json]``.

Each compares us with a named rival on the same input, in the same process, turn and turn about, and prints the
ratio of the best of several rounds in CPU time. Nothing here fails on a slow machine.
"""

from __future__ import annotations

import argparse
import json
import platform
from dataclasses import asdict

from benchmarks.comparisons import canonizing, filtering, fingerprinting, mining
from benchmarks.texts import describing, extracting, sketching


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small inputs, for a check that it runs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = [
        *(benchmark(quick=options.quick) for benchmark in (mining, fingerprinting, canonizing, filtering)),
        *(
            result
            for benchmark in (extracting, sketching, describing)
            for result in benchmark(quick=options.quick)
        ),
    ]
    if options.json:
        print(json.dumps([asdict(result) for result in results], indent=2))
        return
    print(f"Python {platform.python_version()}, {platform.machine()}")
    for result in results:
        print(
            f"{result.what}: {result.ours:.4g} s against {result.theirs:.4g} s of {result.rival} ({result.said})"
        )


if __name__ == "__main__":
    main()
