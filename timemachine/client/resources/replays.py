"""Replays of a server: launch one, wait for it, read its steps."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

from timemachine.client import waiting
from timemachine.client.connection import Connection, Document, given, segment
from timemachine.client.pages import LARGEST_PAGE, every


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """What to replay and how, by the names of the API; None and False leave it as it was recorded."""

    audit: bool = False
    reason: str | None = None
    use_models: tuple[str, ...] = ()
    system_prompt: str | None = None
    prompt_template: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    top_k: int | None = None
    search_mode: str | None = None
    adaptive: bool | None = None
    relative: float | None = None
    cliff: float | None = None
    min_score: float | None = None
    embedding_model: str | None = None
    as_of: str | None = None
    skip_asks: bool = False
    skip_finds: bool = False
    from_checkpoint: str | None = None
    spend_limit_usd: float | None = None

    def as_body(self) -> Document:
        """As the API takes them."""
        chosen = given(**asdict(self)).items()
        return {name: value for name, value in chosen if value is not False and value != ()}


class Replays:
    """Launch, follow and read replays."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def launch(self, session: str, options: ReplayOptions) -> Document:
        """Launch a replay in the background: `{"replay_id": …}`."""
        return self._connection.post(
            f"/api/sessions/{segment(session, 'session')}/replays", options.as_body()
        )

    def estimate(self, session: str, options: ReplayOptions) -> Document:
        """About what it would cost, for each model: `{"estimates": […]}`."""
        path = f"/api/sessions/{segment(session, 'session')}/replays/estimate"
        return self._connection.post(path, options.as_body())

    def try_step(self, session: str, sequence: int, changes: Document) -> Document:
        """Try one find or ask again with something changed, in the background: `{"replay_id": …}`."""
        path = f"/api/sessions/{segment(session, 'session')}/actions/{sequence}/trials"
        return self._connection.post(path, given(**changes))

    def where(
        self, session: str, *, frame: int | None = None, text: str | None = None, after: int = 0
    ) -> Document:
        """Where a frame, or what holds a sentence, stands at the finds and asks after a step; `next` goes on."""
        path = f"/api/sessions/{segment(session, 'session')}/where"
        return self._connection.get(path, given(frame=frame, text=text, after=after))

    def get(self, replay: str) -> Document:
        """How far a replay is and what it came to so far."""
        return self._connection.get(f"/api/replays/{segment(replay, 'replay')}")

    def steps(self, replay: str) -> Iterator[Document]:
        """Every step of the replay, in the order of the recording."""
        path = f"/api/replays/{segment(replay, 'replay')}/steps"
        return every(lambda after: self._connection.get(path, {"limit": LARGEST_PAGE, "after": after}))

    def wait(self, replay: str, seen: Callable[[Document], None] = lambda _: None) -> Document:
        """The replay once it is over; `seen` gets it at every look. A server that is away for a minute is waited for."""
        return waiting.wait(lambda: self.get(replay), waiting.OVER, seen)
