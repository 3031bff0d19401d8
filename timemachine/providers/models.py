"""What we keep of providers: the model servers that administrators added to their projects."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from timemachine.providers.addresses import LONGEST_URL
from timemachine.providers.catalogue import LONGEST_NAME

LONGEST_SERVER_NAME = 40


class ModelServer(models.Model):
    """An OpenAI-compatible server under a name of its project's own. Its key is kept encrypted and never shown again."""

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

    def __str__(self) -> str:
        return f"{self.name} at {self.base_url}"
