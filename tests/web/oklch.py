"""Conversion of the stylesheet's colours to linear RGB, to measure contrast."""

import math
import re
from collections.abc import Mapping

_COLOUR = re.compile(r"oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)")
# OKLab to the cube roots of cone responses, and those to linear sRGB: B. Ottosson, "A perceptual color space for image
# processing", 2020.
_TO_CONES = ((0.3963377774, 0.2158037573), (-0.1055613458, -0.0638541728), (-0.0894841775, -1.2914855480))
_TO_RGB = (
    (4.0767416621, -3.3077115913, 0.2309699292),
    (-1.2684380046, 2.6097574011, -0.3413193965),
    (-0.0041960863, -0.7034186147, 1.7076147010),
)


def linear_rgb(colour: str) -> tuple[float, float, float]:
    """Return the linear sRGB of `oklch(L C H)` with H in degrees; displayable channels are from 0 to 1."""
    match = _COLOUR.fullmatch(colour)
    assert match, f"not a plain oklch colour: {colour}"
    lightness, chroma, hue = (float(part) for part in match.groups())
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    cones = [(lightness + by_a * a + by_b * b) ** 3 for by_a, by_b in _TO_CONES]
    red, green, blue = (
        sum(weight * cone for weight, cone in zip(row, cones, strict=True)) for row in _TO_RGB
    )
    return red, green, blue


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2.2, from 1 to 21."""
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def tokens(block: str) -> Mapping[str, str]:
    """Return the custom properties of a block of CSS."""
    return dict(re.findall(r"(--[\w-]+):\s*([^;]+);", block))


def _luminance(colour: str) -> float:
    red, green, blue = (min(1.0, max(0.0, channel)) for channel in linear_rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
