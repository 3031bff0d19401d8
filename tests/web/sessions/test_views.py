"""The other views of a session's steps, over HTTP: table, compact and raw."""

import gzip
import re
from datetime import UTC, datetime

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.web.timelines import HOSTILE, example_actions, get, recorded, rows, words
from timemachine.core.accounts.models import Project
from timemachine.recording.annotations.notes.commands import add
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
SEGMENT = re.compile(
    r'<a class="chip"\s+href="([^"]*)"[^>]*?(aria-current="page")?>(Timeline|Table|Compact|Raw)<'
)
MORE = re.compile(r'id="(?:earlier|later)"[^>]*><a href="([^"]+)"')


def table(page: str) -> list[int]:
    """Return the sequences of the rows of a table."""
    return [int(found) for found in re.findall(r'<tr id="s(\d+)"', page)]


def documents(page: str) -> list[int]:
    """Return the sequences of the documents on a page."""
    return [int(found) for found in re.findall(r'<article id="s(\d+)"', page)]


def links(page: str) -> dict[str, str]:
    return {name: address.replace("&amp;", "&") for address, _, name in SEGMENT.findall(page)}


def many(project: Project, number: int = 300) -> None:
    session = start_session(project, name="Many", by="test", key="m")
    append(session.id, [ActionDraft(kind="event", output=f"what {n} said") for n in range(1, number + 1)])


def test_each_view_links_to_the_others_and_keeps_step_tab_and_filter(
    operator: Client, project: Project
) -> None:
    recorded(project, example_actions())
    for view in ("timeline", "table", "compact", "raw"):
        page = get(
            operator, f"/sessions/s/?step=4&tab=raw&filter=kind:tool_call&view={view}&open=2&totals=tool"
        )
        query = "?step=4&tab=raw&filter=kind:tool_call"
        assert links(page) == {
            "Timeline": f"{query}&totals=tool",
            **{name: f"{query}&view={name.lower()}&totals=tool" for name in ("Table", "Compact", "Raw")},
        }
        assert [name for _, on, name in SEGMENT.findall(page) if on] == [view.capitalize()]
        fields = re.findall(r'<input type="hidden" name="view" value="(\w+)">', page)
        assert fields == ([] if view == "timeline" else [view] * 3)  # step, scrubber and filter


def test_an_unknown_view_shows_the_timeline_and_says_so(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = operator.get("/sessions/s/", {"view": "grid<b>"}).text
    assert "There is no view “grid&lt;b&gt;”" in page
    assert (
        "There is no tab “zz”. Available tabs: action, state"
        in operator.get("/sessions/s/", {"tab": "zz"}).text
    )
    assert "Available views: timeline, table, compact, raw" in page
    assert rows(page) == [1, 2, 4, 5]


def test_every_view_explains_an_empty_session_and_an_unusable_filter(
    operator: Client, project: Project
) -> None:
    recorded(project, [], key="empty")
    recorded(project, example_actions())
    for view in ("table", "compact", "raw"):
        assert "Nothing recorded yet" in get(operator, f"/sessions/empty/?view={view}"), view
        assert "No step matches this filter." in get(operator, f"/sessions/s/?view={view}&filter=tool:none")
    wrong = operator.get("/sessions/s/?view=table&filter=colour:red")
    assert (wrong.status_code, "All steps are shown." in wrong.text) == (422, True)


@pytest.mark.parametrize(("view", "seen"), [("table", "tr"), ("raw", "article")])
def test_an_unknown_step_shows_the_nearest_one_with_a_notice(
    operator: Client, project: Project, view: str, seen: str
) -> None:
    recorded(project, example_actions())
    page = get(operator, f"/sessions/s/?view={view}&step=99")
    assert "The nearest step is shown: 5." in words(page)
    assert f'<{seen} id="s5"' in page
    assert "is not a step number" in get(operator, f"/sessions/s/?view={view}&step=x")


def test_another_projects_session_is_not_found(operator: Client, other_project: Project) -> None:
    recorded(other_project, example_actions())
    for view in ("table", "compact", "raw"):
        assert operator.get(f"/sessions/s/?view={view}").status_code == 404, view


def test_recorded_text_is_escaped(operator: Client, project: Project) -> None:
    draft = ActionDraft(
        kind="tool_call", tool=HOSTILE, agent=HOSTILE, model=HOSTILE, output=HOSTILE, error_type=HOSTILE
    )
    recorded(project, [draft, draft])
    for view in ("table", "compact", "raw"):
        page = get(operator, f"/sessions/s/?view={view}&totals=tool")
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "\u202e" not in page
        assert "⟨U+202E⟩" in page


# --- the table


def test_the_table_shows_what_was_recorded_of_each_step(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = get(operator, "/sessions/s/?view=table")
    assert table(page) == [1, 2, 3, 4, 5]
    assert "<thead>" in page
    ask_row = words(page[page.index('<tr id="s2"') : page.index('<tr id="s3"')])
    assert "Why is the row lost?" in ask_row
    assert "acme:m" in ask_row
    assert "1,200 34 $0.0213 ok" in ask_row
    failed = page[page.index('<tr id="s5"') :]
    assert '<span class="mark">Exit</span>' in failed
    assert '<a href="?step=5#s5">5</a>' in failed
    assert 'id="step"' not in page


def test_a_very_long_name_is_cut(operator: Client, project: Project) -> None:
    recorded(project, [ActionDraft(kind="tool_call", tool="t" * 1_000, error_type="e" * 1_000)])
    page = get(operator, "/sessions/s/?view=table&totals=tool")
    assert "t" * 120 + "…" in page
    assert "e" * 120 + "…" in page
    assert "e" * 121 not in page


def test_a_bar_is_drawn_only_if_a_start_was_recorded(operator: Client, project: Project) -> None:
    drafts = [
        ActionDraft(kind="event", started_at=NOON, duration_ms=1_000),
        ActionDraft(kind="event", started_at=NOON.replace(second=3), duration_ms=1_000, error_type="E"),
        ActionDraft(kind="event", duration_ms=1_000),
        ActionDraft(kind="event", started_at=NOON),
    ]
    recorded(project, drafts)
    page = get(operator, "/sessions/s/?view=table")
    assert re.findall(r'<rect((?: class="failed")? x[^/]*)/>', page) == [
        ' x="0.00" width="25.00" height="8"',
        ' class="failed" x="75.00" width="25.00" height="8"',
        ' x="0.00" width="0.40" height="8"',
    ]


@pytest.mark.parametrize(("view", "seen", "size"), [("table", table, 80), ("raw", documents, 50)])
def test_pages_follow_each_other_and_the_next_step_stays_on_its_page(
    operator: Client, project: Project, view: str, seen: object, size: int
) -> None:
    assert callable(seen)
    many(project)
    first = get(operator, f"/sessions/m/?view={view}")
    assert seen(first) == list(range(1, size + 1))
    later = MORE.findall(first)
    assert later == [f"?view={view}&amp;after={size}"]
    second = get(operator, "/sessions/m/" + later[0].replace("&amp;", "&"))
    assert seen(second) == list(range(size + 1, 2 * size + 1))
    assert f"?view={view}&amp;before={size + 1}" in MORE.findall(second)
    step = re.search(r'data-key="j" hx-get="([^"]+)"', second)
    assert step
    assert step[1] == f"?step={size + 2}&amp;view={view}&amp;after={size}"
    following = get(operator, "/sessions/m/" + step[1].replace("&amp;", "&"))
    assert seen(following) == seen(second)
    assert re.search(rf'id="s{size + 2}"[^>]*>(<th[^>]*><a [^>]*)?', following)
    elsewhere = get(operator, f"/sessions/m/?view={view}&step=290&after={size}")
    assert 290 in seen(elsewhere)


def test_htmx_gets_the_complete_timeline_part_of_a_page(operator: Client, project: Project) -> None:
    many(project, 165)
    for target in ("timeline", "later"):
        page = get(operator, "/sessions/m/?view=table&after=80", target)
        assert table(page) == list(range(81, 161))


def test_notes_are_counted_in_the_table_and_on_the_row_that_groups_their_steps(
    operator: Client, project: Project
) -> None:
    session = recorded(project, [ActionDraft(kind="event", output="same")] * 3)
    for step in (2, 2, 3):
        add(session, step, "Look.", by="a@example.org", note_id=None)
    page = get(operator, "/sessions/s/?view=table")
    assert re.findall(r'class="noted">([^<]+)', page) == ["2 notes", "note"]
    page = get(operator, "/sessions/s/?view=compact")
    assert re.findall(r'class="noted">([^<]+)', page) == ["3 notes"]


# --- compact


def test_a_call_with_its_result_and_repeats_are_each_one_row_that_unfolds(
    operator: Client, project: Project
) -> None:
    ping = [ActionDraft(kind="event", output="ping")] * 4
    recorded(project, [*example_actions(), *ping])
    page = get(operator, "/sessions/s/?view=compact")
    assert rows(page) == [1, 2, 3, 4, 6]
    folds = re.findall(r'class="inside" href="([^"#]+)[^>]*>([^<]+)<', page)
    assert [label for _, label in folds] == ["4–5", "×4 · 6–9"]
    call = page[page.index('<li id="s4"') : page.index('<li id="s6"')]
    assert "npm test" in call
    assert '<span class="mark">error</span>' in call
    opened = get(operator, "/sessions/s/" + folds[1][0].replace("&amp;", "&"))
    assert rows(opened) == [1, 2, 3, 4, 6, 7, 8, 9]
    assert rows(get(operator, "/sessions/s/?view=compact&step=8")) == [1, 2, 3, 4, 6, 7, 8, 9]
    assert rows(get(operator, "/sessions/s/?view=compact&step=5")) == [1, 2, 3, 4, 5, 6]


def test_the_view_is_kept_when_rows_are_loaded_and_steps_are_opened(
    operator: Client, project: Project
) -> None:
    many(project, 205)
    page = get(operator, "/sessions/m/?view=compact")
    assert rows(page) == list(range(1, 101))
    assert "data-total" not in page
    more = re.search(r'id="later".*?hx-get="([^"]+)"', page, re.DOTALL)
    assert more
    assert more[1] == "?view=compact&amp;after=100"
    assert rows(get(operator, "/sessions/m/?view=compact&after=100", "later")) == list(range(101, 201))
    assert rows(get(operator, "/sessions/m/?view=compact&before=101", "earlier")) == list(range(1, 101))
    assert 'hx-get="?step=7&amp;view=compact"' in page
    assert 'id="step"' in page


# --- raw


def test_raw_shows_the_documents_with_a_link_each_and_the_address_of_all(
    operator: Client, project: Project
) -> None:
    session = recorded(project, [*example_actions(), ActionDraft(kind="event", output="x" * 5_000)])
    page = get(operator, "/sessions/s/?view=raw")
    assert documents(page) == [1, 2, 3, 4, 5, 6]
    assert re.search(rf"GET http\S+/api/sessions/{session.id}/actions<", page)
    assert '<a href="?step=2#s2">Step 2</a>' in page
    assert "&quot;kind&quot;: &quot;ask&quot;" in page
    payload = re.search(r'href="(/sessions/[^"]+/payloads/[0-9a-f]{64})">Output of step 6, 4.9 KB', page)
    assert payload
    assert operator.get(payload[1]).content == b"x" * 5_000


# --- budgets


def test_a_page_of_any_view_stays_within_its_limits_of_queries_and_size(
    operator: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    many(project)
    for view, most in (("timeline", 31), ("table", 25), ("compact", 31), ("raw", 27)):
        with django_assert_max_num_queries(most):
            page = get(operator, f"/sessions/m/?view={view}&step=200&totals=kind")
        assert len(gzip.compress(page.encode(), 6)) < 60 * 1024, view
        assert len(re.findall(r"<[a-z]", page)) <= 2_500, view
