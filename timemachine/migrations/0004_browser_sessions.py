"""Sessions of browsers in a table of their own. Django's own table goes: everyone signs in again once."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0003_key_lifetime")]
    operations = [
        migrations.CreateModel(
            name="BrowserSession",
            fields=[
                ("session_key", models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name="session key")),
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
                ("signed_in_at", models.DateTimeField(null=True)),
                ("seen_at", models.DateTimeField()),
                ("device", models.CharField(max_length=60)),
                ("network", models.CharField(max_length=50)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="browsers",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "tm_browser_session",
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(user=None, signed_in_at=None) | Q(user__isnull=False, signed_in_at__isnull=False),
                        name="browser_session_signed_in",
                    ),
                ],
            },
        ),
        migrations.RunSQL("DROP TABLE IF EXISTS django_session"),
    ]
