"""PGMQ, the queue in Postgres, from the SQL that its Python package carries; it installs once and refuses a second time."""

from pgmq.install import get_embedded_install_sql


def install_queue(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('pgmq.meta') IS NOT NULL")
        if not cursor.fetchone()[0]:
            cursor.execute(get_embedded_install_sql())
