"""How rows are stored and indexed where Django has no words for it.

Weights lie in the row, not compressed: they are read for every frame of a collection. So do the vectors of steps. The index over the
time of a step is a BRIN one, which an append hardly notices: steps come in about the order of their times. The statistics tell the planner
how many steps lie in a span of time: it takes any for a two-hundredth, and then looks them up one by one.
"""

STORAGE = """
ALTER TABLE tm_frame_weights ALTER COLUMN weights SET STORAGE EXTERNAL;
ALTER TABLE tm_frame_weights SET (toast_tuple_target = 8160);
ALTER TABLE tm_term_count SET (fillfactor = 70);
ALTER TABLE tm_action_meaning ALTER COLUMN vector SET STORAGE PLAIN;
ALTER TABLE tm_action_sketch ALTER COLUMN vector SET STORAGE PLAIN;

CREATE INDEX tm_action_when ON tm_action USING brin ((coalesce(started_at, recorded_at)) timestamptz_minmax_multi_ops)
WITH (autosummarize = on);
CREATE STATISTICS tm_action_at ON (coalesce(started_at, recorded_at)) FROM tm_action;
"""
