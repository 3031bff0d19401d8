-- The application drops the index of a deleted collection, which only the owner of the tables may do.

CREATE FUNCTION public.tm_drop_nearest_index(index_name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF index_name !~ '^tm_nearest_[0-9a-f]{16}$' THEN
        RAISE EXCEPTION '% is no index of a collection', index_name USING ERRCODE = 'insufficient_privilege';
    END IF;
    EXECUTE format('DROP INDEX IF EXISTS public.%I', index_name);
END $$;

-- Otherwise a temporary table named tm_held_session would hide the holds.
ALTER FUNCTION tm_refuse_held(uuid, text) SET search_path = pg_catalog, public, pg_temp;
