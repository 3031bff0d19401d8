"""Addresses of patterns, their rules and what these found."""

from django.urls import path

from timemachine.web.views import patterns

urlpatterns = [
    path("patterns/", patterns.patterns, name="patterns"),
    path("patterns/rules/", patterns.make_rule, name="make_pattern_rule"),
    path("patterns/rules/<str:id>/delete/", patterns.delete_rule, name="delete_pattern_rule"),
    path("patterns/alerts/<str:id>/seen/", patterns.seen, name="pattern_alert_seen"),
    path("patterns/<str:id>/", patterns.pattern, name="pattern"),
]
