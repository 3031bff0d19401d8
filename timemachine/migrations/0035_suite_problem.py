"""A suite keeps why a run that was due could not be started."""

from django.db import migrations

import timemachine.payloads.fields


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0034_suite_run_cancelled_by")]

    operations = [
        migrations.AddField(
            model_name="suite",
            name="problem",
            field=timemachine.payloads.fields.FaithfulTextField(null=True),
        ),
    ]
