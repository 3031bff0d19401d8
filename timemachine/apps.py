"""Time Machine as a Django app."""

from django.apps import AppConfig


class TimeMachineConfig(AppConfig):
    """One app, many rooms."""

    name = "timemachine"
    label = "timemachine"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let Django's checks, which every start runs, know of ours, and its connections of vectors."""
        from timemachine.providers import base_urls, overrides  # noqa: F401
        from timemachine.retrieval.prepared import send_vectors_as_they_are

        send_vectors_as_they_are()
