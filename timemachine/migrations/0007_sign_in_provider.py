"""People who sign in with an OpenID Connect provider, and the memberships that its groups give."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0006_workers")]
    operations = [
        migrations.AddField("Membership", "from_provider", models.BooleanField(db_default=False, default=False)),
        migrations.CreateModel(
            name="ProviderIdentity",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("issuer", models.CharField(max_length=500)),
                ("subject", models.CharField(max_length=255)),
                ("created_at", models.DateTimeField(db_default=Now())),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="provider_identities",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "tm_provider_identity",
                "constraints": [models.UniqueConstraint(fields=["issuer", "subject"], name="provider_identity_once")],
            },
        ),
    ]
