"""Addresses of forgetting: retention, deletions in bulk, legal holds, deleting a turn."""

from django.urls import path

from timemachine.web.views import erasures, holds, retention

urlpatterns = [
    path("settings/retention/", retention.settings, name="retention"),
    path("settings/retention/<str:id>/remove/", retention.remove_rule, name="remove_retention_rule"),
    path("forgettings/new/", retention.prepare, name="prepare_forgetting"),
    path("forgettings/<str:id>/", retention.forgetting, name="forgetting"),
    path("forgettings/<str:id>/confirm/", retention.confirm, name="confirm_forgetting"),
    path("forgettings/<str:id>/cancel/", retention.cancel, name="cancel_forgetting"),
    path("holds/new/", holds.place, name="place_hold"),
    path("holds/<str:id>/", holds.hold, name="hold"),
    path("holds/<str:id>/release/", holds.release, name="release_hold"),
    path("sessions/<str:id>/hold/", holds.session, name="session_hold"),
    path("sessions/<str:id>/steps/<int:sequence>/delete/", erasures.delete_turn, name="delete_turn"),
]
