"""The page in the package is what `web/` says."""

from __future__ import annotations

import re

from scripts.build_web import PAGE, SOURCES, STAMP, sources_hash


def test_the_built_page_belongs_to_the_sources() -> None:
    assert STAMP.read_text().strip() == sources_hash(), "web/ has changed since the page was built: run `make web`"


def test_all_files_that_the_page_names_are_there() -> None:
    named = re.findall(r'(?:src|href)="\./([^"]+)"', (PAGE / "index.html").read_text())
    assert named
    assert [name for name in named if not (PAGE / name).is_file()] == []


def test_texts_can_be_read_on_every_ground_in_both_themes() -> None:
    light, dark = re.findall(r":root[^{]*\{(.*?)\}", (SOURCES / "src/style/theme.css").read_text(), re.DOTALL)[:2]
    for theme in (light, dark):
        colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", theme))
        plain = [(text, ground) for text in ("text", "muted", "accent") for ground in ("ground", "surface", "raised")]
        toned = [(tone, f"{tone}-soft") for tone in ("accent", "good", "warn", "bad")]
        weak = {
            pair: round(ratio, 2)
            for pair in [*plain, *toned, ("on-accent", "accent"), ("text", "pressed-soft"), ("surface", "bad")]
            if (ratio := _contrast(colours[pair[0]], colours[pair[1]])) < 4.5
        }
        assert weak == {}


def _contrast(one: str, other: str) -> float:
    """As WCAG defines it."""
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
