"""Addresses of the sessions and of what is in them."""

from django.urls import path

from timemachine.web.views import sessions, shortcuts, timeline

urlpatterns = [
    path("", sessions.sessions, name="sessions"),
    path("shortcuts/", shortcuts.switch, name="shortcuts"),
    path("sessions/<str:id>/", timeline.timeline, name="timeline"),
    path("sessions/<str:id>/payloads/<str:sha256>", sessions.payload, name="payload"),
]
