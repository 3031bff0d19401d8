"""Replays: launch, wait and read the steps."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

from timemachine.client import waiting
from timemachine.client.connection import Document, given, segment
from timemachine.client.pages import LARGEST_PAGE, every
from timemachine.client.resources.resource import Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """The options of a replay, by their names in the API; None and False mean "as recorded"."""

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
        """The options that are set, as the body of a request."""
        chosen = given(**asdict(self)).items()
        return {name: value for name, value in chosen if value is not False and value != ()}


class Replays(Resource):
    """Launch, follow and read replays."""

    def launch(self, session: str, options: ReplayOptions) -> Document:
        """Launch a replay in the background: `{"replay_id": …}`."""
        return self._connection.post(
            f"/api/sessions/{segment(session, 'session')}/replays", options.as_body()
        )

    def estimate(self, session: str, options: ReplayOptions) -> Document:
        """The estimated cost for each model: `{"estimates": […]}`."""
        path = f"/api/sessions/{segment(session, 'session')}/replays/estimate"
        return self._connection.post(path, options.as_body())

    def try_step(self, session: str, sequence: int, changes: Document) -> Document:
        """Repeat one find or ask with changes, in the background: `{"replay_id": …}`."""
        path = f"/api/sessions/{segment(session, 'session')}/actions/{sequence}/trials"
        return self._connection.post(path, given(**changes))

    def where(
        self, session: str, *, frame: int | None = None, text: str | None = None, after: int = 0
    ) -> Document:
        """The ranks of a frame, or of those that contain a sentence, at the find and ask steps after a step; `next` is the cursor."""
        path = f"/api/sessions/{segment(session, 'session')}/where"
        return self._connection.get(path, given(frame=frame, text=text, after=after))

    def get(self, replay: str) -> Document:
        """The progress and the results of a replay so far."""
        return self._connection.get(f"/api/replays/{segment(replay, 'replay')}")

    def steps(self, replay: str) -> Iterator[Document]:
        """Every step of the replay, in the order of the recording."""
        path = f"/api/replays/{segment(replay, 'replay')}/steps"
        return every(lambda after: self._connection.get(path, {"limit": LARGEST_PAGE, "after": after}))

    def wait(self, replay: str, seen: Callable[[Document], None] = lambda _: None) -> Document:
        """Wait for the replay and return it; calls `seen` with each state."""
        return waiting.wait(lambda: self.get(replay), waiting.FINISHED, seen)
