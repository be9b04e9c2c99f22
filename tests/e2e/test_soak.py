"""What `benchmarks/soak.py` does for long, done shortly."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]


@pytest.mark.e2e
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted in /proc")
def test_neither_files_nor_memory_grow_with_requests():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.soak", "--requests", "10000"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    open_files = [int(count) for count in re.findall(r"(\d+) files", done.stdout)]
    assert len(open_files) == 20
    assert max(open_files[10:]) <= min(open_files[10:]) + 1
    assert int(re.findall(r"With us: (\d+) bytes a request", done.stdout)[0]) < 1500
