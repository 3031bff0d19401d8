"""Indexes that others are the beginning of go, without holding up who records meanwhile."""

import django.db.models.deletion
from django.db import migrations, models

INDEXES = {
    "tm_action_session_id_99176bfd": "tm_action (session_id)",
    "tm_hit_action_id_74a0fea9": "tm_hit (action_id)",
    "tm_payload_project_id_3e323248": "tm_payload (project_id)",
}


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("timemachine", "0071_deleted_turns_say_so")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
                    f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {of}",
                )
                for name, of in INDEXES.items()
            ],
            state_operations=[
                migrations.AlterField(
                    model_name="action",
                    name="session",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="actions",
                        to="timemachine.session",
                    ),
                ),
                migrations.AlterField(
                    model_name="hit",
                    name="action",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="hits",
                        to="timemachine.action",
                    ),
                ),
                migrations.AlterField(
                    model_name="payload",
                    name="project",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="timemachine.project",
                    ),
                ),
            ],
        )
    ]
