"""Addresses of what a person records: collections, sessions by hand, imports. They stand before `sessions/<id>/`."""

from django.urls import path

from timemachine.web.views import (
    asking,
    collections,
    embedding,
    files,
    frames,
    imports,
    judging,
    record,
    work,
)

urlpatterns = [
    path("collections/", collections.collections, name="collections"),
    path("collections/<str:name>/", collections.collection, name="collection"),
    path("collections/<str:name>/embedding/", embedding.embedding, name="embedding"),
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
    path("sessions/<str:id>/work/cancel/<uuid:ask>/", asking.cancel, name="cancel_ask"),
    path("sessions/<str:id>/end/", record.end, name="end_session"),
    path("sessions/<str:id>/delete/", record.delete, name="delete_session"),
    path("sessions/<str:id>/steps/<int:sequence>/judge/", judging.judge, name="judge"),
    path(
        "sessions/<str:id>/steps/<int:sequence>/judgements/<uuid:judgement>/cancel/",
        judging.cancel,
        name="cancel_judgement",
    ),
    path("import/", imports.import_page, name="import"),
    path("import/done/", imports.done, name="import_done"),
    path("imports/<str:id>/", imports.file_import, name="file_import"),
]
