"""Forwarding of audit logs: since when a destination fails, and only the two destinations that exist."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0010_provider_identity_once")]
    operations = [
        migrations.AddField(
            model_name="auditforwarding",
            name="failing_since",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddConstraint(
            model_name="auditforwarding",
            constraint=models.CheckConstraint(
                condition=Q(destination__in=["webhook", "syslog"]),
                name="audit_forwarding_to_a_known_destination",
            ),
        ),
    ]
