"""The project of a key over HTTP: itself, its API keys, and the demo."""

from importlib.metadata import version

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api.access import caller
from timemachine.core.accounts.commands.keys import make_api_key, revoke_api_key
from timemachine.core.accounts.queries import key as key_of
from timemachine.core.accounts.queries import keys_of
from timemachine.core.accounts.schemas import KeyCreated, KeyIn, KeyOut, KeyPage, ProjectOut
from timemachine.jobs.queue import enqueue
from timemachine.management.demo import commands as demo
from timemachine.management.demo.schemas import DemoOut, DemoRemoved
from timemachine.replay.tasks import run_replay

router = Router()


@router.get("/project", response=ProjectOut, tags=["project"], summary="The key's project")
def project(request: HttpRequest) -> ProjectOut:
    """The project that the key belongs to, what the key can do, and the server's version."""
    who = caller(request, "read")
    return ProjectOut.from_attributes(who.project, scopes=who.key.scopes, version=version("timemachine"))


@router.post("/keys", response={201: KeyCreated}, tags=["keys"], summary="Create a key")
def make_key(request: HttpRequest, payload: KeyIn) -> Status[KeyCreated]:
    """Create an API key for this project. The key itself is only in this response.

    It expires after 90 days unless `expires_at` or `never_expires` is given.
    """
    owner = caller(request, "admin").project
    made, plain = make_api_key(
        owner,
        name=payload.name,
        scopes=payload.scopes,
        expires_at=payload.expires_at,
        never_expires=payload.never_expires,
    )
    return Status(201, KeyCreated.from_attributes(made, key=plain))


@router.get("/keys", response=KeyPage, tags=["keys"], summary="List keys")
def list_keys(request: HttpRequest) -> KeyPage:
    """The project's keys, without their secrets."""
    found = keys_of(caller(request, "admin").project)
    return KeyPage.model_construct(items=[KeyOut.from_attributes(each) for each in found], next=None)


@router.delete("/keys/{key_id}", response=KeyOut, tags=["keys"], summary="Revoke a key")
def revoke_key(request: HttpRequest, key_id: str) -> KeyOut:
    """Revoke a key, effective from the next request."""
    found = key_of(caller(request, "admin").project, key_id)
    revoke_api_key(found)
    return KeyOut.from_attributes(found)


@router.post("/demo", response={201: DemoOut}, tags=["demo"], summary="Load the demo")
def load_demo(request: HttpRequest) -> Status[DemoOut]:
    """Create the demo in this project, or return the existing one."""
    who = caller(request, "record")
    made = demo.load(who.project, by=who.by)
    for replay_id in made.replays:
        enqueue(run_replay, replay_id)
    return Status(201, DemoOut.of(made))


@router.delete("/demo", response=DemoRemoved, tags=["demo"], summary="Remove the demo")
def remove_demo(request: HttpRequest) -> DemoRemoved:
    """Remove everything that the demo created."""
    return DemoRemoved.model_construct(removed=demo.remove(caller(request, "record").project))
