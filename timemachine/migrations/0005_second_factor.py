"""Authenticator apps, passkeys and recovery codes, and projects that need a second factor."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0004_browser_sessions")]
    operations = [
        migrations.AddField(
            "Project", "needs_second_factor", models.BooleanField(db_default=False, default=False)
        ),
        migrations.CreateModel(
            name="SecondFactor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=10)),
                ("name", models.CharField(max_length=200)),
                ("secret", models.BinaryField()),
                ("credential_id", models.BinaryField(null=True, unique=True)),
                ("counter", models.BigIntegerField(default=0)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("last_used_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="second_factors",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "tm_second_factor",
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(kind="app", credential_id=None) | Q(kind="passkey", credential_id__isnull=False),
                        name="second_factor_kind",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RecoveryCode",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code_sha256", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="recovery_codes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"db_table": "tm_recovery_code"},
        ),
    ]
