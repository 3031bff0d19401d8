"""Reactions to signals of Django: people who sign out."""

from typing import Any

from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver

from timemachine.core.accounts.commands.recording import record_of_person
from timemachine.core.accounts.models import User


@receiver(user_logged_out)
def record_sign_out(user: User | None, **_: Any) -> None:
    """Record a sign-out; nothing if no person was signed in."""
    if user is not None:
        record_of_person(user, "person.signed_out")
