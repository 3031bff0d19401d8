"""The sketches of all steps that are indexed; whoever records or asks meanwhile waits for nothing."""

from django.db import migrations

FILL = """
INSERT INTO tm_action_sketch
    (action_id, project_id, session_id, sequence, at, vector, kind, significance, worth, agent, tags)
SELECT a.id, a.project_id, a.session_id, a.sequence, coalesce(a.started_at, a.recorded_at),
       l2_normalize(subvector(m.vector, 1, 64)), a.kind, a.significance,
       tm_importance(NULL, NULL, a.importance, a.significance, false), a.agent,
       CASE WHEN cardinality(a.tags) > 0 THEN a.tags END
FROM tm_searched_action w JOIN tm_action a ON a.id = w.action_id LEFT JOIN tm_action_meaning m ON m.action_id = w.action_id
ON CONFLICT (action_id) DO NOTHING;
"""


class Migration(migrations.Migration):
    dependencies = [("timemachine", "0073_sketch_of_every_step")]
    operations = [migrations.RunSQL(FILL, migrations.RunSQL.noop)]
