-- The importance of a step: as annotated, otherwise as recorded; lower if its session is compressed.

CREATE FUNCTION tm_importance(
    annotated double precision,
    annotated_significance text,
    recorded double precision,
    recorded_significance text,
    compressed boolean
) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT CASE
    WHEN annotated IS NOT NULL THEN annotated
    WHEN compressed
        AND coalesce(coalesce(annotated_significance, recorded_significance) NOT IN ('decision', 'solution', 'breakthrough'), true)
        THEN least(0.30, CASE WHEN annotated_significance IS NULL THEN recorded END)
    ELSE coalesce(
        CASE annotated_significance WHEN 'normal' THEN 0.72 WHEN 'hypothesis' THEN 0.75 WHEN 'error' THEN 0.80
            WHEN 'decision' THEN 0.92 WHEN 'solution' THEN 0.95 WHEN 'breakthrough' THEN 0.97 END,
        recorded,
        CASE recorded_significance WHEN 'normal' THEN 0.72 WHEN 'hypothesis' THEN 0.75 WHEN 'error' THEN 0.80
            WHEN 'decision' THEN 0.92 WHEN 'solution' THEN 0.95 WHEN 'breakthrough' THEN 0.97 END
    )
END
$$;
