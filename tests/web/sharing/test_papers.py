"""What an auditor verifies and prints: the cover, every step in full, the certificate and its verification address."""

import re
from dataclasses import replace

import pytest
from django.test import Client

from tests.builders import compared, recorded_session
from tests.governance.sharing.recorded import recorded, replayed
from tests.web.timelines import example_actions, words
from tests.web.timelines import recorded as of_actions
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.evidence.sealing import seals
from timemachine.governance.sharing.commands.links import revoke
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.commands import append
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.web.sharing.presenters import printed_steps
from timemachine.web.sharing.views import printing as printing_views

pytestmark = pytest.mark.django_db


def printed(visitor: Client, page: str, part: str = "") -> str:
    answer = visitor.get(f"{page}print/{part}")
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]


def test_the_cover_says_what_it_is_and_that_it_is_not_yet_verified(project: Project) -> None:
    _, path = shared(project, recorded(project))
    visitor, page = opened(path)
    cover = words(visitor.get(page).text)
    assert cover.index("steps 1 to 6") < cover.index("Not yet verified") < cover.index("Contents")
    assert "by Prüferin" in cover
    assert "What a check cannot show" in cover
    assert "Errors: step 6" in cover


def test_the_state_after_a_step_counts_and_shows_nothing_of_later_steps(project: Project) -> None:
    _, path = shared(project, recorded(project, steps=9), Terms(through_sequence=5))
    visitor, page = opened(path)
    state = words(visitor.get(f"{page}?step=4&tab=state").text)
    assert "At step 4" in state
    assert "Steps 4 Errors 0 Input tokens 40 Output tokens 8" in state
    assert "Wann wurde die Brücke gebaut?" in state
    assert "Schritt 5" not in state[state.index("At step 4") :]
    assert visitor.get(f"{page}?step=6&tab=state").status_code == 404


def test_a_print_has_every_shown_step_in_full_and_none_beyond(project: Project) -> None:
    session = recorded(project, steps=9)
    long = "Anfang " + "x" * 100_000 + " Schluß"
    append(session.id, [ActionDraft(kind="message", role="agent", output=long)])
    session.refresh_from_db()
    append(session.id, [ActionDraft(kind="message", role="agent", output="Danach")])
    _, path = shared(project, session, Terms(through_sequence=10))
    visitor, page = opened(path)
    text = printed(visitor, page)
    assert [int(each) for each in re.findall(r'class="printed-step" id="s(\d+)"', text)] == list(range(1, 11))
    assert " Schluß" in text
    assert "Danach" not in text
    assert words(text).rstrip().endswith("End of the record: step 10 of 10")


def test_a_print_rounds_scores_and_names_no_file_that_its_reader_does_not_have(project: Project) -> None:
    asked = example_actions()[1]
    assert asked.retrieval is not None
    passages = [
        replace(each, scores={"lexical": 7.6652655601501465, "exact": 3.0, "fused": 0.00001})
        for each in asked.retrieval.hits
    ]
    asked = replace(asked, retrieval=replace(asked.retrieval, hits=tuple(passages)))
    visitor, page = opened(shared(project, of_actions(project, [asked]))[1])
    for shown in (printed(visitor, page), visitor.get(f"{page}?tab=context").text):
        for score in ("lexical 7.6653 ", "exact 3 ", "fused 1e-05 "):
            assert score in words(shown)
        assert "7.66526" not in shown
    for shown in (printed(visitor, page), visitor.get(page).text):
        assert "Each sentence is compared" in shown
        assert "docs/" not in shown


def test_a_long_record_is_printed_in_parts_that_name_their_steps_and_lead_to_each_other(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printed_steps, "STEPS_IN_PART", 4)
    _, path = shared(project, recorded(project, steps=12), Terms(through_sequence=10))
    visitor, page = opened(path)
    parts = [printed(visitor, page, f"?part={number}") for number in (1, 2, 3)]
    found = [re.findall(r'class="printed-step" id="s(\d+)"', text) for text in parts]
    assert [int(each) for part in found for each in part] == list(range(1, 11))
    first, second, last = map(words, parts)
    assert "steps 1–4 of 10, part 1 of 3" in first
    assert first.rstrip().endswith("steps 1–4 of 10. The record continues in part 2.")
    assert last.rstrip().endswith("End of the record: step 10 of 10")
    assert "Sealed at" in second
    assert "For everything in one file, download the evidence" in second
    assert re.findall(r'href="\?part=(\d)"', parts[1]) == ["1", "3", "1", "2", "3"]
    certificate = words(visitor.get(f"{page}certificate/").text)
    assert "Full print 3 parts of up to 4 steps, 10 in all." in certificate
    assert "<summary>Steps" not in parts[1]
    monkeypatch.setattr(printed_steps, "PARTS_IN_GROUP", 2)
    folded = printed(visitor, page, "?part=3")
    groups = re.findall(r'<details class="more" ?(open)?>\s*<summary>(Steps [^<]+)</summary>', folded)
    assert groups == [("", "Steps 1–8"), ("open", "Steps 9–10")]
    assert re.findall(r'<li><a href="\?part=(\d)"', folded) == ["1", "2", "3"]
    assert "Steps 5–8 of 10, part 2 of 3" in visitor.get(f"{page}print.css?part=2").text
    for missing in ("0", "4", "x", "9" * 30):
        assert visitor.get(f"{page}print.css?part={missing}").status_code == 404
    assert visitor.head(f"{page}print/?part=4").status_code == 404


def test_a_print_of_a_replay_has_both_answers_and_no_other_step(project: Project) -> None:
    session = recorded(project)
    _, path = shared(project, replayed(session))
    visitor, page = opened(path)
    text = printed(visitor, page)
    assert "1894" in text
    assert "1901" in text
    assert "Schritt 4" not in text


def test_a_print_of_many_answers_has_each_id_once_and_every_link_leads_into_its_own_answer(
    project: Project,
) -> None:
    made = compared(project, [recorded_session(project)], "local:extractive-1", "local:extractive-3")
    _, path = shared(project, made)
    visitor, page = opened(path)
    text = printed(visitor, page)
    answers = text.split('<article class="printed-step">')[1:]
    assert len(answers) > 2
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    for answer in answers:
        named = set(re.findall(r' id="([^"]+)"', answer))
        leading = re.findall(r'href="#([^"]+)"|aria-labelledby="([^"]+)"', answer)
        assert named >= {address or label for address, label in leading}
        assert leading


def test_a_print_stops_when_the_link_is_revoked(
    project: Project,
) -> None:
    link, path = shared(project, recorded(project))
    visitor, page = opened(path)
    answer = visitor.get(f"{page}print/")
    revoke(link, by="Test")
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    assert "The record is incomplete" in text
    assert "End of the record:" not in text
    assert "Schritt 4" not in text


def test_a_print_counts_like_ten_pages(project: Project) -> None:
    _, path = shared(project, recorded(project))
    visitor, page = opened(path)
    assert [visitor.head(f"{page}print/").status_code for _ in range(7)] == [200] * 6 + [429]


def test_the_head_of_each_printed_page_names_the_seal(project: Project) -> None:
    session = recorded(project)
    _, path = shared(project, session)
    visitor, page = opened(path)
    assert "Not sealed" in visitor.get(f"{page}print.css").text
    seals.seal_session(session.id)
    style = visitor.get(f"{page}print.css")
    assert style["Content-Type"] == "text/css; charset=utf-8"
    assert re.search(r'content: "Sealed \S+ \S+ UTC by ed25519:\w+ · root [0-9a-f]{16}"', style.text)


def test_a_certificate_has_the_seal_and_a_code_that_does_not_contain_the_secret(project: Project) -> None:
    session = recorded(project)
    link, path = shared(project, session)
    visitor, page = opened(path)
    assert "Not sealed yet: there is nothing to certify" in words(visitor.get(f"{page}certificate/").text)
    seals.seal_session(session.id)
    certificate = visitor.get(f"{page}certificate/").text
    assert re.search(r"Root \(SHA-256\) [0-9a-f]{64} Signed by key ed25519:[0-9a-f]{64}", words(certificate))
    address = f"/share/{link.public_id}/verify/"
    assert address in certificate
    assert str(printing_views.qr_code(f"http://127.0.0.1:8000{address}")) in certificate
    assert path.rsplit("_", 1)[1] not in certificate


def test_the_verification_address_leads_visitors_to_the_check_and_tells_others_nothing(
    project: Project,
) -> None:
    link, path = shared(project, recorded(project))
    visitor, page = opened(path)
    answer = visitor.get(f"{page}verify/")
    assert (answer.status_code, answer["Location"]) == (303, f"{page}#verify")
    stranger = Client()
    existing, invented = stranger.get(f"{page}verify/"), stranger.get("/share/zzzzzzzzzzzz/verify/")
    assert existing.status_code == invented.status_code == 200
    assert existing.content == invented.content
    revoke(link, by="Test")
    assert visitor.get(f"{page}verify/").content == invented.content
