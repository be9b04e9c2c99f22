"""What `benchmarks/faults.py` does for hours, done shortly: processes that are killed, and disks that fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.e2e


def can_mount() -> bool:
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    tried = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
    )
    return tried.returncode == 0


def faults(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.faults", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither fork nor SIGKILL")
def test_nothing_that_was_promised_is_lost_by_kills():
    assert "0 of what was promised is lost." in faults("kills", "--kills", "12")


@pytest.mark.skipif(not can_mount(), reason="only root can mount a disk that is full")
def test_no_content_is_lost_over_a_disk_that_fails():
    assert faults("disks", "--webs", "3").count("lost on []") == 7
