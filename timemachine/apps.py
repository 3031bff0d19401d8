"""Time Machine as a Django app."""

from django.apps import AppConfig


class TimeMachineConfig(AppConfig):
    """The only Django app of the project."""

    name = "timemachine"
    label = "timemachine"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the system checks and signal receivers, and adapt database connections to vectors."""
        from timemachine.evidence import receivers as evidence  # noqa: F401
        from timemachine.governance.audit_log import receivers as audit_log  # noqa: F401
        from timemachine.knowledge.fields import register_binary_vectors
        from timemachine.llm import checks  # noqa: F401

        register_binary_vectors()
