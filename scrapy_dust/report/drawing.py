"""Plots as SVG that stands in the page. Colours are the style sheet's; what a plot shows is also said in words."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from scrapy_dust.report.gathering import Funnel

_POINTS = 200


def funnel(found: Funnel) -> str:
    steps = [
        ("likely rules", found.likely),
        ("kept", found.kept),
        ("parameters", found.parameters),
        ("edits", found.edits),
        ("tried", found.tried),
        ("valid", found.valid),
        ("refuted", found.refuted),
        ("undecided", found.undecided),
        ("redundant", found.redundant),
    ]
    most = max(1, *(count for _, count in steps))
    said = ", ".join(f"{count} {name}" for name, count in steps)
    rows = []
    for number, (name, count) in enumerate(steps):
        top = 4 + 23 * number
        width = max(2.0, 200 * count / most) if count else 0
        rows.append(
            f'<text x="92" y="{top + 14}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="bar" x="100" y="{top}" width="{width:.1f}" height="18" rx="3"></rect>'
            f'<text class="dim" x="{106 + width:.1f}" y="{top + 14}">{count:,}</text>'
        )
    return _svg(370, 215, said, "".join(rows))


def precision(found: Sequence[float]) -> str:
    if not found:
        return _svg(
            370, 60, "Nothing was decided.", '<text class="dim" x="10" y="30">Nothing was decided.</text>'
        )
    step = max(1, len(found) // _POINTS)
    points = [(k + 1, found[k]) for k in range(0, len(found), step)]
    if points[-1][0] != len(found):
        points.append((len(found), found[-1]))
    reach = max(1, len(found) - 1)
    line = " ".join(f"{46 + 300 * (k - 1) / reach:.1f},{180 - 160 * share:.1f}" for k, share in points)
    if len(points) == 1:
        line += f" 346,{180 - 160 * found[0]:.1f}"
    axes = "".join(
        f'<line class="axis" x1="46" x2="350" y1="{180 - 160 * share:.0f}" y2="{180 - 160 * share:.0f}"></line>'
        f'<text class="dim" x="40" y="{184 - 160 * share:.0f}" text-anchor="end">{share:.0%}</text>'
        for share in (0, 0.5, 1)
    )
    ends = (
        '<text class="dim" x="46" y="198" text-anchor="middle">1</text>'
        f'<text class="dim" x="346" y="198" text-anchor="middle">{len(found):,}</text>'
    )
    said = f"Of the {len(found)} rules that were decided, {found[-1]:.0%} are valid."
    return _svg(370, 215, said, f'{axes}{ends}<polyline class="curve" points="{line}"></polyline>')


def _svg(width: int, height: int, said: str, content: str) -> str:
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(said, quote=True)}">{content}</svg>'
