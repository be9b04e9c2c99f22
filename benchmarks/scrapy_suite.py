"""Scrapy's own tests with our components as defaults: ``python -m benchmarks.scrapy_suite [--folder DIR] [--minutes 20]``.

The source of the installed Scrapy is downloaded by pip, with what its tests need, into a folder; its tests are run
once as they are, and once with `DEFAULTS` in the place of Scrapy's, in the tests' own processes and in those that they
start. Each test that comes out otherwise is printed. Differences that are meant are in `EXPLAINED`, each with its
reason; one that is not there, or that no longer differs, fails the command.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from xml.etree import ElementTree as ET

import scrapy

import scrapy_dust
from benchmarks.scrapy_suite_explained import EXPLAINED

#: What the tests of Scrapy need beside pytest. They are not among our own dependencies.
NEEDED = "pytest-twisted pyftpdlib pexpect ptyprocess pygments psutil sybil greenlet decorator testfixtures".split()

#: Files of Scrapy's tests that have to do with what we wrap, or with what a crawl is made of.
PARTS = (
    "addons closespider command_crawl command_fetch command_parse command_runspider command_shell core_downloader "
    "core_scraper crawl crawler crawler_runners crawler_subprocess downloadermiddleware downloadermiddleware_cookies "
    "downloadermiddleware_httpcache downloadermiddleware_offsite downloadermiddleware_redirect "
    "downloadermiddleware_redirect_metarefresh downloadermiddleware_retry downloadermiddleware_robotstxt "
    "downloadermiddleware_stats downloaderslotssettings dupefilters engine engine_close_spider engine_download engine_loop "
    "engine_stop_download_bytes engine_stop_download_headers extension_periodic_log extension_throttle feedexport logstats "
    "middleware pipeline_crawl pipeline_files pipeline_media pipelines pqueues request_attribute_binding "
    "request_cb_kwargs request_dict request_left scheduler scheduler_base signals spider spider_crawl spider_sitemap "
    "spider_start spidermiddleware spidermiddleware_depth spidermiddleware_httperror spidermiddleware_metacopy "
    "spidermiddleware_output_chain spidermiddleware_process_start spidermiddleware_referer spidermiddleware_start "
    "spiderstate squeues squeues_request stats utils_job utils_request"
).split()

#: What the add-on sets, as Scrapy's defaults, and the scheduler. Every Python that finds this file on its path begins
#: with it, so that crawls in processes of their own have these defaults too.
SITECUSTOMIZE = """
import os

if "DUST_SUITE_DIR" in os.environ:
    from scrapy.settings import Settings, default_settings as defaults

    from scrapy_dust import Addon

    chosen = Settings()
    Addon().update_settings(chosen)
    for name in ("DUPEFILTER_CLASS", "REQUEST_FINGERPRINTER_CLASS"):
        setattr(defaults, name, chosen[name])
    for name in ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS"):
        setattr(defaults, name + "_BASE", {**getattr(defaults, name + "_BASE"), **chosen[name]})
    defaults.SCHEDULER = "scrapy_dust.DustScheduler"
    defaults.HTTPCACHE_STORAGE = "scrapy_dust.DustCacheStorage"
    defaults.DUST_DIR = os.environ["DUST_SUITE_DIR"]
    defaults.DUST_RULES = [os.path.join(defaults.DUST_DIR, "dust-rules.json")]
    # A process for each of thousands of crawls that last some milliseconds.
    defaults.DUST_LOG_PROCESS = False
"""

Outcomes = dict[str, str]


def prepared(folder: Path) -> Path:
    """The folder of Scrapy's source, which is downloaded where it is not there yet."""
    source = folder / f"scrapy-{scrapy.__version__}"
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    if not source.is_dir():
        wanted = ["--no-deps", "--no-binary", ":all:", f"scrapy=={scrapy.__version__}", "-d", str(folder)]
        subprocess.run([*pip, "download", *wanted], check=True, timeout=300)
        with tarfile.open(folder / f"{source.name}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    if not (folder / "needed").is_dir():
        subprocess.run(
            [*pip, "install", "--no-deps", "--target", str(folder / "needed"), *NEEDED],
            check=True,
            timeout=300,
        )
    return source


def run(
    source: Path, name: str, parts: list[str], seconds: float, environment: Mapping[str, str]
) -> Outcomes:
    """What came of each test of *parts*."""
    report = source.parent / f"{name}.xml"
    report.unlink(missing_ok=True)
    tests = [str(path) for part in parts for path in source.glob(f"tests/test_{part}.py")]
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", "--tb=short"]
    # Scrapy's fixtures are older than this warning.
    command += ["-W", "ignore::pytest.PytestRemovedIn10Warning"]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:_hypothesis_pytestplugin", *tests]
    with (source.parent / f"{name}.log").open("w") as log:
        try:
            subprocess.run(
                command,
                cwd=source,
                env=dict(environment),
                timeout=seconds,
                stdout=log,
                stderr=log,
                check=False,
            )
        except subprocess.TimeoutExpired:
            sys.exit(
                f"Scrapy's tests, {name}, took more than {seconds:.0f} s. See {log.name}, or give more --minutes."
            )
    if not report.is_file():
        sys.exit(f"Scrapy's tests, {name}, could not be run. See {log.name}.")
    return {test: outcome for case in ET.parse(report).iter("testcase") for test, outcome in _outcome(case)}


def _outcome(case: ET.Element) -> Iterator[tuple[str, str]]:
    bad = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
    yield (
        f"{case.get('classname', '').removeprefix('tests.')}::{case.get('name')}",
        bad[0] if bad else "passed",
    )


def environments(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Of processes that are left alone, and of those that have our defaults."""
    ours = folder / "ours"
    ours.mkdir(exist_ok=True)
    (ours / "sitecustomize.py").write_text(SITECUSTOMIZE)
    package = ours / "scrapy_dust"
    package.unlink(missing_ok=True)
    # Only the package: `tests` is a name of Scrapy's there.
    package.symlink_to(Path(scrapy_dust.__file__).parent)
    base = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "DUST_"))}
    paths = os.pathsep.join((str(ours), str(folder / "needed")))
    plain = base | {"PYTHONPATH": paths}
    return plain, plain | {"DUST_SUITE_DIR": tempfile.mkdtemp(dir=folder, prefix="dust-")}


def differences(plain: Outcomes, ours: Outcomes) -> dict[str, str]:
    """Tests that pass without us and not with us; the other way round is luck."""
    return {
        test: f"{outcome} → {ours.get(test, 'not there')}"
        for test, outcome in plain.items()
        if outcome == "passed" and ours.get(test) != "passed"
    }


def explanation(test: str) -> str | None:
    return next((pattern for pattern in EXPLAINED if fnmatchcase(test, pattern)), None)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scrapy_suite", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--folder", type=Path, help="where the source is kept; default: a temporary folder")
    parser.add_argument("--minutes", type=float, default=20, help="that each of the two runs may take")
    parser.add_argument("--parts", nargs="*", default=PARTS, help="names of test files, without test_")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        sys.exit(not compared(folder, list(options.parts), options.minutes * 60))


def compared(folder: Path, parts: list[str], seconds: float) -> bool:
    """Prints what differs; whether all of it is explained."""
    source = prepared(folder)
    began = time.monotonic()
    as_they_are, with_ours = environments(folder)
    plain = run(source, "plain", parts, seconds, as_they_are)
    ours = run(source, "ours", parts, seconds, with_ours)
    found = differences(plain, ours)
    unexplained = {test: how for test, how in found.items() if explanation(test) is None}
    used = {explanation(test) for test in found}
    unneeded = [
        pattern
        for pattern in EXPLAINED
        if pattern not in used and any(fnmatchcase(t, pattern) for t in plain)
    ]
    passed = sum(outcome == "passed" for outcome in plain.values())
    print(
        f"Scrapy {scrapy.__version__}: {len(plain)} tests in {time.monotonic() - began:.0f} s, {passed} pass as they are; "
        f"{len(found)} do not with our components: {len(found) - len(unexplained)} explained, {len(unexplained)} not."
    )
    for test in found:
        print(f"  {'' if test in unexplained else 'explained: '}{test}: {found[test]}")
    for pattern in unneeded:
        print(f"  explained, and no longer different: {pattern}")
    return not unexplained and not unneeded


if __name__ == "__main__":
    main()
