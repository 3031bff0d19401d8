-- What the role of the application may do: read and write rows. It owns nothing, so it cannot change tables, disable
-- triggers or create anything.
--
-- `timemachine manage prepare` runs this as the owner after the migrations, with the role in `timemachine.application_role`.
-- Only what differs is granted again, so a start writes nothing.
--
-- Temporary tables and new functions could hide those that triggers name. Without the right to revoke something, PostgreSQL
-- only warns, so `timemachine.core.database_roles` looks at the result.

DO $$
DECLARE
    application CONSTANT regrole := quote_ident(current_setting('timemachine.application_role'))::regrole;
    each record;
BEGIN
    FOR each IN SELECT privilege FROM unnest(ARRAY['CREATE', 'TEMPORARY']) AS privilege LOOP
        IF has_database_privilege(application, current_database(), each.privilege) THEN
            EXECUTE format('REVOKE %s ON DATABASE %I FROM PUBLIC, %s', each.privilege, current_database(), application);
        END IF;
    END LOOP;
    FOR each IN SELECT nspname FROM pg_namespace WHERE nspname IN ('public', 'pgmq') LOOP
        IF has_schema_privilege(application, each.nspname, 'CREATE') THEN
            EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC, %s', each.nspname, application);
        END IF;
        IF NOT has_schema_privilege(application, each.nspname, 'USAGE') THEN
            EXECUTE format('GRANT USAGE ON SCHEMA %I TO %s', each.nspname, application);
        END IF;
    END LOOP;

    -- The application could not lock payloads without the right to change them; their trigger refuses changes.
    FOR each IN
        WITH refused AS (
            SELECT tgrelid, tgfoid = 'tm_refuse_always'::regproc AS always, tgtype & 8 > 0 AS deletion, tgtype & 16 > 0 AS change
            FROM pg_trigger WHERE tgfoid IN ('tm_refuse_change'::regproc, 'tm_refuse_always'::regproc) AND tgqual IS NULL
        ), wanted AS (
            SELECT c.oid, c.relacl, CASE
                WHEN c.relkind = 'S' THEN ARRAY['SELECT', 'USAGE']
                WHEN c.oid = 'django_migrations'::regclass THEN ARRAY['SELECT']
                ELSE array_remove(ARRAY[
                    CASE WHEN NOT EXISTS (SELECT FROM refused WHERE tgrelid = c.oid AND deletion AND always) THEN 'DELETE' END,
                    'INSERT',
                    'SELECT',
                    CASE WHEN c.oid = 'tm_payload'::regclass
                        OR NOT EXISTS (SELECT FROM refused WHERE tgrelid = c.oid AND change) THEN 'UPDATE' END
                ], NULL)
            END AS privileges
            FROM pg_class AS c
            WHERE c.relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'pgmq'))
            AND c.relkind IN ('r', 'p', 'S') AND pg_has_role(c.relowner, 'USAGE')
            AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e')
        )
        SELECT oid::regclass AS name, privileges FROM wanted
        WHERE privileges IS DISTINCT FROM (
            SELECT array_agg(privilege_type ORDER BY privilege_type) FROM aclexplode(relacl) WHERE grantee = application
        )
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s', each.name, application);
        EXECUTE format('GRANT %s ON %s TO %s', array_to_string(each.privileges, ', '), each.name, application);
    END LOOP;

    -- What runs as the owner is for the application alone.
    FOR each IN
        SELECT oid::regprocedure AS name FROM pg_proc
        WHERE prosecdef AND pronamespace = 'public'::regnamespace AND proname LIKE 'tm\_%'
    LOOP
        IF EXISTS (
            SELECT FROM pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner))) AS allowed
            WHERE pg_proc.oid = each.name AND allowed.grantee = 0
        ) THEN
            EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', each.name);
        END IF;
        IF NOT has_function_privilege(application, each.name::oid, 'EXECUTE') THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', each.name, application);
        END IF;
    END LOOP;
END $$;
