"""Imports the models of every package, so that Django knows them. Nobody imports from here."""

import timemachine.core.accounts.models
import timemachine.core.payloads.models
import timemachine.evidence.models
import timemachine.governance.deletion.erasure.models
import timemachine.governance.deletion.retention.models
import timemachine.governance.sharing.models
import timemachine.jobs.models
import timemachine.knowledge.models
import timemachine.llm.models
import timemachine.memory.patterns.models
import timemachine.memory.search.models
import timemachine.recording.annotations.notes.models
import timemachine.recording.annotations.significance.models
import timemachine.recording.answering.models
import timemachine.recording.importing.models
import timemachine.recording.intake.models
import timemachine.recording.otel.models
import timemachine.recording.sessions.models
import timemachine.recording.usage.models
import timemachine.replay.alignment.models
import timemachine.replay.comparison.models
import timemachine.replay.judging.models
import timemachine.replay.runs.models
import timemachine.replay.suites.models
import timemachine.replay.sweeps.models
import timemachine.text.redaction.models
