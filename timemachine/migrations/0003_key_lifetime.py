"""The longest lifetime that a project allows its new API keys. Existing keys stay as they are."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0002_sign_in_failures")]
    operations = [
        migrations.AddField("Project", "longest_key_days", models.PositiveIntegerField(null=True)),
        migrations.AddConstraint(
            "Project",
            models.CheckConstraint(condition=Q(longest_key_days__gt=0), name="project_longest_key_days"),
        ),
    ]
