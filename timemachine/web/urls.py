"""The URLs of all pages, by area."""

from django.urls import path, re_path, register_converter
from django.urls.converters import StringConverter
from django.views.generic import RedirectView

from timemachine.web.comparisons.views import compare, comparisons
from timemachine.web.insights.views import costs, go, patterns, recall, search, training
from timemachine.web.knowledge.views import collections, files, frames
from timemachine.web.replays.views import continuations, lists, replays, suites, sweeps
from timemachine.web.sessions.views import (
    annotations,
    erasures,
    imports,
    record,
    sessions,
    tail,
    timeline,
    transcripts,
    work,
)
from timemachine.web.settings.views import (
    audit_log,
    browsers,
    members,
    models,
    project,
    provider,
    redaction,
    retention,
    second_factor,
    second_step,
    settings,
    sign_in,
)
from timemachine.web.sharing.views import log_and_key, printing, seals, shared, shares


class SessionId(StringConverter):
    """Match the UUID or the key of a session; anything else does not match a URL."""

    regex = "[A-Za-z0-9._:@-]{1,200}"


class Sha256(StringConverter):
    """Match a SHA-256 in lower-case hex."""

    regex = "[0-9a-f]{64}"


register_converter(SessionId, "session")
register_converter(Sha256, "sha256")

evidence = [
    path(f"{of}s/<str:id>/{address}", view, {"of": of}, name=name.format(of))
    for of in ("session", "replay", "comparison")
    for address, view, name in (
        ("evidence/", seals.evidence, "{}_evidence"),
        ("evidence/check/", seals.check, "check_{}_seal"),
        ("evidence.zip", seals.bundle, "{}_bundle"),
    )
]

urlpatterns = [
    # --- signing in and settings
    path("sign-in/", sign_in.sign_in, name="sign_in"),
    path("sign-in/provider/", provider.begin, name="provider"),
    path("sign-in/provider/answer/", provider.end, name="provider_answer"),
    path("sign-in/second-factor/", second_step.second_step, name="second_step"),
    path("sign-in/<str:secret>/", sign_in.open_link, name="sign_in_link"),
    path("welcome/", sign_in.welcome, name="welcome"),
    path("sign-out/", sign_in.sign_out, name="sign_out"),
    path("appearance/", settings.appearance, name="appearance"),
    path("project/", project.choose, name="choose_project"),
    path("settings/", settings.settings, name="settings"),
    path("settings/you/", settings.you, name="settings_you"),
    path("settings/password/", settings.password, name="settings_password"),
    path("settings/second-factor/", second_factor.second_factor, name="second_factor"),
    path("settings/second-factor/app/", second_factor.add_app, name="add_second_factor_app"),
    path("settings/second-factor/passkey/", second_factor.add_passkey, name="add_passkey"),
    path("settings/second-factor/codes/", second_factor.new_codes, name="new_recovery_codes"),
    path(
        "settings/second-factor/<int:factor_id>/remove/",
        second_factor.remove_factor,
        name="remove_second_factor",
    ),
    path("settings/browsers/sign-out/", browsers.sign_out_others, name="settings_sign_out_others"),
    path(
        "settings/browsers/<str:browser_id>/sign-out/",
        browsers.sign_out_one,
        name="settings_sign_out_browser",
    ),
    path("settings/project/", project.rename, name="settings_project"),
    path("settings/projects/", project.new, name="settings_new_project"),
    path("settings/members/", members.invite, name="settings_invite"),
    path("settings/members/<int:member_id>/role/", members.role, name="settings_role"),
    path("settings/members/<int:member_id>/remove/", members.remove, name="settings_remove"),
    path(
        "settings/members/<int:member_id>/second-factor/remove/",
        members.remove_second_factor,
        name="settings_remove_second_factor",
    ),
    path(
        "settings/members/second-factor/", members.require_second_factor, name="settings_need_second_factor"
    ),
    path("settings/members/<int:member_id>/reset/", members.reset, name="settings_reset"),
    path("settings/invitations/<int:link_id>/withdraw/", members.withdraw, name="settings_withdraw"),
    path("settings/answer-cache/switch/", project.switch_answer_cache, name="switch_answer_cache"),
    path("settings/answer-cache/empty/", project.empty_answer_cache, name="empty_answer_cache"),
    path("settings/audit-log/", audit_log.audit_log, name="audit_log"),
    path("settings/audit-log/export/", audit_log.export, name="export_audit_log"),
    path("settings/models/", models.models, name="settings_models"),
    path("settings/models/test/", models.test, name="settings_test_model"),
    path("settings/models/keys/<str:provider>/", models.set_key, name="settings_set_provider_key"),
    path(
        "settings/models/keys/<str:provider>/remove/", models.remove_key, name="settings_remove_provider_key"
    ),
    path("settings/models/servers/", models.add_server, name="settings_add_model_server"),
    path(
        "settings/models/servers/<str:name>/remove/",
        models.remove_server,
        name="settings_remove_model_server",
    ),
    path("settings/redaction/", redaction.profiles, name="redaction"),
    path("settings/redaction/new/", redaction.new, name="new_redaction"),
    path("settings/redaction/<str:id>/", redaction.profile, name="redaction_profile"),
    path("settings/redaction/<str:id>/retire/", redaction.retire, name="retire_redaction"),
    path("settings/keys/", members.make_key, name="settings_make_key"),
    path("settings/keys/lifetime/", members.key_lifetime, name="settings_key_lifetime"),
    path("settings/keys/<str:key_id>/revoke/", members.revoke_key, name="settings_revoke_key"),
    path("demo/", project.load_demo, name="demo"),
    path("demo/remove/", project.remove_demo, name="remove_demo"),
    # --- recording manually; before `sessions/<id>/`, because /sessions/new/ is not a session
    path("collections/", collections.collections, name="collections"),
    path("collections/<str:name>/", collections.collection, name="collection"),
    path("collections/<str:name>/embedding/", collections.embedding, name="embedding"),
    path("collections/<str:name>/put/", collections.put, name="put_passage"),
    path("collections/<str:name>/upload/", files.upload, name="upload_passages"),
    path("collections/<str:name>/frames/<int:number>/", frames.frame, name="frame"),
    path("collections/<str:name>/frames/<int:number>/update/", frames.update, name="update_frame"),
    path("collections/<str:name>/frames/<int:number>/delete/", frames.delete, name="delete_frame"),
    path(
        "collections/<str:name>/frames/<int:number>/versions/<int:version>.txt",
        frames.download,
        name="frame_text",
    ),
    path("collections/<str:name>/sources/<str:id>/", files.source, name="source"),
    path("collections/<str:name>/sources/<str:id>/original", files.source_file, name="source_file"),
    path("intakes/<str:id>/", files.intake, name="intake"),
    path("intakes/<str:id>/dismiss/", files.dismiss_intake, name="dismiss_intake"),
    path("sessions/new/", record.new_session, name="new_session"),
    path("sessions/<str:id>/work/", work.work, name="work"),
    path("sessions/<str:id>/work/put/", work.put, name="work_put"),
    path("sessions/<str:id>/work/upload/", work.upload, name="work_upload"),
    path("sessions/<str:id>/work/cancel/<uuid:ask>/", work.cancel, name="cancel_ask"),
    path("sessions/<str:id>/end/", record.end, name="end_session"),
    path("sessions/<str:id>/delete/", record.delete, name="delete_session"),
    path("sessions/<str:id>/steps/<int:sequence>/judge/", annotations.judge, name="judge"),
    path(
        "sessions/<str:id>/steps/<int:sequence>/judgements/<uuid:judgement>/cancel/",
        annotations.cancel_judgement,
        name="cancel_judgement",
    ),
    path("import/", imports.import_page, name="import"),
    path("import/done/", imports.done, name="import_done"),
    path("imports/<str:id>/", imports.file_import, name="file_import"),
    # --- sessions
    path("", sessions.sessions, name="sessions"),
    path("sessions/", RedirectView.as_view(pattern_name="sessions", query_string=True)),
    path("shortcuts/", settings.shortcuts, name="shortcuts"),
    path("sessions/<session:id>/", timeline.timeline, name="timeline"),
    path("sessions/<session:id>/suggest/", timeline.suggest, name="suggest"),
    path("sessions/<session:id>/tail/", tail.tail, name="tail"),
    path("sessions/<session:id>/totals/", timeline.totals, name="session_totals"),
    path("sessions/<session:id>/notes/", annotations.notes, name="session_notes"),
    path("sessions/<session:id>/notes/<uuid:note>/", annotations.note, name="note"),
    path("sessions/<session:id>/notes/<uuid:note>/delete/", annotations.delete, name="delete_note"),
    path("sessions/<session:id>/branches/", sessions.branches, name="branches"),
    path("sessions/<session:id>/transcript/", transcripts.transcript, name="transcript"),
    path("sessions/<session:id>/transcript/<str:form>", transcripts.file, name="transcript_file"),
    path("sessions/<session:id>/significance/", annotations.significance, name="significance"),
    path("sessions/<session:id>/significance/answer/", annotations.answer, name="answer_proposal"),
    path("sessions/<session:id>/significance/compress/", annotations.compress, name="compress_session"),
    path("sessions/<session:id>/significance/summarise/", annotations.summarise, name="summarise"),
    path("settings/compression/", project.set_compression_rule, name="compression_rule"),
    path("sessions/<session:id>/export/", transcripts.exports, name="session_export"),
    path("sessions/<session:id>/export/<str:format_name>", transcripts.export_file, name="export_file"),
    path("sessions/<session:id>/payloads/<sha256:sha256>", sessions.payload, name="payload"),
    path(
        "sessions/<session:id>/payloads/<sha256:sha256>/images/<int:number>",
        sessions.payload_image,
        name="payload_image",
    ),
    # --- retention, deletion, legal holds
    path("settings/retention/", retention.settings, name="retention"),
    path("settings/retention/<str:id>/remove/", retention.remove_rule, name="remove_retention_rule"),
    path("forgettings/new/", retention.prepare, name="prepare_forgetting"),
    path("forgettings/<str:id>/", retention.bulk_deletion, name="forgetting"),
    path("forgettings/<str:id>/confirm/", retention.confirm, name="confirm_forgetting"),
    path("forgettings/<str:id>/cancel/", retention.cancel, name="cancel_forgetting"),
    path("holds/new/", retention.place_hold, name="place_hold"),
    path("holds/<str:id>/", retention.hold, name="hold"),
    path("holds/<str:id>/release/", retention.release_hold, name="release_hold"),
    path("sessions/<str:id>/hold/", retention.session_hold, name="session_hold"),
    path("sessions/<str:id>/steps/<int:sequence>/delete/", erasures.delete_turn, name="delete_turn"),
    # --- training data
    path("training/", training.training, name="training"),
    path("training/pairs.jsonl", training.file, name="training_file"),
    # --- search
    path("go/", go.go, name="go"),
    path("search/", search.search, name="search"),
    # --- recall
    path("recall/", recall.recall, name="recall"),
    # --- patterns
    path("patterns/", patterns.patterns, name="patterns"),
    path("patterns/rules/", patterns.make_rule, name="make_pattern_rule"),
    path("patterns/rules/<str:id>/delete/", patterns.delete_rule, name="delete_pattern_rule"),
    path("patterns/alerts/<str:id>/seen/", patterns.seen, name="pattern_alert_seen"),
    path("patterns/<str:id>/", patterns.pattern, name="pattern"),
    # --- replays
    path("sessions/<str:id>/replays/", lists.of_session, name="session_replays"),
    path("sessions/<str:id>/replay/", replays.launch, name="replay_form"),
    path("sessions/<str:id>/continue/", continuations.launch, name="continue_form"),
    path("sessions/<str:id>/steps/<int:sequence>/trial/", replays.trial, name="trial"),
    path("sessions/<str:id>/where/", replays.where_is_it, name="where"),
    path("sessions/<str:id>/sweep/", sweeps.launch, name="sweep_form"),
    path("sweeps/", lists.sweeps, name="sweeps"),
    path("sweeps/<str:id>/", sweeps.sweep, name="sweep"),
    path("sweeps/<str:id>/cancel/", sweeps.cancel, name="cancel_sweep"),
    path("replays/", lists.replays, name="replays"),
    path("replays/<str:id>/", replays.replay, name="replay"),
    path("replays/<str:id>/continue/", continuations.go_on, name="go_on"),
    path("replays/<str:id>/cancel/", replays.cancel, name="cancel_replay"),
    path("replays/<str:id>/retry/", replays.retry, name="retry_replay"),
    path("replays/<str:id>/steps/<int:sequence>/", replays.step, name="replay_step"),
    # --- two runs side by side
    path("compare/", compare.compare, name="compare"),
    path("compare/steps/", compare.steps, name="compare_steps"),
    # --- comparisons
    path("comparisons/", comparisons.comparisons, name="comparisons"),
    path("comparisons/new/", comparisons.launch, name="new_comparison"),
    path("comparisons/<str:id>/", comparisons.comparison, name="comparison"),
    path("comparisons/<str:id>/export.<str:form>", comparisons.export, name="export_comparison"),
    path("comparisons/<str:id>/cancel/", comparisons.cancel, name="cancel_comparison"),
    path("comparisons/<str:id>/retry/", comparisons.retry, name="retry_comparison"),
    path("comparisons/<str:id>/judge/", comparisons.judge, name="judge_comparison"),
    path("comparisons/<str:id>/cells/<int:step>/", comparisons.cell, name="comparison_cell"),
    # --- suites
    path("suites/", suites.suites, name="suites"),
    path("suites/new/", suites.new, name="new_suite"),
    path("suites/<str:id>/", suites.suite, name="suite"),
    path("suites/<str:id>/edit/", suites.edit, name="edit_suite"),
    path("suites/<str:id>/run/", suites.run, name="run_suite"),
    path("suites/<str:id>/delete/", suites.delete, name="delete_suite"),
    path("suites/<str:id>/runs/<int:number>/", suites.suite_run, name="suite_run"),
    path("suites/<str:id>/runs/<int:number>/cancel/", suites.cancel, name="cancel_suite_run"),
    # --- costs
    path("costs/", costs.costs, name="costs"),
    # --- evidence and erasure
    path("sessions/<str:id>/erase-fields/", erasures.choose, name="erase_fields"),
    path("erasures/<str:id>/", erasures.erasure, name="erasure"),
    path("erasures/<str:id>/confirm/", erasures.confirm, name="confirm_erasure"),
    *evidence,
    path("evidence/", log_and_key.evidence_key, name="evidence_key"),
    path("settings/evidence-log.zip", log_and_key.bundle_of_log, name="log_bundle"),
    path("settings/evidence-key/", log_and_key.replace_key, name="replace_evidence_key"),
    path("settings/evidence-anchors/", log_and_key.set_anchors, name="set_evidence_anchors"),
    path("tm_verify.py", seals.verifier, name="verifier"),
    # --- share links
    path("shares/", shares.shares, name="shares"),
    path("shares/revoke/", shares.revoke_all, name="revoke_all_shares"),
    path("settings/sharing/", shares.policy, name="share_policy"),
    path("shares/<uuid:link_id>/", shares.link, name="share_link"),
    path("shares/<uuid:link_id>/revoke/", shares.revoke, name="revoke_share"),
    path("sessions/<str:id>/share/", shares.share, {"of": "session"}, name="share_form"),
    path("sessions/<str:id>/share/look/", shares.look, {"of": "session"}, name="look_session"),
    path("replays/<str:id>/share/look/", shares.look, {"of": "replay"}, name="look_replay"),
    path("comparisons/<str:id>/share/look/", shares.look, {"of": "comparison"}, name="look_comparison"),
    path("replays/<str:id>/share/", shares.share, {"of": "replay"}, name="share_replay_form"),
    path("comparisons/<str:id>/share/", shares.share, {"of": "comparison"}, name="share_comparison_form"),
    path("robots.txt", shared.robots, name="robots"),
    path("share/<str:token>", shared.share, name="share"),
    path("share/<str:public_id>/", shared.shared, name="shared"),
    path("share/<str:public_id>/steps/<int:sequence>/", shared.shared_step, name="shared_step"),
    path("share/<str:public_id>/cells/<int:step>/", shared.shared_cell, name="shared_cell"),
    path("share/<str:public_id>/payloads/<str:sha256>/", shared.shared_payload, name="shared_payload"),
    path(
        "share/<str:public_id>/payloads/<str:sha256>/images/<int:number>",
        shared.shared_image,
        name="shared_image",
    ),
    path("share/<str:public_id>/print/", printing.shared_print, name="shared_print"),
    path("share/<str:public_id>/print.css", printing.shared_print_style, name="shared_print_style"),
    path("share/<str:public_id>/certificate/", printing.shared_certificate, name="shared_certificate"),
    path("share/<str:public_id>/verify/", printing.shared_verify, name="shared_verify"),
    path("share/<str:public_id>/evidence.zip", shared.shared_evidence, name="shared_evidence"),
    re_path(r"^share(?:/.*)?$", shared.not_found, name="shared_nothing"),
]
