from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """A replay may be the trial of one step."""

    dependencies = [("timemachine", "0021_side_by_side")]

    operations = [
        migrations.RemoveConstraint(model_name="replay", name="replay_kind_known"),
        migrations.AddConstraint(
            model_name="replay",
            constraint=models.CheckConstraint(
                condition=Q(kind__in=("audit", "debug", "trial")), name="replay_kind_known"
            ),
        ),
    ]
