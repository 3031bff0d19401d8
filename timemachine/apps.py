"""Time Machine as a Django app."""

from django.apps import AppConfig


class TimeMachineConfig(AppConfig):
    """One app, many rooms."""

    name = "timemachine"
    label = "timemachine"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let Django's checks, which every start runs, know of ours, and its connections of vectors."""
        from timemachine.evidence import receivers  # noqa: F401
        from timemachine.knowledge.prepared_statements import send_vectors_as_they_are
        from timemachine.llm import base_urls, price_overrides  # noqa: F401

        send_vectors_as_they_are()
