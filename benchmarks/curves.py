"""Curves as SVG text, small enough to be kept beside a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 560, 300, 48, 44, 14
_COLOURS = ("#b2182b", "#2166ac", "#1b7837", "#762a83")


@dataclass(frozen=True, slots=True)
class Curve:
    name: str
    points: Sequence[tuple[float, float]]  #: x, and a share from 0 to 1


def drawing(y_name: str, x_name: str, curves: Sequence[Curve]) -> str:
    most = max(x for curve in curves for x, _ in curve.points)
    right, low = _WIDTH - 12, _HEIGHT - _BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return round(_LEFT + (right - _LEFT) * x / most, 1), round(low - (low - _TOP) * y, 1)

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif"'
            ' font-size="12">'
        ),
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
    ]
    for part in (0, 0.25, 0.5, 0.75, 1):
        (x, y), (_, along) = place(part * most, 0), place(0, part)
        parts.append(f'<path d="M{_LEFT} {along}H{right}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{along + 4}" text-anchor="end">{part:.0%}</text>')
        parts.append(f'<text x="{x}" y="{y + 16}" text-anchor="middle">{part * most:.3g}</text>')
    middle = (_LEFT + right) / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(x_name)}</text>')
    for number, (curve, colour) in enumerate(zip(curves, _COLOURS, strict=False)):
        line = " ".join(f"{x},{y}" for x, y in (place(*point) for point in curve.points))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        name = f"{y_name}: {curve.name}"
        at = _TOP + 14 + 16 * number
        parts.append(f'<text x="{right}" y="{at}" text-anchor="end" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
