"""Pages after an erasure: they name the earlier seal and why it was replaced, and call no erased content verified."""

import re
from io import BytesIO
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.builders import FACTS, QUESTIONS, compared, recorded_session, replayed
from tests.governance.deletion.erasure.canary import erased
from tests.verifier.bundles import unpacked
from tests.web.people import browser_of
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import ADMIN, Project
from timemachine.evidence.bundles import exporting
from timemachine.evidence.models import SealCheckpoint
from timemachine.evidence.queries import sealed_comparison
from timemachine.evidence.schemas import SealOut
from timemachine.evidence.sealing import seals
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
AUDIT = ReplayOptions(audit=True, reason="a test", use_model="local:extractive-1")
MODELS = ("local:extractive-1", "local:extractive-3")


@pytest.fixture(scope="module")
def replay_once(recorded_once: Session) -> Replay:
    made = replayed(recorded_once, AUDIT)
    seals.seal_replay(made.id)
    return made


@pytest.fixture(scope="module")
def comparison_once(recorded_once: Session) -> Comparison:
    made = compared(recorded_once.project, [recorded_once], *MODELS)
    seals.seal_comparison(made.id)
    return made


@pytest.fixture
def session(recorded_once: Session, db: None) -> Session:
    return Session.objects.get(pk=recorded_once.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


@pytest.fixture
def replay(replay_once: Replay, db: None) -> Replay:
    return Replay.objects.get(pk=replay_once.pk)


@pytest.fixture
def comparison(comparison_once: Comparison, db: None) -> Comparison:
    return Comparison.objects.get(pk=comparison_once.pk)


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project, ADMIN)


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def bundle_of(link: ShareLink) -> dict[str, bytes]:
    target = BytesIO()
    Scope(link=link).write_evidence(target)
    return unpacked(target.getvalue())


def test_a_comparison_page_names_the_earlier_seal_and_why_it_was_replaced(
    browser: Client, project: Project, session: Session, comparison: Comparison
) -> None:
    address = f"/comparisons/{comparison.id}/"
    before = SealCheckpoint.objects.get(seal__comparison=comparison)
    done = erased(session, fields=["output"], steps=[2])
    assert done.result is not None
    for page in (browser.get(address).text, browser.get(f"{address}evidence/").text):
        assert "eing resealed" in page
    shown = words(browser.get(f"{address}evidence/").text)
    assert "Check now" not in shown
    assert "Being resealed after an erasure" in shown
    seals.seal_comparison(comparison.id)
    shown = words(browser.get(f"{address}evidence/").text)
    assert f"with {before.size} records under the root {before.root_hex}" in shown
    fields = done.result["fields"]
    assert f"after an erasure of {fields} fields in a session and its replays, by" in shown
    assert ": asked for by the person" in shown
    earlier = SealOut.of(sealed_comparison(comparison)).earlier
    assert [(each.generation, each.root, each.erased_fields) for each in earlier] == [
        (1, before.root_hex, fields)
    ]


def test_a_visitor_sees_the_earlier_seal_but_not_who_replaced_it_or_why(
    project: Project, session: Session, comparison: Comparison
) -> None:
    before = SealCheckpoint.objects.get(seal__comparison=comparison)
    _, path = shared(project, comparison)
    visitor, address = opened(path)
    assert "Earlier seals" not in visitor.get(address).text
    erased(session, fields=["output"], steps=[2])
    assert "being resealed after an erasure" in words(visitor.get(address).text)
    seals.seal_comparison(comparison.id)
    page = visitor.get(address).text
    assert f"under {before.root_hex[:16]}… , replaced on" in words(page)
    assert "asked for by the person" not in page
    assert "ada@example.org" not in page


def test_a_running_comparison_offers_no_evidence_download(
    browser: Client, comparison: Comparison, session: Session
) -> None:
    Replay.objects.filter(run__comparison=comparison).update(finished_at=None, status="running")
    assert "Download evidence" not in browser.get(f"/comparisons/{comparison.id}/evidence/").text
    assert "Download evidence" in browser.get(f"/sessions/{session.id}/evidence/").text


def test_reading_and_exporting_evidence_sign_nothing(
    browser: Client, session: Session, replay: Replay, comparison: Comparison
) -> None:
    before = SealCheckpoint.objects.count()
    exporting.write_replay(BytesIO(), replay)
    exporting.write_comparison(BytesIO(), comparison)
    for path in (f"/sessions/{session.id}/", f"/replays/{replay.id}/", f"/comparisons/{comparison.id}/"):
        assert browser.get(f"{path}evidence/").status_code == 200
        download = browser.get(f"{path}evidence.zip")
        assert download.status_code == 200
        assert b"".join(download.streaming_content)  # type: ignore[attr-defined]
    assert SealCheckpoint.objects.count() == before


def test_a_state_of_fewer_records_names_the_share_link_it_was_signed_for(
    browser: Client, project: Project, session: Session
) -> None:
    seals.seal_session(session.id)
    link, _ = create_link(project, session, Terms(through_sequence=1), by="test")
    files = bundle_of(link)
    assert len(files["session/checkpoints.jsonl"].splitlines()) == 1
    page = browser.get(f"/sessions/{session.id}/evidence/").text
    assert "through step 1, for a share link" in words(page)
    assert f'href="/shares/{link.id}/"' in page
    full_link, _ = create_link(project, session, Terms(), by="test")
    assert len(bundle_of(full_link)["session/checkpoints.jsonl"].splitlines()) == 1
    unnamed = SealCheckpoint.objects.get(cut_for=link.public_id)
    assert (unnamed.size, unnamed.state) == (2, "open")


def test_a_bundle_says_whether_more_steps_may_follow_in_the_session(
    session: Session, comparison: Comparison, tmp_path: Any
) -> None:
    with (tmp_path / "c.zip").open("wb") as file:
        exporting.write_comparison(file, comparison)
    of_session = [each for each in tm_verify.verify(str(tmp_path / "c.zip")).shown if each.of == "session"]
    assert [(each.size, each.more_may_come) for each in of_session] == [
        (session.last_sequence + 1, session.status != "ended")
    ]


def test_every_page_of_a_replay_labels_erased_content_as_erased(
    browser: Client, project: Project, session: Session, replay: Replay
) -> None:
    _, path = shared(project, replay)
    visitor, address = opened(path)
    step = ReplayStep.objects.filter(replay=replay, kind="ask").order_by("sequence").first()
    assert step is not None
    recorded_verdict = (step.verdict or "").replace("_", " ")
    erased(session, fields=["output", "retrieval.hits[*].text"], steps=[step.sequence - 1, step.sequence])
    for reader, rows, of_step in (
        (browser, f"/replays/{replay.id}/", f"/replays/{replay.id}/steps/{step.sequence}/"),
        (visitor, address, f"{address}steps/{step.sequence}/"),
    ):
        listed = words(reader.get(rows).text)
        assert f"erased {recorded_verdict} before" in listed
        assert "erased verified before" in listed
        assert re.search(r"\d erased \d (unchanged|unknown)[^<]* before", listed)
        assert "Parts of this recording were erased" in listed
        shown = words(reader.get(of_step).text)
        assert f"erased {recorded_verdict} before" in shown
        assert "erased verified before" in shown
        assert re.search(r"erased verified before (unchanged|unknown) before", shown)


def test_every_page_of_a_comparison_labels_erased_content_as_erased(
    browser: Client, project: Project, session: Session, comparison: Comparison
) -> None:
    _, path = shared(project, comparison)
    visitor, address = opened(path)
    step = ReplayStep.objects.filter(replay__run__comparison=comparison, kind="ask").order_by("id").first()
    assert step is not None
    erased(session, fields=["output", "retrieval.hits[*].text"], steps=[step.sequence - 1, step.sequence])
    own = f"/comparisons/{comparison.id}/"
    browser.get(own)
    for reader, table, cell in (
        (browser, own, f"{own}cells/{step.id}/"),
        (visitor, address, f"{address}cells/{step.id}/"),
    ):
        page = reader.get(table).text
        assert "erased recorded before" in words(page)
        assert 'class="verdict erased"' in page
        assert "Verdicts and statistics refer to the original content" in page
        shown = words(reader.get(cell).text)
        assert re.search(r"Answer erased [a-z ]+ before Context erased verified before", shown)


def test_the_number_of_queries_does_not_grow_with_erased_or_shown_content(
    browser: Client, project: Project
) -> None:
    def count_queries(number: int) -> dict[str, int]:
        session = recorded_session(
            project, key=f"s{number}", questions=QUESTIONS[:number], facts=FACTS[: number + 1]
        )
        replay = replayed(session, AUDIT)
        comparison = compared(project, [session], *MODELS)
        erased(session, fields=["output", "retrieval.hits[*].text"])
        seals.seal_replay(replay.id)
        seals.seal_comparison(comparison.id)
        found = {}
        pages = [(browser, f"/replays/{replay.id}/"), (browser, f"/comparisons/{comparison.id}/")]
        pages += [(browser, f"{path}evidence/") for _, path in pages]
        for target in (replay, comparison):
            pages.append(opened(shared(project, target)[1]))
        for nth, (reader, path) in enumerate(pages):
            assert reader.get(path).status_code == 200
            with CaptureQueriesContext(connection) as queries:
                reader.get(path)
            found[f"{nth} {path.split('/')[1]}"] = len(queries)
        return found

    few = count_queries(1)
    many = count_queries(2)
    assert {name: number for name, number in many.items() if number > few[name]} == {}


def test_the_counts_of_an_erasure_are_labelled_and_add_up(
    browser: Client, session: Session, replay: Replay
) -> None:
    found = browser.post(f"/sessions/{session.id}/erase-fields/", {"of_step": ["output"], "steps": "2"})[
        "Location"
    ]
    seen = words(browser.get(found).text)
    browser.post(f"{found}confirm/", {"reason": "asked for"})
    done = words(browser.get(found).text)
    numbers = re.search(
        r"(\d+) fields: (\d+) in the session's records, (\d+) in the records of its replays", done
    )
    assert numbers is not None
    assert numbers[0] in seen
    total, own, replays = map(int, numbers.groups())
    assert total == own + replays
    evidence = words(browser.get(f"/sessions/{session.id}/evidence/").text)
    assert f"{own} fields in its records were erased" in evidence
    assert numbers[0] in evidence
    second = erased(session, fields=["input"], steps=[2])
    assert second.result is not None
    of = second.result["fields_of"]
    evidence = words(browser.get(f"/sessions/{session.id}/evidence/").text)
    assert f"{own + of['session'] - of['session_again']} fields in its records were erased" in evidence
