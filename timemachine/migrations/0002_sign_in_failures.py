"""Failed sign-ins: counts by keyed hash instead of a row for each, with its e-mail and IP address."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0001_initial")]
    operations = [
        migrations.DeleteModel(name="SignInAttempt"),
        migrations.CreateModel(
            name="SignInFailures",
            fields=[
                ("subject", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("count", models.FloatField()),
                ("last_at", models.DateTimeField()),
            ],
            options={
                "db_table": "tm_sign_in_failures",
                "indexes": [models.Index(fields=["last_at"], name="sign_in_failures_last")],
            },
        ),
    ]
