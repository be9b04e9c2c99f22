"""Builds the wheel twice, with another time, umask and folder, and compares the bytes: ``python .ci/reproducible.py``."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def built(into: Path, umask: int) -> str:
    """The hash of the wheel made of a copy of the sources in *into*."""
    names = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=False
    ).stdout.decode()
    sources = into / "sources"
    before = os.umask(umask)
    for name in filter(None, names.split("\0")):
        target = sources / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(into / "dist"), str(sources)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    os.umask(before)
    (wheel,) = (into / "dist").glob("*.whl")
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def main() -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        hashes = [built(Path(one), 0o022), built(Path(other, "else", "where"), 0o077)]
    print(*hashes)
    sys.exit(hashes[0] != hashes[1])


if __name__ == "__main__":
    main()
