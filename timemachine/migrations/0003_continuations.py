"""A replay can be a continuation, which records into a session of its own."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0002_undated_patterns")]
    operations = [
        migrations.AddField(
            model_name="replay",
            name="branch",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.DB_SET_NULL,
                related_name="+",
                to="timemachine.session",
            ),
        ),
        migrations.RemoveConstraint(model_name="replay", name="replay_kind_known"),
        migrations.AddConstraint(
            model_name="replay",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ("audit", "debug", "trial", "continue"))),
                name="replay_kind_known",
            ),
        ),
    ]
