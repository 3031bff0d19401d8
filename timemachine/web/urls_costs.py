"""Addresses of what recorded work cost."""

from django.urls import path

from timemachine.web.views import costs

urlpatterns = [path("costs/", costs.costs, name="costs")]
