"""Judge replies for these tests."""

import json

from timemachine.recording.sessions.models import Action

MODEL = "openai:gpt-4o-mini"


ANSWER = "Invoices are kept for ten years. Then the archive team shreds them. Zoë eats them."


ASK = 2


def judge_reply(*verdicts: tuple[str, int | None, str | None]) -> str:
    return json.dumps(
        {
            "sentences": [
                {"number": number, "verdict": verdict, "passage": passage, "quote": quote}
                for number, (verdict, passage, quote) in enumerate(verdicts, 1)
            ]
        }
    )


def place_of(ask: Action, title: str) -> int:
    return ask.hits.get(title=title).rank


def opinion(ask: Action) -> str:
    """The first verdict is correct, the second contradicts the grounding, the third quotes words that occur nowhere."""
    place = place_of(ask, "Retention")
    return judge_reply(
        ("supported", place, "Invoices are kept for ten years."),
        ("not_found", None, None),
        ("contradicted", place, "Zoë never eats them"),
    )
