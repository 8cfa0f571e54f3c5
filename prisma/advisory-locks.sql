-- Takes the right to advisory locks from every login of this database except the service and the owner. The queue
-- on PostgreSQL uses advisory locks, and PostgreSQL lets every login take any of them, without a limit. So a login
-- that may only read could stop the queue. With REDIS_URL the queue needs no such lock.
--
-- Takes the right to make large objects from every login as well. The program uses none, and a login that may only
-- read could fill the disk with them.
--
-- "conciliation migrate --roles" runs this file if its user is a superuser. Otherwise a superuser runs the file
-- with psql, in the database of the program. The file may run any number of times. Other programs in the same
-- database that use advisory locks need a GRANT as below.

-- First, because the owner of the database could have made functions with the names that are called below.
SET search_path = pg_catalog, pg_temp;

DO $$
DECLARE
  function regprocedure;
  grantee regrole;
BEGIN
  FOR function IN
    SELECT oid FROM pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^pg_(try_)?advisory_'
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', function);
    FOR grantee IN
      SELECT to_regrole('conciliation_worker') WHERE to_regrole('conciliation_worker') IS NOT NULL
      UNION SELECT nspowner FROM pg_namespace WHERE nspname = 'conciliation'
      UNION SELECT datdba FROM pg_database WHERE datname = current_database()
    LOOP
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', function, grantee);
    END LOOP;
  END LOOP;
END
$$;

REVOKE EXECUTE ON FUNCTION lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea), lo_put(oid, bigint, bytea)
  FROM PUBLIC;
