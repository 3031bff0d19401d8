"""Addresses of training pairs."""

from django.urls import path

from timemachine.web.views import training

urlpatterns = [
    path("training/", training.training, name="training"),
    path("training/pairs.jsonl", training.file, name="training_file"),
]
