"""A campaign on one target: ``python -m fuzz TARGET [--seconds 600] [--grown FOLDER]``, with ``atheris`` installed.

``--replay`` runs what the corpus has, once, on any Python; ``--keep`` brings what *grown* has found into the corpus,
as few and small files as cover as much. What crashed stands in ``crash-…`` beside where it was started.
``log --format NAME`` keeps to one format of logs, beginning with the inputs of the corpus that are in this format.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

CORPUS = Path(__file__).with_name("corpus")
NAMES = (
    *("log", "log_format", "rule_book", "verdicts", "rules_from_elsewhere"),
    *("keys", "page", "pdf", "journals", "from_redis"),
)


def replay(target: str) -> int:
    """Runs each file of the corpus once; how many there are."""
    from fuzz.targets import TARGETS  # noqa: PLC0415

    inputs = sorted((CORPUS / target).iterdir())
    for path in inputs:
        TARGETS[target](path.read_bytes())
    return len(inputs)


def seeds_of(log_format: str, folder: Path) -> Path:
    """Copies the corpus' logs of one format to *folder*, without the first line, which names the format."""
    begin = log_format.encode() + b"\n"
    for path in sorted((CORPUS / "log").iterdir()):
        if (data := path.read_bytes()).startswith(begin):
            (folder / path.name).write_bytes(data.removeprefix(begin))
    return folder


def of_one_format(log: Callable[[bytes], None], log_format: str) -> Callable[[bytes], None]:
    """The target that reads all bytes as a log of one format."""
    begin = log_format.encode() + b"\n"
    return lambda data: log(begin + data)


def campaign(target: str, options: list[str], folders: list[Path], log_format: str | None = None) -> None:
    """Does not come back: libFuzzer ends the process."""
    import atheris  # type: ignore[import-not-found]  # noqa: PLC0415

    with atheris.instrument_imports(include=["scrapy_dust"]):
        targets = importlib.import_module("fuzz.targets").TARGETS
    one = of_one_format(targets[target], log_format) if log_format else targets[target]
    atheris.Setup([sys.argv[0], *options, *map(str, folders)], one)
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("target", choices=NAMES)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument(
        "--grown", type=Path, help="where inputs go that reached something new (default: nowhere)"
    )
    parser.add_argument("--format", help="of the target 'log': the only format of logs to try")
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--keep", action="store_true")
    chosen = parser.parse_args()
    corpus = CORPUS / chosen.target
    if chosen.replay:
        print(f"{chosen.target}: {replay(chosen.target)} inputs, no crash")
        return
    corpus.mkdir(parents=True, exist_ok=True)
    options = ["-max_len=65536", "-timeout=30", "-rss_limit_mb=3072"]
    if chosen.keep:
        campaign(chosen.target, ["-merge=1", "-max_len=4096", *options[1:]], [corpus, chosen.grown])
    grown = [chosen.grown] if chosen.grown else []
    for folder in grown:
        folder.mkdir(parents=True, exist_ok=True)
    stopping = [f"-max_total_time={chosen.seconds}", "-print_final_stats=1"]
    if chosen.format:
        corpus = seeds_of(chosen.format, Path(tempfile.mkdtemp(prefix="fuzz-seeds-")))
    campaign(chosen.target, [*options, *stopping], [*grown, corpus], chosen.format)


if __name__ == "__main__":
    main()
