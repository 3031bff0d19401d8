"""Every model of the app, listed for Django. Nobody imports from here: each lives in its room."""

from timemachine.accounts.models import ApiKey, Membership, Project, SignInAttempt, SignInLink, User
from timemachine.alignment.models import LongDiff
from timemachine.answering.models import AnswerCacheSwitch, AskUnderWay, CachedAnswer, SessionSummary
from timemachine.comparison.models import (
    CellMark,
    CellOpinion,
    Comparison,
    ComparisonFindings,
    ComparisonReplay,
)
from timemachine.erasure.models import Erasure
from timemachine.evidence.models import (
    AccessHead,
    Anchor,
    Anchored,
    EarlierSeal,
    ErasedField,
    EvidenceLog,
    LogCheckpoint,
    LogEntry,
    Seal,
    SealCheck,
    SealCheckpoint,
    SealedRecord,
    SealedResults,
    SigningKey,
)
from timemachine.exchange.models import FileImport
from timemachine.intake.models import Intake
from timemachine.judging.models import Judgement
from timemachine.notes.models import Note
from timemachine.patterns.models import (
    PatternAlert,
    PatternReading,
    PatternRule,
    PatternStep,
    ReadSession,
    Wording,
)
from timemachine.payloads.models import Payload
from timemachine.providers.models import ModelAccessChange, ModelServer, ModelTrial, ProviderKey
from timemachine.recording.models import Action, Delivery, Hit, Session
from timemachine.redaction.models import RedactionProfile
from timemachine.replay.models import CallBeside, Replay, ReplayAttempt, ReplayHit, ReplayStep
from timemachine.retrieval.models import (
    BlankFrame,
    Collection,
    EmbeddingWork,
    Frame,
    FrameEmbedding,
    FrameWeights,
    RefusedFrame,
    Source,
    SourcePassage,
    TermCount,
)
from timemachine.rollup.models import Bin, FirstUse, Latency, Usage
from timemachine.search.models import ActionMeaning, IndexedSession, Indexing, SearchedAction
from timemachine.sharing.models import ShareGrant, ShareLink, ShareMiss, ShareOpening, SharePolicy
from timemachine.suites.models import Suite, SuiteEvent, SuiteReplay, SuiteRun, SuiteSession, SuiteStep
from timemachine.sweeping.models import Sweep, SweepRow
from timemachine.traces.models import Trace
from timemachine.weight.models import (
    Compression,
    CompressionChange,
    CompressionRule,
    Declined,
    Weight,
    WeightChange,
)

__all__ = [
    "AccessHead",
    "Action",
    "ActionMeaning",
    "Anchor",
    "Anchored",
    "AnswerCacheSwitch",
    "ApiKey",
    "AskUnderWay",
    "Bin",
    "BlankFrame",
    "CachedAnswer",
    "CallBeside",
    "CellMark",
    "CellOpinion",
    "Collection",
    "Comparison",
    "ComparisonFindings",
    "ComparisonReplay",
    "Compression",
    "CompressionChange",
    "CompressionRule",
    "Declined",
    "Delivery",
    "EarlierSeal",
    "EmbeddingWork",
    "ErasedField",
    "Erasure",
    "EvidenceLog",
    "FileImport",
    "FirstUse",
    "Frame",
    "FrameEmbedding",
    "FrameWeights",
    "Hit",
    "IndexedSession",
    "Indexing",
    "Intake",
    "Judgement",
    "Latency",
    "LogCheckpoint",
    "LogEntry",
    "LongDiff",
    "Membership",
    "ModelAccessChange",
    "ModelServer",
    "ModelTrial",
    "Note",
    "PatternAlert",
    "PatternReading",
    "PatternRule",
    "PatternStep",
    "Payload",
    "Project",
    "ProviderKey",
    "ReadSession",
    "RedactionProfile",
    "RefusedFrame",
    "Replay",
    "ReplayAttempt",
    "ReplayHit",
    "ReplayStep",
    "Seal",
    "SealCheck",
    "SealCheckpoint",
    "SealedRecord",
    "SealedResults",
    "SearchedAction",
    "Session",
    "SessionSummary",
    "ShareGrant",
    "ShareLink",
    "ShareMiss",
    "ShareOpening",
    "SharePolicy",
    "SignInAttempt",
    "SignInLink",
    "SigningKey",
    "Source",
    "SourcePassage",
    "Suite",
    "SuiteEvent",
    "SuiteReplay",
    "SuiteRun",
    "SuiteSession",
    "SuiteStep",
    "Sweep",
    "SweepRow",
    "TermCount",
    "Trace",
    "Usage",
    "User",
    "Weight",
    "WeightChange",
    "Wording",
]
