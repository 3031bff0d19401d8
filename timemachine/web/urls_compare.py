"""Addresses of comparing two runs."""

from django.urls import path

from timemachine.web.views import compare

urlpatterns = [
    path("compare/", compare.compare, name="compare"),
    path("compare/steps/", compare.steps, name="compare_steps"),
]
