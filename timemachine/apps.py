"""Time Machine as a Django app."""

from django.apps import AppConfig


class TimeMachineConfig(AppConfig):
    """One app, many rooms."""

    name = "timemachine"
    label = "timemachine"
    default_auto_field = "django.db.models.BigAutoField"
