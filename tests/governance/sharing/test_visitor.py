"""What the access log stores about a visitor."""

import pytest

from timemachine.governance.sharing.pure.log_line import visitor

MOZILLA = "Mozilla/5.0 (X11; Linux x86_64)"
CHROME = f"{MOZILLA} AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"


@pytest.mark.parametrize(
    ("user_agent", "family"),
    [
        (f"{MOZILLA} Gecko/20100101 Firefox/145.0", "Firefox"),
        (CHROME, "Chrome"),
        (f"{CHROME} Edg/156.0.0.0", "Edge"),
        (f"{CHROME} OPR/120.0.0.0", "Opera"),
        (
            "Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15",
            "Safari",
        ),
        ("Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/156.0 Safari/604.1", "Chrome"),
        ("curl/8.9", "other"),
        ("", None),
        (None, None),
    ],
)
def test_a_browser_is_stored_as_its_family(user_agent: str | None, family: str | None) -> None:
    assert visitor(None, user_agent).browser == family


def test_nothing_else_about_a_visitor_is_stored() -> None:
    stored = visitor("203.0.113.77", f"{CHROME} <script>alert(1)</script>")
    assert (stored.network, stored.browser) == ("203.0.113.0/24", "Chrome")
