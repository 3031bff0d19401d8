"""Addresses of comparisons."""

from django.urls import path

from timemachine.web.views import comparisons

urlpatterns = [
    path("comparisons/", comparisons.comparisons, name="comparisons"),
    path("comparisons/new/", comparisons.launch, name="new_comparison"),
    path("comparisons/<str:id>/", comparisons.comparison, name="comparison"),
    path("comparisons/<str:id>/export.<str:form>", comparisons.export, name="export_comparison"),
    path("comparisons/<str:id>/cancel/", comparisons.cancel, name="cancel_comparison"),
    path("comparisons/<str:id>/retry/", comparisons.retry, name="retry_comparison"),
    path("comparisons/<str:id>/judge/", comparisons.judge, name="judge_comparison"),
    path("comparisons/<str:id>/cells/<int:step>/", comparisons.cell, name="comparison_cell"),
]
