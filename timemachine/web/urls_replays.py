"""Addresses of replays."""

from django.urls import path

from timemachine.web.views import replays, sweeps, trials, where

urlpatterns = [
    path("sessions/<str:id>/replay/", replays.launch, name="replay_form"),
    path("sessions/<str:id>/steps/<int:sequence>/trial/", trials.trial, name="trial"),
    path("sessions/<str:id>/where/", where.where_is_it, name="where"),
    path("sessions/<str:id>/sweep/", sweeps.launch, name="sweep_form"),
    path("sweeps/<str:id>/", sweeps.sweep, name="sweep"),
    path("sweeps/<str:id>/cancel/", sweeps.cancel, name="cancel_sweep"),
    path("replays/<str:id>/", replays.replay, name="replay"),
    path("replays/<str:id>/cancel/", replays.cancel, name="cancel_replay"),
    path("replays/<str:id>/retry/", replays.retry, name="retry_replay"),
    path("replays/<str:id>/steps/<int:sequence>/", replays.step, name="replay_step"),
]
