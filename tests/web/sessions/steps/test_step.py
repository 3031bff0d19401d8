"""A step of a session in its tabs: its content, its missing values, and the harmless display of anything recorded."""

import html
import json
import re
from dataclasses import replace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.web.timelines import ANSWER, HOSTILE, example_actions, get, recorded, words
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.timeline.schemas.actions import ReadAction, with_everything

pytestmark = pytest.mark.django_db
TABS = ("action", "state", "context", "raw")


def test_a_step_shows_its_question_its_answer_by_sentence_and_what_it_cost(
    operator: Client, project: Project
) -> None:
    recorded(project, example_actions())
    page = get(operator, "/sessions/s/?step=2")
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


def test_an_error_is_shown_in_the_row_and_in_the_step(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = get(operator, "/sessions/s/?step=5")
    assert '<span class="mark">error</span>' in page
    assert "npm test exited with 1" in words(page)


def test_missing_values_are_not_recorded_and_an_unknown_price_is_not_zero(
    operator: Client, project: Project
) -> None:
    recorded(project, [ActionDraft(kind="llm_call", model="acme:m")])
    page = words(get(operator, "/sessions/s/"))
    assert "Duration not recorded" in page
    assert "Tokens not recorded" in page
    assert "Cost unknown" in page
    assert "1 step · 1 call of unknown price" in page


def test_every_tab_has_an_address(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    for tab in TABS:
        page = get(operator, f"/sessions/s/?step=2&tab={tab}")
        assert re.search(rf'<a href="\?step=2&amp;tab={tab}"[^>]*aria-current="page"', page)


def test_an_unknown_tab_shows_the_first(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    assert 'data-key="1" aria-current="page"' in get(operator, "/sessions/s/?tab=<b>")


def test_the_context_tab_shows_the_frozen_passages(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = words(get(operator, "/sessions/s/?step=2&tab=context"))
    for phrase in ("Passage 1", "0.900", "0.450", "#61 v1", "The text of 2.", "cut by cliff"):
        assert phrase in page


def test_the_context_tab_shows_scores_and_metadata_of_every_kind(operator: Client, project: Project) -> None:
    asked = example_actions()[1]
    assert asked.retrieval is not None
    first = replace(
        asked.retrieval.hits[0],
        scores={"lexical": 7.6652655601501465, "exact": 3.0, "fused": 0.00001},
        metadata={"author": "Anna", "draft": True, "year": 2026},
    )
    recorded(project, [replace(asked, retrieval=replace(asked.retrieval, hits=(first,)))])
    page = words(get(operator, "/sessions/s/?step=1&tab=context"))
    for phrase in ("lexical 7.6653 ", "exact 3 ", "fused 1e-05 ", "author Anna ", "draft yes ", "year 2026 "):
        assert phrase in page


def test_the_state_tab_counts_up_to_the_step(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    before = words(get(operator, "/sessions/s/?step=1&tab=state"))
    after = words(get(operator, "/sessions/s/?step=4&tab=state"))
    assert "Input tokens not recorded" in before
    assert "No frames used so far." in before
    assert "Input tokens 1,200" in after
    assert "step 2" in after
    assert ANSWER in after


def test_the_raw_tab_equals_the_document_of_the_api(operator: Client, project: Project) -> None:
    session = recorded(project, example_actions())
    page = get(operator, "/sessions/s/?step=2&tab=raw")
    found = re.search(r'<pre class="text">(.*?)</pre>', page, re.DOTALL)
    assert found
    document = json.loads(html.unescape(found[1]))
    assert (
        document
        == ReadAction.of(with_everything(Action.objects.filter(session=session)).get(sequence=2)).model_dump()
    )


def assert_harmless(page: str) -> None:
    assert "<script>alert" not in page
    assert "<img" not in page
    assert not re.search(r'href="javascript:', page)
    assert not set(page) & {"\x00", "\u202e", "\x1b"}
    assert not re.search(r"\son\w+=\"|\sstyle=\"", page)


def test_hostile_recordings_are_harmless(operator: Client, project: Project) -> None:
    hit = HitDraft(
        rank=1,
        title=HOSTILE,
        uri="javascript:alert(1)",
        text=HOSTILE,
        frame=HOSTILE,
        metadata={HOSTILE: HOSTILE},
    )
    one = ActionDraft(
        kind=KINDS[0],
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
    append(session.id, [replace(one, kind=kind, id=f"{kind} {HOSTILE}") for kind in KINDS])
    for page in (get(operator, "/"), *(get(operator, f"/sessions/s/?tab={tab}") for tab in TABS)):
        assert_harmless(page)
        assert "⟨NUL⟩" in page
        assert "⟨ESC⟩" in page
    for sequence, kind in enumerate(KINDS, start=1):
        for tab in TABS:
            page = get(operator, f"/sessions/s/?step={sequence}&tab={tab}", target="article#step")
            assert f'data-sequence="{sequence}"' in page, (kind, tab)
            assert_harmless(page)


def test_an_answer_that_was_only_partly_checked_says_so(operator: Client, project: Project) -> None:
    grounding = {"label": "MEDIUM", "score": 0.69, "sentences": [{"text": "So.", "start": 0, "end": 3}]}
    unread = {"unread_characters": {"answer": 41, "passages": 52}}
    recorded(project, [ActionDraft(kind="ask", output="So. And on.", grounding={**grounding, **unread})])
    page = words(get(operator, "/sessions/s/"))
    assert "Only the beginning of this answer was checked. 41 characters were not read" in page
    assert "52 characters of the passages were not read" in page


def test_a_large_payload_is_shown_in_part_with_a_link_to_the_rest(operator: Client, project: Project) -> None:
    recorded(project, [ActionDraft(kind="event", output="0123456789abcde\n" * 100_000)])
    page = get(operator, "/sessions/s/")
    assert "The first 32.0 KB of 1.5 MB." in words(page)
    assert page.count("0123456789abcde\n") == 2_048
    more = get(operator, "/sessions/s/?step=1&more=1")
    assert more.count("0123456789abcde\n") == 32_768
    assert "Show more" not in words(more)
    assert "Download all" in words(more)


def test_the_number_of_queries_does_not_grow_with_steps(operator: Client, project: Project) -> None:
    def count_queries() -> dict[str, int]:
        found = {}
        for tab in TABS:
            with CaptureQueriesContext(connection) as captured:
                get(operator, f"/sessions/s/?step=2&tab={tab}")
            found[tab] = len(captured)
        return found

    session = recorded(project, example_actions())
    few = count_queries()
    append(session.id, [ActionDraft(kind="event", parent="a") for _ in range(100)])
    assert count_queries() == few
