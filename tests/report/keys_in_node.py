"""The report's script without a browser: what its key function makes of URLs."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from scrapy_dust.report.page import _site_extent, keys_script
from scrapy_dust.rules.json_rules import rule_json
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.site_rules import in_order
from tests.waiting import PATIENCE

NODE = shutil.which("node")

_ASK = """
const asked = JSON.parse(require("fs").readFileSync(0, "utf-8"));
const told = asked.map(([urls, sites, force, passes]) => urls.map((url) => {
  const found = Keys.explain(url, sites, (site) => force[site] || [], passes);
  return found.why ? null : found.key;
}));
process.stdout.write(JSON.stringify(told));
"""

Asked = tuple[Sequence[str], Mapping[str, Sequence[Rule]]]


def keys_of(asked: Sequence[Asked], passes: int = 10) -> list[list[str | None]]:
    """For each: the keys of URLs under the rules of sites; None where the page does not know."""
    assert NODE is not None
    said = [
        (
            list(urls),
            {site: _site_extent(site) for site in by_site},
            {site: [rule_json(rule) for rule in in_order(rules)] for site, rules in by_site.items()},
            passes,
        )
        for urls, by_site in asked
    ]
    done = subprocess.run(
        [NODE, "-e", keys_script() + _ASK],
        input=json.dumps(said).encode("utf-8", "surrogatepass"),
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr.decode()
    found: list[list[str | None]] = json.loads(done.stdout)
    return found
