"""What a project answers: itself, its API keys, the demo."""

from typing import Final, Literal

from timemachine.api.answers.shape import Answers, Document, Page

type Scope = Literal["read", "record", "run", "share", "admin"]


class Project(Document):
    id: str
    name: str
    scopes: list[Scope]
    version: str


class Key(Document):
    id: str
    name: str
    scopes: list[Scope]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None


class KeyMade(Key):
    key: str


class Keys(Page):
    items: list[Key]


class DemoSession(Document):
    id: str
    url: str


class DemoReplay(DemoSession):
    kind: Literal["debug", "audit"]


class Demo(Document):
    session: DemoSession
    replays: list[DemoReplay]
    share_url: str | None
    new: bool


class DemoRemoved(Document):
    removed: bool


ANSWERS: Final[Answers] = {
    ("get", "/api/project", 200): Project,
    ("get", "/api/keys", 200): Keys,
    ("post", "/api/keys", 201): KeyMade,
    ("delete", "/api/keys/{key_id}", 200): Key,
    ("post", "/api/demo", 201): Demo,
    ("delete", "/api/demo", 200): DemoRemoved,
}
