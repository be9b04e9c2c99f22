"""Takes the pictures of `report.md`: the example is crawled, mined and crawled again, and a browser opens both reports.

    python docs/screenshots.py

needs Chromium, at DUST_CHROMIUM or on the path, and Playwright (`pip install --group e2e`) and takes some two minutes. Nothing leaves this machine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent / "example_project"
#: Width, colours and file of each picture.
VIEWS = (
    (1280, "light", "report-light.png"),
    (1280, "dark", "report-dark.png"),
    (390, "light", "report-narrow.png"),
)
#: The same of the live report, in the middle of the second crawl.
LIVE = "report-live.png"
URL = "http://www.smallnews.test/print/city/promising-rooftop?page=1"


def report_in(folder: Path) -> Path:
    """The report of a copy of the example, after a crawl with rules. Beside it, `live.html` is the crawl half way."""
    shutil.copytree(
        EXAMPLE, folder, ignore=shutil.ignore_patterns(".scrapy", "dust-rules.json"), dirs_exist_ok=True
    )
    sys.path.insert(0, str(EXAMPLE))
    from dusty_web.running import running_web  # noqa: PLC0415

    with running_web() as web:
        for command in (
            ["crawl", "pages"],
            ["dustmine", "--report", "first.html"],
            ["crawl", "pages", "-s", "DUST_LIVE_REPORT=running.html", "-s", "DOWNLOAD_DELAY=0.02"],
            ["dustmine", "--report", "report.html"],
        ):
            done = subprocess.Popen(
                [sys.executable, "-m", "scrapy", *command, "-s", "LOG_LEVEL=CRITICAL"],
                cwd=folder,
                env={**os.environ, "EXAMPLE_WEB": web.proxy},
            )
            seen = list(dict.fromkeys(_versions(done, folder / "running.html")))
            if done.returncode:
                sys.exit(f"scrapy {command[0]} failed.")
            if seen and not (folder / "live.html").exists():
                (folder / "live.html").write_bytes(seen[len(seen) // 2])
    return folder / "report.html"


def _versions(process: subprocess.Popen[bytes], file: Path) -> Iterator[bytes]:
    """The contents of *file* while *process* runs."""
    while process.poll() is None:
        if file.exists():
            yield file.read_bytes()
        time.sleep(0.2)


def _rule(page: Page) -> None:
    """The picture of a refuted rule with the texts of a pair side by side."""
    page.locator("section[aria-labelledby=refuted-h] .card").nth(1).screenshot(
        path=HERE / "report-refuted.png"
    )


def _live(page: Page, file: Path) -> None:
    """The picture of the live report, as it looked when its file was written."""
    written = re.search(r'data-written="(\d+)"', file.read_text("utf-8"))
    assert written
    page.clock.set_fixed_time(datetime.fromtimestamp(int(written[1]) / 1000, UTC))
    page.goto(file.as_uri())
    page.screenshot(path=HERE / LIVE, full_page=True)


def main() -> None:
    chromium = os.environ.get("DUST_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("docs/screenshots.py needs a Chromium: set DUST_CHROMIUM to its path.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = report_in(Path(folder))
        first = report.with_name("first.html")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width, scheme, name in VIEWS:
            context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
            page = context.new_page()
            page.goto(report.as_uri())
            page.fill("#url", URL)
            page.keyboard.press("Enter")
            page.evaluate("document.activeElement.blur()")
            page.screenshot(
                path=HERE / name, full_page=True, clip={"x": 0, "y": 0, "width": width, "height": 1700}
            )
            if name == VIEWS[0][2]:
                page.goto(first.as_uri())
                _rule(page)
                _live(page, report.with_name("live.html"))
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
