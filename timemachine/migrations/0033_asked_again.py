"""A step whose model is busy says why it waits, and until when."""

from django.db import migrations, models

import timemachine.payloads.fields


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0032_cancelled_by")]

    operations = [
        migrations.AddField(
            model_name="replaystep",
            name="asked_again_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="replaystep",
            name="waits_because",
            field=timemachine.payloads.fields.FaithfulTextField(null=True),
        ),
    ]
