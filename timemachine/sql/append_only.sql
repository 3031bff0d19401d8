-- Two ways of refusing changes to recorded data. Triggers on the append-only tables, in the other files, call these
-- functions.
--
-- The only way around tm_refuse_change is an erasure: with `SET LOCAL timemachine.erasing = 'on'`, rows can be deleted but
-- not changed in that transaction. With 'fields', some columns of recorded rows can change and sealed records can lose
-- salts, but nothing can be deleted. There is no way around tm_refuse_always.

CREATE FUNCTION tm_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('timemachine.erasing', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation', HINT = 'Only an erasure removes what was recorded.';
END $$;

CREATE FUNCTION tm_refuse_always() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation', HINT = 'The project log is kept even when what it describes is deleted.';
END $$;
