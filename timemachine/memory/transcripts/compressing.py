"""The effect of compressing a session, in turns and tokens."""

from dataclasses import dataclass

from timemachine.memory.transcripts.transcript import Amount, TurnFilter, transcript_of
from timemachine.recording.annotations.significance.queries import compression_of
from timemachine.recording.sessions.models import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The effect of compression: turns that keep their importance, turns that fall to 0.30, and whether some
    tokens are estimated.
    """

    kept: Amount
    falls: Amount
    estimated: bool


def compression_effect(session: Session) -> Effect:
    """Return the effect of compressing the session now, or of its compression. Turns recorded after the
    compression keep their importance.
    """
    now = compression_of(session)
    found = transcript_of(session, TurnFilter(staying=session.last_sequence if now is None else now.through))
    falls = Amount(
        turns=found.recorded.turns - found.kept.turns, tokens=found.recorded.tokens - found.kept.tokens
    )
    return Effect(kept=found.kept, falls=falls, estimated=found.estimated)
