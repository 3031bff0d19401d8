"""The rules of the design for colours, sizes and names, measured on the files themselves."""

import gzip
import hashlib
import re
from pathlib import Path

import pytest

from tests.web.oklch import contrast, linear_rgb, tokens
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.web.sessions.presenters.steps import LETTERS
from timemachine.web.template_library import absent

STATIC = Path(__file__).resolve().parents[2] / "static"
TEMPLATES = STATIC.parent / "templates"
WEB = STATIC.parent / "timemachine" / "web"
VENDORED = [*(STATIC / "vendor").iterdir(), Path(__file__).resolve().parents[1] / "vendor" / "axe"]
ON_DEMAND = {"check-here.js"}  # loaded when a button is pressed, and with no page
CSS = (STATIC / "css" / "timemachine.css").read_text()
TEXT, MARK = 4.5, 3.0
INKS = (
    "--ink",
    "--quiet",
    "--accent",
    "--ok",
    "--warn",
    "--bad",
    "--live",
    *(f"--kind-{kind}" for kind in KINDS),
)
PAPERS = ("--paper", "--inset", "--hover", "--chosen")


def block(opening: str) -> str:
    start = CSS.index(opening)
    return CSS[start : CSS.index("}", start)]


LIGHT = tokens(block("  :root {"))
DARK = {**LIGHT, **tokens(block('  :root[data-theme="dark"] {'))}
SYSTEM_DARK = tokens(block('  :root:not([data-theme="light"]) {'))
THEMES = {"light": LIGHT, "dark": DARK}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ink", INKS)
@pytest.mark.parametrize("paper", PAPERS)
def test_text_has_enough_contrast_on_every_background(theme: str, ink: str, paper: str) -> None:
    colours = THEMES[theme]
    assert contrast(colours[ink], colours[paper]) >= TEXT


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("paper", PAPERS)
def test_meaningful_lines_have_enough_contrast(theme: str, paper: str) -> None:
    colours = THEMES[theme]
    assert contrast(colours["--line"], colours[paper]) >= MARK


@pytest.mark.parametrize("theme", THEMES)
def test_letters_in_badges_and_text_on_the_accent_have_enough_contrast(theme: str) -> None:
    colours = THEMES[theme]
    for kind in KINDS:
        assert contrast(colours["--paper"], colours[f"--kind-{kind}"]) >= TEXT
    assert contrast(colours["--on-accent"], colours["--accent"]) >= TEXT


@pytest.mark.parametrize("theme", THEMES)
def test_every_colour_can_be_shown_on_a_screen(theme: str) -> None:
    for name, value in THEMES[theme].items():
        if value.startswith("oklch(") and "/" not in value:
            assert all(-0.01 <= channel <= 1.01 for channel in linear_rgb(value)), name


def test_dark_is_the_same_whether_the_system_or_the_visitor_chose_it() -> None:
    assert tokens(block('  :root[data-theme="dark"] {')) == SYSTEM_DARK


def test_every_colour_has_a_dark_variant() -> None:
    colours = {name for name, value in LIGHT.items() if value.startswith("oklch")}
    assert colours == set(SYSTEM_DARK)


def test_contrast_is_measured_as_the_guidelines_say() -> None:
    assert contrast("oklch(1 0 0)", "oklch(0 0 0)") == pytest.approx(21, abs=0.01)
    assert linear_rgb("oklch(0.62796 0.25768 29.234)") == pytest.approx((1, 0, 0), abs=0.001)


def test_every_kind_has_its_own_letter_and_style() -> None:
    assert set(LETTERS) == set(KINDS)
    assert len(set(LETTERS.values())) == len(KINDS)
    for kind in KINDS:
        assert f".k-{kind}" in CSS


def test_every_colour_that_is_used_is_a_token() -> None:
    used = set(re.findall(r"var\((--[\w-]+)", CSS))
    assert used <= set(LIGHT) | {"--hue", "--n"}
    assert not re.search(
        r"#[0-9a-f]{3,8}\b|rgba?\(|hsl",
        CSS.replace("#more", "").replace("#progress", "").replace("#id_kind", ""),
    )


@pytest.mark.parametrize(
    ("files", "kilobytes"), [(("js/*.js",), 28), (("js/*.js", "vendor/htmx/htmx.min.js"), 41)]
)
def test_all_scripts_together_stay_within_their_size_limit(files: tuple[str, ...], kilobytes: int) -> None:
    found = [path for pattern in files for path in STATIC.glob(pattern) if path.name not in ON_DEMAND]
    assert found
    assert sum(map(_packed, found)) <= kilobytes * 1024


def test_a_script_that_is_loaded_on_demand_is_on_no_page() -> None:
    for name in ON_DEMAND:
        assert _packed(STATIC / "js" / name) <= 12 * 1024
        assert not any(
            f"src=\"{{% static 'js/{name}' %}}\"" in page.read_text() for page in TEMPLATES.glob("**/*.html")
        )


def test_the_styles_of_every_page_stay_within_their_size_limit() -> None:
    pages = [page for page in TEMPLATES.glob("**/*.html") if "css/" in page.read_text()]
    assert pages
    for page in pages:
        own = set(re.findall(r"css/[\w-]+\.css", page.read_text())) | {"css/timemachine.css"}
        assert sum(_packed(STATIC / path) for path in own) <= 19 * 1024, page


def _packed(path: Path) -> int:
    return len(gzip.compress(path.read_bytes(), 9))


@pytest.mark.parametrize("folder", VENDORED, ids=lambda folder: folder.name)
def test_a_vendored_file_is_the_one_that_was_reviewed(folder: Path) -> None:
    files = [*folder.glob("*.min.js"), *folder.glob("*.woff2")]
    assert files
    for file in files:
        assert hashlib.sha256(file.read_bytes()).hexdigest() in (folder / "VERSION").read_text()
    assert (folder / "LICENSE").is_file()


def test_every_font_that_the_stylesheet_names_is_vendored_and_the_text_font_stays_small() -> None:
    named = {(STATIC / "css" / address).resolve() for address in re.findall(r'url\("([^"]+\.woff2)"\)', CSS)}
    assert named == set((STATIC / "vendor").glob("*/*.woff2"))
    assert CSS.count("font-display: swap") == len(named)
    assert (STATIC / "vendor" / "inter" / "inter.woff2").stat().st_size <= 36 * 1024


def test_what_is_missing_is_marked_by_one_filter_and_only_what_was_not_recorded_becomes_a_dash() -> None:
    pages = [*TEMPLATES.rglob("*.html"), *(STATIC / "js").glob("*.js"), *WEB.rglob("*.py")]
    by_hand = re.compile(
        r"""class=["'][^"'>]*\b(absent|unrecorded)\b|>\s*(not recorded|unknown|–)\s*</(span|td|dd)>"""
    )
    assert [path.name for path in pages if by_hand.search(path.read_text())] == []
    assert 'class="absent"' in absent("unknown")
    assert 'class="absent unrecorded"' in absent("not recorded")
    assert all(".absent" not in rule for rule in CSS.splitlines() if '"–"' in rule)
