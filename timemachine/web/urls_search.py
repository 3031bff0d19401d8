"""The address of the search across sessions."""

from django.urls import path

from timemachine.web.views import search

urlpatterns = [path("search/", search.search, name="search")]
