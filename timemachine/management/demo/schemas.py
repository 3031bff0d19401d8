"""The demo as the API returns it."""

from typing import Final, Literal

from django.conf import settings

from timemachine.core.pure.schemas import Schema
from timemachine.management.demo.commands import Demo

SHOWN: Final[tuple[tuple[Literal["debug", "audit"], str], ...]] = (("debug", "steps/2/"), ("audit", ""))
"""The demo's replays: the debug replay opens where the passage has rank 12."""


class DemoSession(Schema):
    """The demo's session and the address of its page."""

    id: str
    url: str


class DemoReplay(Schema):
    """A replay of the demo's session and the address of its page."""

    id: str
    kind: Literal["debug", "audit"]
    url: str


class DemoOut(Schema):
    """What the demo created. `share_url` is known only when it is created; `new` is false if the demo was there already."""

    session: DemoSession
    replays: list[DemoReplay]
    share_url: str | None
    new: bool

    @classmethod
    def of(cls, made: Demo) -> "DemoOut":
        """The demo's parts with their addresses."""
        base, session = settings.PUBLIC_URL, made.session
        return cls.model_construct(
            session=DemoSession.model_construct(
                id=str(session.id), url=f"{base}/sessions/{session.id}/?step=2"
            ),
            replays=[
                DemoReplay.model_construct(id=str(each), kind=kind, url=f"{base}/replays/{each}/{step}")
                for each, (kind, step) in zip(made.replays, SHOWN, strict=False)
            ],
            share_url=made.share_url,
            new=made.new,
        )


class DemoRemoved(Schema):
    """Whether there was a demo to remove."""

    removed: bool
