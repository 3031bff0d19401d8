"""A session's timeline over HTTP: its rows, its windows, its filter and its parts."""

import html
import re
from urllib.parse import urlencode

import pytest
from django.test import Client

from tests.builders import QUESTIONS, recorded_session, replayed
from tests.memory.search.recorded import index
from tests.web.people import browser_of
from tests.web.timelines import example_actions, get, recorded, rows, words
from timemachine.core.accounts.models import VIEWER, Project
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.pure.options import ReplayOptions

pytestmark = pytest.mark.django_db
EARLIER = re.compile(r'id="earlier".*?hx-get="([^"]+)"', re.DOTALL)
LATER = re.compile(r'id="later".*?hx-get="([^"]+)"', re.DOTALL)


def test_a_session_is_opened_by_its_key_and_by_its_uuid(operator: Client, project: Project) -> None:
    session = recorded(project, example_actions())
    for name in ("s", session.id):
        page = get(operator, f"/sessions/{name}/")
        assert rows(page) == [1, 2, 4, 5]
        assert re.search(r'<li id="s1"[^>]*>\s*<a [^>]*aria-current="step"', page)


def test_an_unknown_session_is_not_found(operator: Client) -> None:
    for name in ("nothing", "a%00b", "%3Cscript%3E", "00000000-0000-7000-8000-000000000000"):
        assert operator.get(f"/sessions/{name}/").status_code == 404, name


def test_the_find_inside_an_ask_unfolds_and_folds(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    closed = get(operator, "/sessions/s/?step=1")
    assert "1 inside" in closed
    found = re.search(r'class="inside" href="(\?[^"#]+)', closed)
    assert found
    opened = get(operator, "/sessions/s/" + found[1].replace("&amp;", "&"))
    assert rows(opened) == [1, 2, 3, 4, 5]
    folding = re.search(r'class="inside" href="(\?[^"#]+)', opened)
    assert folding
    assert rows(get(operator, "/sessions/s/" + folding[1].replace("&amp;", "&"))) == [1, 2, 4, 5]


def test_the_contents_of_a_block_are_indented_even_if_recorded_before_it(
    operator: Client, project: Project
) -> None:
    inside = [ActionDraft(kind="tool_call", tool="look", id=each, parent="block") for each in ("a", "b")]
    block = ActionDraft(kind="llm_call", model="local:x", id="block")
    recorded(project, [ActionDraft(kind="message", output="hi"), *inside, block])
    page = get(operator, "/sessions/s/")
    assert re.findall(r'<li id="s(\d)" class="row d(\d)', page) == [
        ("1", "0"),
        ("2", "1"),
        ("3", "1"),
        ("4", "0"),
    ]
    assert page.count('<span class="within">in 4</span>') == 2


def test_selecting_an_inner_step_unfolds_its_parent(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    assert rows(get(operator, "/sessions/s/?step=3")) == [1, 2, 3, 4, 5]


def test_an_unknown_step_shows_the_nearest_one_with_a_notice(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    for step, nearest in (("99", 5), ("0", 1), ("99999999999999999999999", 5)):
        page = get(operator, f"/sessions/s/?step={step}", "article#step")
        assert f"The nearest step is shown: {nearest}." in words(page)
        assert f'data-sequence="{nearest}"' in page


def test_the_footer_says_which_figures_are_not_recorded(operator: Client, project: Project) -> None:
    session = start_session(project, name="Talk", by="test", key="talk")
    append(session.id, [ActionDraft(kind="message", role="user", output="Hello")])
    page = operator.get("/sessions/talk/").text
    assert "cost not recorded" in page
    assert "tokens not recorded" in page


def test_an_invalid_step_number_is_reported(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = get(operator, "/sessions/s/?step=a%E2%80%AEbc")
    assert "is not a step number. Use a number, like ?step=12. This is step 1." in words(page)
    assert "\u202e" not in page
    assert "not a step number" not in words(get(operator, "/sessions/s/?step="))


def test_the_parent_path_of_sessions_redirects_to_their_list(operator: Client) -> None:
    answer = operator.get("/sessions/?q=first")
    assert (answer.status_code, answer["Location"]) == (302, "/?q=first")


def test_an_invalid_step_number_shows_the_first_step(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    for step in ("", "x", "-3", "1.5", "²"):
        assert 'data-sequence="1"' in get(operator, f"/sessions/s/?step={step}", "article#step"), step


def test_a_filter_shows_its_steps_and_links_each_to_the_next(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = get(operator, "/sessions/s/?filter=kind:ask,tool_result")
    assert rows(page) == [2, 5]
    assert 'data-sequence="2"' in page
    assert "2 of 5 steps" in words(page)
    assert re.search(r'href="\?step=5&amp;filter=kind:ask,tool_result[^"]*"[^>]*title="Next step', page)
    assert rows(get(operator, "/sessions/s/?filter=status:error")) == [5]


def test_a_filter_without_matches_says_so(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = words(get(operator, "/sessions/s/?filter=kind:put"))
    assert "No step matches this filter. Clear filters" in page


@pytest.mark.parametrize(
    ("written", "offered"),
    [
        ("status:error", "error"),
        ("kind:ask status:error", "error"),
        ("tool:none* took:>1s", "none"),
        ('"null check" significance:solution', '"null check"'),
    ],
)
def test_a_filter_without_matches_offers_to_search_for_its_words(
    operator: Client, project: Project, written: str, offered: str
) -> None:
    said = "The word error\nand the null check: solution, none."
    session = recorded(project, [ActionDraft(kind="message", output=said)])
    index(project)
    for view in ("timeline", "table", "compact", "raw"):
        page = get(operator, f"/sessions/s/?{urlencode({'view': view, 'filter': written})}")
        assert f"Search the full text for “ {offered} ” ·" in html.unescape(words(page))
        (address,) = re.findall(r'href="([^"]*)">Search the full text', page)
        assert f"/sessions/{session.id}/?step=1" in get(operator, html.unescape(address))


@pytest.mark.parametrize("written", ["took:>1s", "tool:one,two", "cost:unknown", "-tool:none kind:find"])
def test_a_filter_of_numbers_and_kinds_offers_no_search(
    operator: Client, project: Project, written: str
) -> None:
    recorded(project, [ActionDraft(kind="message", output="Hello")])
    page = words(get(operator, f"/sessions/s/?{urlencode({'filter': written})}"))
    assert "No step matches this filter. Clear filters" in page


def test_the_links_to_errors_and_checkpoints_stay_in_place_when_there_is_no_other(
    operator: Client, project: Project
) -> None:
    failed = ActionDraft(kind="tool_call", tool="t", error_message="No")
    recorded(project, [ActionDraft(kind="message"), failed, ActionDraft(kind="checkpoint", name="here")])
    for number in (1, 2, 3):
        page = get(operator, f"/sessions/s/?step={number}")
        assert [each in words(page) for each in ("Next error", "Next checkpoint")] == [True, True], number
    assert 'aria-disabled="true" data-key="e"' in get(operator, "/sessions/s/?step=2")


def test_an_unknown_filter_is_explained_and_everything_is_shown(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    answer = operator.get("/sessions/s/?filter=knd:ask")
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Did you mean kind:ask?" in words(page)
    assert rows(page) == [1, 2, 4, 5]


def test_a_session_without_steps_says_what_to_send(operator: Client, project: Project) -> None:
    recorded(project, [])
    page = words(get(operator, "/sessions/s/"))
    assert "Nothing recorded yet" in page
    assert "POST /api/sessions/s/actions" in page


def test_a_session_that_ended_without_a_step_says_so_and_offers_what_is_possible(project: Project) -> None:
    end_session(recorded(project, []).id)
    page = get(browser_of(project, "admin"), "/sessions/s/")
    assert "No steps" in words(page)
    assert "POST /api" not in page
    for part in ("export", "hold", "delete"):
        assert f"/{part}/" in page
    assert "/replay/" not in page
    assert 'rel="expect"' not in page


def test_a_long_session_is_loaded_window_by_window(operator: Client, project: Project) -> None:
    recorded(project, [ActionDraft(kind="event", output=f"step {n}") for n in range(1, 321)])
    page = get(operator, "/sessions/s/?step=150")
    seen = rows(page)
    assert seen == list(range(100, 200))
    earlier = re.search(EARLIER, page)
    later = re.search(LATER, page)
    while earlier:
        part = get(operator, "/sessions/s/" + earlier[1].replace("&amp;", "&"), "li#earlier")
        assert 'id="later"' not in part
        seen, earlier = rows(part) + seen, re.search(EARLIER, part)
    while later:
        part = get(operator, "/sessions/s/" + later[1].replace("&amp;", "&"), "li#later")
        assert 'id="earlier"' not in part
        seen, later = seen + rows(part), re.search(LATER, part)
    assert seen == list(range(1, 321))


def test_without_javascript_the_ends_of_a_window_are_links_to_pages(
    operator: Client, project: Project
) -> None:
    recorded(project, [ActionDraft(kind="event") for _ in range(150)])
    found = re.search(r'id="later".*?href="(\?step=\d+)#s(\d+)"', get(operator, "/sessions/s/?step=1"))
    assert found
    assert int(found[2]) in rows(get(operator, f"/sessions/s/{found[1]}"))


def test_htmx_gets_the_part_that_it_swaps(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    for target, has, has_not in (
        (
            "article#step",
            ['<article id="step"', 'id="navigator"', 'hx-swap-oob="true"'],
            ["<html", '<ol class="steps"'],
        ),
        ("step", ['<article id="step"'], ["<html"]),
        ("div#steps", ['<div id="steps"', "<ol"], ["<html", "<article"]),
        ("div#timeline", ['<div id="timeline"', "<ol", "<article"], ["<html"]),
        ("div#whatever", ["<html"], []),
    ):
        page = get(operator, "/sessions/s/?step=2", target)
        assert all(piece in page for piece in has), target
        assert not any(piece in page for piece in has_not), target


def test_the_back_button_gets_the_complete_page(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    headers = {"HX-Request": "true", "HX-Target": "article#step", "HX-History-Restore-Request": "true"}
    answer = operator.get("/sessions/s/", headers=headers)
    assert "<html" in answer.content.decode()
    assert {"HX-Request", "HX-Target"} <= {name.strip() for name in answer["Vary"].split(",")}


def test_a_viewer_cannot_end_a_session(project: Project) -> None:
    recorded(project, example_actions())
    assert "End session" not in get(browser_of(project, VIEWER), "/sessions/s/")


def test_an_empty_session_names_the_record_button_first_and_only_to_operators(project: Project) -> None:
    session = start_session(project, name="fresh", by="test")
    shown = browser_of(project).get(f"/sessions/{session.id}/").text
    assert 0 < shown.index("Ask the first question with") < shown.index("POST /api/sessions/")
    assert "Ask the first question" not in browser_of(project, VIEWER).get(f"/sessions/{session.id}/").text


def test_a_replay_is_offered_only_to_users_who_may_launch_one(project: Project) -> None:
    session = recorded_session(project, questions=QUESTIONS[:1])
    replay = replayed(session, ReplayOptions(audit=True, reason="r"))
    operator, viewer = browser_of(project), browser_of(project, VIEWER)
    form = f'href="/sessions/{session.id}/replay/'
    for address in (f"/sessions/{session.id}/", f"/replays/{replay.id}/"):
        assert form in operator.get(address).text
        assert form not in viewer.get(address).text


def test_the_message_of_an_error_is_shown_once(operator: Client, project: Project) -> None:
    session = start_session(project, name="Refusals", by="test", key="refusals")
    message = "The user rejected this edit"
    append(session.id, [ActionDraft(kind="tool_result", tool="edit", output=message, error_message=message)])
    page = get(operator, "/sessions/refusals/")
    step = page[page.index('id="step"') :]
    assert step.count(message) == 1
    assert "Result 27 bytes · Raw result · Download result The text of the error above." in words(page)
    assert get(operator, "/sessions/refusals/?raw=1").count(f">{message}</pre>") == 2
