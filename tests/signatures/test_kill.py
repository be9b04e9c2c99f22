"""A process that writes signatures is killed: what it had committed is there, and the store opens every time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.e2e
def test_nothing_committed_is_lost_by_kills(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.signatures", "kills", "--kills", "4", "--dir", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert '"opened": 4' in done.stdout
    assert '"lost": 0' in done.stdout
    assert '"committed": 0' not in done.stdout
