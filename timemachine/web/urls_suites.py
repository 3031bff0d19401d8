"""Addresses of replay suites."""

from django.urls import path

from timemachine.web.views import suites

urlpatterns = [
    path("suites/", suites.suites, name="suites"),
    path("suites/new/", suites.new, name="new_suite"),
    path("suites/<str:id>/", suites.suite, name="suite"),
    path("suites/<str:id>/edit/", suites.edit, name="edit_suite"),
    path("suites/<str:id>/run/", suites.run, name="run_suite"),
    path("suites/<str:id>/delete/", suites.delete, name="delete_suite"),
    path("suites/<str:id>/runs/<int:number>/", suites.suite_run, name="suite_run"),
    path("suites/<str:id>/runs/<int:number>/cancel/", suites.cancel, name="cancel_suite_run"),
]
