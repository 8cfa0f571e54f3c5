-- The logins of docker-compose.yml. The image of PostgreSQL runs this file when it makes a new database. The file
-- may run any number of times; after a password in secrets/ was replaced, run it again:
--
--   docker compose exec postgres psql -h /run/postgresql -U postgres -d conciliation -f /docker-entrypoint-initdb.d/logins.sql
--
--   postgres   the superuser; its password is in the container of PostgreSQL alone
--   migrator   owns the database: the services "migrate"
--   worker     every process of the service
--   finance    an analyst
--   erp        the ERP
--
-- prisma/roles.sql grants the rights, as "migrator", who can create no role. So the roles are created here.
\set ON_ERROR_STOP on
\set migrator_password `cat /run/secrets/migrator-password`
\set worker_password `cat /run/secrets/worker-password`
\set finance_password `cat /run/secrets/finance-password`
\set erp_password `cat /run/secrets/erp-password`

-- First, because "migrator" could have made functions with the names that are called below.
SET search_path = pg_catalog, pg_temp;

-- A statement that fails or takes long is not logged with its password.
SET log_min_error_statement = panic;
SET log_min_duration_statement = -1;
SET log_statement = none;
-- A second run repeats the grants.
SET client_min_messages = warning;

SELECT format('CREATE ROLE %I', role)
FROM unnest(ARRAY['conciliation_worker', 'conciliation_finance', 'conciliation_erp',
                  'migrator', 'worker', 'finance', 'erp']) AS role
WHERE to_regrole(role) IS NULL
\gexec

ALTER ROLE migrator LOGIN PASSWORD :'migrator_password';
ALTER ROLE worker LOGIN PASSWORD :'worker_password';
-- The server has 100 connections. These limits leave most of them to the service.
ALTER ROLE finance LOGIN CONNECTION LIMIT 20 PASSWORD :'finance_password';
ALTER ROLE erp LOGIN CONNECTION LIMIT 20 PASSWORD :'erp_password';

GRANT conciliation_worker TO worker;
GRANT conciliation_finance TO finance;
GRANT conciliation_erp TO erp;
ALTER DATABASE conciliation OWNER TO migrator;
-- The logins need no other database of the server. There they could fill the disk with temporary tables.
REVOKE CONNECT, TEMPORARY ON DATABASE postgres, template1 FROM PUBLIC;
