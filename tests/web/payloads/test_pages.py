"""Payloads on the page of a step and on shared pages, as what they are."""

import re

import pytest
from django.test import Client

from tests.web.payloads.test_images import PNG, SVG, base64_of
from tests.web.timelines import get, recorded, words
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import as_profile

pytestmark = pytest.mark.django_db
EMAIL = "kanari.vogel@example.org"
HOSTILE = """# Plan

Write to [the **desk**](https://example.org/a "t") or <javascript:alert(1)> or [x](javascript:alert(1)) or [y](/settings/).
![secret](https://tracker.example/p.png) <img src=x onerror=alert(1)> &lt;b&gt;

| a | b |
|:-:|---|
| 1 | `<script>` |
"""


def said(output: object) -> ActionDraft:
    return ActionDraft(kind="message", role="agent", output=output)


def image(data: bytes) -> dict[str, object]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64_of(data)}}


def test_markdown_is_rendered_and_fetches_or_hides_nothing(operator: Client, project: Project) -> None:
    recorded(project, [said(HOSTILE)])
    page = get(operator, "/sessions/s/?step=1")
    (body,) = re.findall(r'<div class="text prose markdown">.*?</table></div></div>', page, re.DOTALL)
    assert (
        '<a href="https://example.org/a" rel="noreferrer noopener nofollow">the <strong>desk</strong></a>'
        in body
    )
    assert '<span class="target">(https://example.org/a)</span>' in body
    assert "image, not fetched: secret" in body
    assert re.findall(r'href="([^"]*)"', body) == ["https://example.org/a", "https://tracker.example/p.png"]
    assert not re.search(r"<(img|script|b)\b|style=", body)
    assert "&amp;lt;b&amp;gt;" in body


def test_raw_is_one_click_away_and_stays_while_stepping(operator: Client, project: Project) -> None:
    recorded(project, [said(HOSTILE), said('{"a": "b"}')])
    assert '?step=1&amp;raw=1">Raw' in get(operator, "/sessions/s/?step=1")
    raw = get(operator, "/sessions/s/?step=1&raw=1")
    assert (
        "![secret](https://tracker.example/p.png) &lt;img src=x onerror=alert(1)&gt; &amp;lt;b&amp;gt;" in raw
    )
    assert '?step=2&amp;raw=1#s2"' in raw


def test_an_image_of_the_record_comes_from_this_server_as_what_its_bytes_are(
    operator: Client, project: Project
) -> None:
    recorded(project, [ActionDraft(kind="tool_result", tool="Read", output=[image(PNG), image(SVG)])])
    (address,) = re.findall(r'<img src="([^"]+)"', get(operator, "/sessions/s/?step=1"))
    answer = operator.get(address)
    assert (answer.content, answer["Content-Type"], answer["X-Content-Type-Options"]) == (
        PNG,
        "image/png",
        "nosniff",
    )
    assert "sandbox" in answer["Content-Security-Policy"]
    assert operator.get(address[:-1] + "1").status_code == 404


def test_a_visitor_sees_no_rendering_of_what_is_withheld(project: Project) -> None:
    session = recorded(
        project,
        [
            said(f"**Write** to [{EMAIL}](https://example.org/?to={EMAIL})"),
            ActionDraft(
                kind="tool_result", tool="Read", output=[image(PNG), {"type": "text", "text": EMAIL}]
            ),
            ActionDraft(kind="tool_result", tool="Read", output=[image(PNG)]),
            said(EMAIL.replace("@", "**@**")),
        ],
    )
    profile = as_profile(make_profile(project, "Mail", read_rules({"detect": ["email"]}), by="test"))
    _, path = shared(project, session, Terms(redaction=profile))
    visitor, address = opened(path)
    pages = [get(visitor, f"{address}?step={step}{raw}") for step in (1, 2, 3) for raw in ("", "&raw=1")]
    assert not any(EMAIL in page for page in pages)
    assert EMAIL not in words(get(visitor, f"{address}?step=4"))
    assert "<strong>Write</strong>" in pages[0]
    assert '<span class="redacted">' in pages[0]
    assert "https://example.org/?to=" not in re.findall(r'href="([^"]*)"', pages[0])
    assert "<img" not in pages[2]
    (picture,) = re.findall(r'<img src="([^"]+)"', pages[4])
    assert visitor.get(picture).content == PNG


@pytest.mark.parametrize(
    "sign", ["[", "![", "**a", "`", "> ", "- ", '{"a":', "*** Add File: a\n", "\x1b[1m", "|a|\n|-|\n"]
)
def test_a_hostile_payload_has_few_elements(operator: Client, project: Project, sign: str) -> None:
    text = ("*** Begin Patch\n" if sign.startswith("***") else "") + sign * (32_000 // len(sign))
    recorded(project, [said(text)])
    page = get(operator, "/sessions/s/?step=1")
    assert page.count("<") < 6_000
    assert len(page) < 400_000
