"""A session's timeline, through the front door."""

import html
import json
import re
from collections.abc import Sequence
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from tests.web.people import browser_of
from timemachine.accounts.models import VIEWER, Project
from timemachine.recording.commands import append, start_session
from timemachine.recording.draft import ActionDraft, HitDraft, RetrievalDraft, Usage
from timemachine.recording.models import Action, Session
from timemachine.recording.vocabulary import KINDS
from timemachine.timeline.queries import action_json, with_everything

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\x00\u202e\x1b[31m\ud800{{ 7|add:7 }}{% csrf_token %}' \" &"
ANSWER = "The row is lost. Nobody knows why."
EARLIER = re.compile(r'id="earlier".*?hx-get="([^"]+)"', re.DOTALL)
LATER = re.compile(r'id="later".*?hx-get="([^"]+)"', re.DOTALL)
TABS = ("action", "state", "context", "raw")


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def recorded(project: Project, drafts: Sequence[ActionDraft], key: str = "s") -> Session:
    session = start_session(project, name="A session", by="test", key=key)
    append(session.id, drafts)
    return session


def story() -> list[ActionDraft]:
    """A question, an ask over two passages with its find, a failed call and its result."""
    hits = tuple(
        HitDraft(
            rank=n, score=0.9 / n, frame=60 + n, version=n, title=f"Passage {n}", text=f"The text of {n}."
        )
        for n in (1, 2)
    )
    sentences = [
        {"text": "The row is lost.", "start": 0, "end": 16, "score": 0.9, "grounded": True, "frame": 61},
        {
            "text": "Nobody knows why.",
            "start": 17,
            "end": 34,
            "score": 0.1,
            "grounded": False,
            "reason": "no_support",
        },
    ]
    grounding = {
        "score": 0.5,
        "label": "MEDIUM",
        "sentence_count": 2,
        "grounded_sentences": 1,
        "sentences": sentences,
    }
    retrieval = RetrievalDraft(mode="hybrid", top_k=2, cut_by="cliff", hits=hits)
    return [
        ActionDraft(kind="message", role="user", output="Find out why."),
        ActionDraft(
            kind="ask",
            id="a",
            input="Why is the row lost?",
            output=ANSWER,
            model="acme:m",
            usage=Usage(input_tokens=1_200, output_tokens=34),
            cost_usd=Decimal("0.0213"),
            prices={"source": "list", "per_million_tokens": {"input": 3, "output": 15}},
            grounding=grounding,
            retrieval=retrieval,
        ),
        ActionDraft(kind="find", parent="a", input="Why is the row lost?", retrieval=retrieval),
        ActionDraft(kind="tool_call", id="t", tool="Bash", input={"command": "npm test"}, duration_ms=1_900),
        ActionDraft(
            kind="tool_result",
            parent="t",
            tool="Bash",
            error_type="Exit",
            error_message="npm test exited with 1",
        ),
    ]


def get(browser: Client, address: str, target: str = "") -> str:
    headers = {"HX-Request": "true", "HX-Target": target} if target else {}
    answer = browser.get(address, headers=headers)
    assert answer.status_code == 200, answer
    return str(answer.content.decode())


def rows(page: str) -> list[int]:
    return [int(found) for found in re.findall(r'<li id="s(\d+)"', page)]


def words(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_a_session_is_opened_by_its_key_and_by_its_uuid(browser: Client, project: Project) -> None:
    session = recorded(project, story())
    for name in ("s", session.id):
        page = get(browser, f"/sessions/{name}/")
        assert rows(page) == [1, 2, 4, 5]
        assert re.search(r'<li id="s1"[^>]*>\s*<a [^>]*aria-current="step"', page)


@pytest.mark.parametrize("name", ["nothing", "a%00b", "%3Cscript%3E", "00000000-0000-7000-8000-000000000000"])
def test_what_does_not_exist_is_not_found(browser: Client, name: str) -> None:
    assert browser.get(f"/sessions/{name}/").status_code == 404


def test_another_projects_session_is_not_found_like_one_that_does_not_exist(
    browser: Client, other_project: Project
) -> None:
    session = recorded(other_project, story())
    for name in ("s", session.id):
        assert browser.get(f"/sessions/{name}/").status_code == 404


def test_a_step_shows_its_question_its_answer_by_sentence_and_what_it_cost(
    browser: Client, project: Project
) -> None:
    recorded(project, story())
    page = get(browser, "/sessions/s/?step=2")
    for phrase in (
        "Why is the row lost?",
        "1,200",
        "$0.0213",
        "at input $3.00, output $15.00 per million tokens",
        "MEDIUM",
    ):
        assert phrase in words(page)
    assert '<span class="sentence supported" id="said-1" data-number="1">The row is lost.</span>' in page
    assert '<span class="sentence unsupported" id="said-2" data-number="2">Nobody knows why.</span>' in page
    targets = re.findall(r'class="(?:support|back[^"]*)"[^>]*?href="#([^"]+)"', page)
    assert {"rests-1", "why-2", "said-1", "said-2"} == set(targets)
    assert all(page.count(f'id="{target}"') == 1 for target in targets)
    assert "✗ no support" in page
    answer = re.search(
        r'<div class="text prose">(.*?)</div>', page.split('aria-label="Answer"')[1], re.DOTALL
    )
    assert answer
    assert re.sub(r'<a class="support".*?</a>|<[^>]+>', "", answer[1]) == ANSWER
    assert "✓#61" in page


def test_an_error_is_told_in_the_row_and_in_the_step(browser: Client, project: Project) -> None:
    recorded(project, story())
    page = get(browser, "/sessions/s/?step=5")
    assert '<span class="mark">error</span>' in page
    assert "npm test exited with 1" in words(page)


def test_what_was_not_recorded_reads_so_and_an_unknown_price_is_not_nothing(
    browser: Client, project: Project
) -> None:
    recorded(project, [ActionDraft(kind="llm_call", model="acme:m")])
    page = words(get(browser, "/sessions/s/"))
    assert "Took not recorded" in page
    assert "Tokens not recorded" in page
    assert "Cost unknown" in page
    assert "1 step · $0 + 1 call of unknown price" in page


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_has_an_address(browser: Client, project: Project, tab: str) -> None:
    recorded(project, story())
    page = get(browser, f"/sessions/s/?step=2&tab={tab}")
    assert re.search(rf'<a href="\?step=2&amp;tab={tab}"[^>]*aria-current="page"', page)


def test_an_unknown_tab_is_the_first(browser: Client, project: Project) -> None:
    recorded(project, story())
    assert 'data-key="1" aria-current="page"' in get(browser, "/sessions/s/?tab=<b>")


def test_the_context_tab_shows_the_frozen_passages(browser: Client, project: Project) -> None:
    recorded(project, story())
    page = words(get(browser, "/sessions/s/?step=2&tab=context"))
    for phrase in ("Passage 1", "0.900", "0.450", "#61 v1", "The text of 2.", "cut by cliff"):
        assert phrase in page


def test_the_state_tab_counts_up_to_the_step(browser: Client, project: Project) -> None:
    recorded(project, story())
    before = words(get(browser, "/sessions/s/?step=1&tab=state"))
    after = words(get(browser, "/sessions/s/?step=4&tab=state"))
    assert "Input tokens not recorded" in before
    assert "No frame had been used yet." in before
    assert "Input tokens 1,200" in after
    assert "step 2" in after
    assert ANSWER in after


def test_the_raw_tab_is_the_document_of_the_api(browser: Client, project: Project) -> None:
    session = recorded(project, story())
    page = get(browser, "/sessions/s/?step=2&tab=raw")
    found = re.search(r'<pre class="text">(.*?)</pre>', page, re.DOTALL)
    assert found
    document = json.loads(html.unescape(found[1]))
    assert document == action_json(with_everything(Action.objects.filter(session=session)).get(sequence=2))


def test_the_find_inside_an_ask_unfolds_and_folds(browser: Client, project: Project) -> None:
    recorded(project, story())
    closed = get(browser, "/sessions/s/?step=1")
    assert "1 inside" in closed
    found = re.search(r'class="inside" href="(\?[^"#]+)', closed)
    assert found
    opened = get(browser, "/sessions/s/" + found[1].replace("&amp;", "&"))
    assert rows(opened) == [1, 2, 3, 4, 5]
    again = re.search(r'class="inside" href="(\?[^"#]+)', opened)
    assert again
    assert rows(get(browser, "/sessions/s/" + again[1].replace("&amp;", "&"))) == [1, 2, 4, 5]


def test_selecting_what_is_inside_unfolds_it(browser: Client, project: Project) -> None:
    recorded(project, story())
    assert rows(get(browser, "/sessions/s/?step=3")) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(("asked", "nearest"), [("99", 5), ("0", 1), ("99999999999999999999999", 5)])
def test_a_step_that_is_not_there_leads_to_the_nearest_with_a_notice(
    browser: Client, project: Project, asked: str, nearest: int
) -> None:
    recorded(project, story())
    page = get(browser, f"/sessions/s/?step={asked}")
    assert f"This is the nearest, step {nearest}." in words(page)
    assert f'data-sequence="{nearest}"' in page


@pytest.mark.parametrize("asked", ["", "x", "-3", "1.5", "²"])
def test_a_step_that_is_no_number_is_the_first(browser: Client, project: Project, asked: str) -> None:
    recorded(project, story())
    assert 'data-sequence="1"' in get(browser, f"/sessions/s/?step={asked}")


def test_a_filter_shows_its_steps_and_leads_from_one_to_the_next(browser: Client, project: Project) -> None:
    recorded(project, story())
    page = get(browser, "/sessions/s/?filter=kind:ask,tool_result")
    assert rows(page) == [2, 5]
    assert 'data-sequence="2"' in page
    assert "2 of 5 steps" in words(page)
    assert re.search(r'href="\?step=5&amp;filter=kind:ask,tool_result[^"]*"[^>]*title="Next step', page)
    assert rows(get(browser, "/sessions/s/?filter=status:error")) == [5]


def test_a_filter_that_shows_nothing_says_so(browser: Client, project: Project) -> None:
    recorded(project, story())
    page = words(get(browser, "/sessions/s/?filter=kind:put"))
    assert "No step matches this filter. Clear filters" in page


def test_an_unknown_filter_is_explained_and_everything_is_shown(browser: Client, project: Project) -> None:
    recorded(project, story())
    answer = browser.get("/sessions/s/?filter=knd:ask")
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Did you mean kind:ask?" in words(page)
    assert rows(page) == [1, 2, 4, 5]


def test_a_session_without_steps_says_what_to_send(browser: Client, project: Project) -> None:
    recorded(project, [])
    page = words(get(browser, "/sessions/s/"))
    assert "Nothing recorded yet" in page
    assert "POST /api/sessions/s/actions" in page


def test_a_long_session_is_read_window_by_window(browser: Client, project: Project) -> None:
    recorded(project, [ActionDraft(kind="event", output=f"step {n}") for n in range(1, 701)])
    page = get(browser, "/sessions/s/?step=350")
    seen = rows(page)
    assert seen == list(range(250, 450))
    earlier = re.search(EARLIER, page)
    later = re.search(LATER, page)
    while earlier:
        part = get(browser, "/sessions/s/" + earlier[1].replace("&amp;", "&"), "li#earlier")
        assert 'id="later"' not in part
        seen, earlier = rows(part) + seen, re.search(EARLIER, part)
    while later:
        part = get(browser, "/sessions/s/" + later[1].replace("&amp;", "&"), "li#later")
        assert 'id="earlier"' not in part
        seen, later = seen + rows(part), re.search(LATER, part)
    assert seen == list(range(1, 701))


def test_without_script_the_ends_of_a_window_are_links_to_pages(browser: Client, project: Project) -> None:
    recorded(project, [ActionDraft(kind="event") for _ in range(400)])
    found = re.search(r'id="later".*?href="(\?step=\d+)#s(\d+)"', get(browser, "/sessions/s/?step=1"))
    assert found
    assert int(found[2]) in rows(get(browser, f"/sessions/s/{found[1]}"))


@pytest.mark.parametrize(
    ("target", "has", "has_not"),
    [
        ("article#step", ['<article id="step"', 'id="navigator"', 'hx-swap-oob="true"'], ["<html", "<ol"]),
        ("step", ['<article id="step"'], ["<html"]),
        ("div#steps", ['<div id="steps"', "<ol"], ["<html", "<article"]),
        ("div#timeline", ['<div id="timeline"', "<ol", "<article"], ["<html"]),
        ("div#whatever", ["<html"], []),
    ],
)
def test_htmx_gets_the_part_that_it_swaps(
    browser: Client, project: Project, target: str, has: list[str], has_not: list[str]
) -> None:
    recorded(project, story())
    page = get(browser, "/sessions/s/?step=2", target)
    assert all(piece in page for piece in has)
    assert not any(piece in page for piece in has_not)


def test_the_back_button_gets_the_whole_page(browser: Client, project: Project) -> None:
    recorded(project, story())
    headers = {"HX-Request": "true", "HX-Target": "article#step", "HX-History-Restore-Request": "true"}
    answer = browser.get("/sessions/s/", headers=headers)
    assert "<html" in answer.content.decode()
    assert {"HX-Request", "HX-Target"} <= {name.strip() for name in answer["Vary"].split(",")}


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_was_recorded_is_harmless(browser: Client, project: Project, kind: str, tab: str) -> None:
    hit = HitDraft(
        rank=1,
        title=HOSTILE,
        uri="javascript:alert(1)",
        text=HOSTILE,
        frame=HOSTILE,
        metadata={HOSTILE: HOSTILE},
    )
    draft = ActionDraft(
        kind=kind,
        id=HOSTILE,
        agent=HOSTILE,
        name=HOSTILE,
        tool=HOSTILE,
        call_id=HOSTILE,
        parent=HOSTILE + HOSTILE,
        tags=(HOSTILE,),
        input={HOSTILE: [HOSTILE, None]},
        output=HOSTILE,
        error_type=HOSTILE,
        error_message=HOSTILE,
        model=HOSTILE,
        parameters={HOSTILE: HOSTILE},
        prices={HOSTILE: HOSTILE},
        grounding={
            "label": HOSTILE,
            "sentences": [{"text": HOSTILE, "grounded": False, "reason": HOSTILE, "frame": HOSTILE}],
        },
        retrieval=RetrievalDraft(embedding_model=HOSTILE, cut_by=HOSTILE, hits=(hit,)),
        source=HOSTILE,
    )
    session = start_session(project, name=HOSTILE, by="test", key="s", agent=HOSTILE, tags=[HOSTILE])
    append(session.id, [draft])
    for page in (get(browser, f"/sessions/s/?tab={tab}"), get(browser, "/")):
        assert "<script>alert" not in page
        assert "<img" not in page
        assert not re.search(r'href="javascript:', page)
        assert not set(page) & {"\x00", "\u202e", "\x1b"}
        assert "⟨NUL⟩" in page
        assert "⟨ESC⟩" in page
        assert not re.search(r"\son\w+=\"|\sstyle=\"", page)


def test_an_answer_that_was_not_judged_whole_says_so(browser: Client, project: Project) -> None:
    told = {"label": "MEDIUM", "score": 0.69, "sentences": [{"text": "So.", "start": 0, "end": 3}]}
    unread = {"unread_characters": {"answer": 41, "passages": 52}}
    recorded(project, [ActionDraft(kind="ask", output="So. And on.", grounding={**told, **unread})])
    page = words(get(browser, "/sessions/s/"))
    assert "Only the beginning of this answer was judged. 41 characters of it were not read" in page
    assert "52 characters of the passages were not read" in page


def test_a_large_payload_is_shown_in_part_with_the_way_to_the_rest(browser: Client, project: Project) -> None:
    recorded(project, [ActionDraft(kind="event", output="0123456789abcde\n" * 100_000)])
    page = get(browser, "/sessions/s/")
    assert "The first 32.0 KB of 1.5 MB." in words(page)
    assert page.count("0123456789abcde\n") == 2_048
    more = get(browser, "/sessions/s/?step=1&more=1")
    assert more.count("0123456789abcde\n") == 32_768
    assert "Show more" not in words(more)
    assert "Download the whole" in words(more)


@pytest.mark.parametrize(
    "address", ["/sessions/s/?step=2", *(f"/sessions/s/?step=2&tab={tab}" for tab in TABS)]
)
def test_a_page_asks_the_same_number_of_questions_for_any_number_of_steps(
    browser: Client, project: Project, django_assert_num_queries: DjangoAssertNumQueries, address: str
) -> None:
    session = recorded(project, story())
    with CaptureQueriesContext(connection) as few:
        get(browser, address)
    append(session.id, [ActionDraft(kind="event", parent="a") for _ in range(300)])
    with django_assert_num_queries(len(few)):
        get(browser, address)


def test_a_viewer_can_look_and_cannot_end_a_session(project: Project) -> None:
    recorded(project, story())
    assert "End session" not in get(browser_of(project, VIEWER), "/sessions/s/")
