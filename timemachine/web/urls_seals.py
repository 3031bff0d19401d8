"""Addresses of evidence, and of erasing what it holds."""

from django.urls import path

from timemachine.web.views import anchors, erasures, seals

urlpatterns = [
    path("sessions/<str:id>/erase-fields/", erasures.choose, name="erase_fields"),
    path("erasures/<str:id>/", erasures.erasure, name="erasure"),
    path("erasures/<str:id>/confirm/", erasures.confirm, name="confirm_erasure"),
    path("sessions/<str:id>/evidence/", seals.evidence, {"of": "session"}, name="session_evidence"),
    path("sessions/<str:id>/evidence/check/", seals.check, {"of": "session"}, name="check_session_seal"),
    path("sessions/<str:id>/evidence.zip", seals.bundle, {"of": "session"}, name="session_bundle"),
    path("replays/<str:id>/evidence/", seals.evidence, {"of": "replay"}, name="replay_evidence"),
    path("replays/<str:id>/evidence/check/", seals.check, {"of": "replay"}, name="check_replay_seal"),
    path("replays/<str:id>/evidence.zip", seals.bundle, {"of": "replay"}, name="replay_bundle"),
    path("comparisons/<str:id>/evidence/", seals.evidence, {"of": "comparison"}, name="comparison_evidence"),
    path(
        "comparisons/<str:id>/evidence/check/",
        seals.check,
        {"of": "comparison"},
        name="check_comparison_seal",
    ),
    path("comparisons/<str:id>/evidence.zip", seals.bundle, {"of": "comparison"}, name="comparison_bundle"),
    path("settings/evidence-log.zip", seals.bundle_of_log, name="log_bundle"),
    path("settings/evidence-key/", seals.replace_key, name="replace_evidence_key"),
    path("settings/evidence-anchors/", anchors.set_anchors, name="set_evidence_anchors"),
    path("tm_verify.py", seals.verifier, name="verifier"),
]
