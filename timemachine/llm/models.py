"""A project's model servers, its own provider keys, the log of their changes, and model tests."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.llm.addresses import LONGEST_URL
from timemachine.llm.pure.catalogue import LONGEST_NAME

LONGEST_SERVER_NAME = 40
KEY_SET, KEY_REPLACED, KEY_REMOVED = "key_set", "key_replaced", "key_removed"
SERVER_ADDED, SERVER_REMOVED = "server_added", "server_removed"
ACCESS_CHANGES = (KEY_SET, KEY_REPLACED, KEY_REMOVED, SERVER_ADDED, SERVER_REMOVED)


class ModelServer(models.Model):
    """An OpenAI-compatible server with a name in its project. Its key is stored encrypted and never shown again."""

    project = models.ForeignKey(
        "timemachine.Project", on_delete=models.DB_CASCADE, related_name="model_servers"
    )
    name = models.CharField(max_length=LONGEST_SERVER_NAME)
    base_url = models.CharField(max_length=LONGEST_URL)
    encrypted_key = models.BinaryField(null=True)
    default_model = models.CharField(max_length=LONGEST_NAME, null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.DB_SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_model_server"
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="model_server_name_once"),
            models.CheckConstraint(
                condition=Q(name__regex=r"^[a-z0-9]+(-[a-z0-9]+)*$"), name="model_server_name_slug"
            ),
        ]


class ProviderKey(models.Model):
    """A project's own key for a built-in provider, stored encrypted, never shown again, used before the environment's."""

    project = models.ForeignKey(
        "timemachine.Project", on_delete=models.DB_CASCADE, related_name="provider_keys"
    )
    provider = models.CharField(max_length=LONGEST_SERVER_NAME)
    encrypted_key = models.BinaryField()
    last_four = models.CharField(max_length=4, blank=True)
    default_model = models.CharField(max_length=LONGEST_NAME, null=True)
    set_by = models.CharField(max_length=254)
    set_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_provider_key"
        constraints = [models.UniqueConstraint(fields=["project", "provider"], name="provider_key_once")]


class ModelAccessChange(models.Model):
    """A change of the models that a project can call: keys set, replaced and removed, servers added and removed."""

    project = models.ForeignKey("timemachine.Project", on_delete=models.DB_CASCADE, related_name="+")
    subject = models.CharField(max_length=LONGEST_SERVER_NAME)
    change = models.CharField(max_length=20)
    last_four = models.CharField(max_length=4, blank=True)
    by = models.CharField(max_length=254)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "tm_model_access_change"
        constraints = [
            models.CheckConstraint(condition=Q(change__in=ACCESS_CHANGES), name="model_access_change_known")
        ]
        indexes = [models.Index(fields=["project", "-id"], name="model_access_change_newest")]


class ModelTrial(models.Model):
    """One small call to test a model. `ended_at` is None while it runs, or if its process was lost."""

    project = models.ForeignKey("timemachine.Project", on_delete=models.DB_CASCADE, related_name="+")
    model = models.CharField(max_length=LONGEST_NAME)
    by = models.CharField(max_length=254)
    started_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=60, null=True)
    words = models.TextField(blank=True)
    duration_ms = models.FloatField(null=True)
    input_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    cost_usd = models.DecimalField(max_digits=30, decimal_places=15, null=True)
    prices = models.JSONField(null=True)

    class Meta:
        db_table = "tm_model_trial"
        indexes = [models.Index(fields=["project", "-id"], name="model_trial_newest")]
