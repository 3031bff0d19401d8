"""Tables that lead to a session and have no proof, and why not."""

from collections.abc import Mapping
from typing import Final

UNPROVEN: Final[Mapping[str, str]] = {
    "SealedRecord": "the seal itself: `test_checking.py` changes it",
    "SealedResults": "the seal itself: `test_comparisons.py` changes it",
    "SealCheck": "the result of an earlier check; a new one does not read it",
    "AccessHead": "how far the log commits to an access log; the bundle of the log proves that",
    "ShareLink": "the terms of a link, not what it shows; its access log is proven by the log's bundle",
    "Erasure": "a request; what it erased is in the log",
    "Note": "a remark of a member, which members can delete",
    "LogCheckpoint": "the log itself: the check compares it with its signature",
    "Frame": "a passage of a collection, which can change",
    "Source": "a file of a collection, which can change",
    "SignificanceOverride": "a judgement of a member, which members can change; the recorded one is sealed",
    "SignificanceChange": "the history of such judgements",
    "Declined": "which suggestion a member declined",
    "Compression": "which steps a member hides",
    "CompressionChange": "the history of that",
    "HeldSession": "a legal hold is an entry of the project's log",
    "Delivery": "pages do not show it",
    "CachedAnswer": "pages do not show it",
    "AskUnderWay": "only what is not finished yet has one, and that is not sealed",
    "SessionSummary": "a frame of a collection, which can change",
    "Intake": "how a file came into a collection",
    "Trace": "pages do not show it",
    "ReadSession": "pages do not show it",
    "PatternStep": "an index over steps, which is computed again",
    "SearchedAction": "an index over steps, which is computed again",
    "ActionMeaning": "an index over steps, which is computed again",
    "ActionIndexRow": "an index over steps, which is computed again",
    "IndexedSession": "an index over steps, which is computed again",
    "LongDiff": "a difference, which is computed again",
    "Judgement": "a model's opinion on a recorded answer, which is asked for again",
    "SuiteSession": "what a suite repeats; its replays are sealed",
    "SuiteReplay": "what a suite repeats; its replays are sealed",
    "SuiteStep": "a difference between two replays, which is computed again",
    "Sweep": "a measurement over a step; members can delete it",
}
"""Tables that lead to a session and have no proof, and why."""
