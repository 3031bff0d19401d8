from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Coalesce


class Migration(migrations.Migration):
    dependencies = [
        ("timemachine", "0002_session_step_times"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="session", name="session_newest_first"),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                F("project"),
                Coalesce("first_step_at", "started_at").desc(),
                F("id").desc(),
                name="session_newest_first",
            ),
        ),
        migrations.AddIndex(
            model_name="action",
            index=models.Index(
                fields=["session", "sequence"],
                condition=Q(cost_usd=None)
                & (Q(model__isnull=False) | Q(input_tokens__gt=0) | Q(output_tokens__gt=0)),
                name="action_unpriced",
            ),
        ),
        migrations.AlterField(model_name="usage", name="day", field=models.DateField(null=True)),
        migrations.AlterField(model_name="actionindexrow", name="at", field=models.DateTimeField(null=True)),
    ]
