"""The address of recall."""

from django.urls import path

from timemachine.web.views import recall

urlpatterns = [path("recall/", recall.recall, name="recall")]
