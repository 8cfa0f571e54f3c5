-- Roles of the staging database, set up and kept by "conciliation migrate --roles"; an administrator
-- may run this file by itself instead, with psql, as the user who owns the schema. It may run again and
-- again: rights that are not listed here are taken away.
--
--   owner                      whoever runs "conciliation migrate": the only one with DDL
--   conciliation_worker        the service and every other command: no DDL, and history only grows
--   conciliation_finance       reads what finance reconciles with
--   conciliation_erp           reads the feed, and maintains its suppliers in provider
--
-- The roles cannot log in; make users of your own members of them:
--
--   CREATE ROLE service LOGIN PASSWORD '…' IN ROLE conciliation_worker;
--
-- Making a role takes CREATEROLE. Where the owner has not got it, as on many managed databases, an
-- administrator makes the three roles first, NOLOGIN, and this finds them there.
DO $$
DECLARE
  role text;
  object record;
BEGIN
  FOREACH role IN ARRAY ARRAY['conciliation_worker', 'conciliation_finance', 'conciliation_erp'] LOOP
    IF to_regrole(role) IS NULL THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', role);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        -- Roles belong to the whole server, and another database's owner was faster.
        NULL;
      END;
    END IF;
  END LOOP;

  REVOKE ALL ON ALL TABLES IN SCHEMA conciliation
    FROM conciliation_worker, conciliation_finance, conciliation_erp;
  -- Rights on columns outlive those on their table.
  FOR object IN
    SELECT format('%I.%I', table_schema, table_name) AS name, grantee, privilege_type AS privilege,
           string_agg(quote_ident(column_name), ', ') AS columns
    FROM information_schema.column_privileges
    WHERE table_schema = 'conciliation'
      AND grantee IN ('conciliation_worker', 'conciliation_finance', 'conciliation_erp')
    GROUP BY table_schema, table_name, grantee, privilege_type
  LOOP
    EXECUTE format('REVOKE %s (%s) ON %s FROM %I', object.privilege, object.columns, object.name, object.grantee);
  END LOOP;
  GRANT USAGE ON SCHEMA conciliation TO conciliation_worker, conciliation_finance, conciliation_erp;

  -- Temporary tables let a login attach code to a type of its own. Only the service makes any.
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());

  -- The service. A table of a later version is included: it can be read and written, not deleted from.
  EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO conciliation_worker', current_database());
  GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA conciliation TO conciliation_worker;
  GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA conciliation TO conciliation_worker;
  REVOKE INSERT, UPDATE ON
    conciliation._prisma_migrations, conciliation.audit_chain, conciliation.erased_party
    FROM conciliation_worker;
  REVOKE UPDATE ON conciliation.title_revision, conciliation.title_change, conciliation.audit_entry, conciliation.sign_off,
    conciliation.drift
    FROM conciliation_worker;
  GRANT UPDATE (ended_at, ended_by, end_reason) ON conciliation.sign_off TO conciliation_worker;
  GRANT UPDATE (acknowledged_at, acknowledged_by, reason) ON conciliation.drift TO conciliation_worker;
  GRANT DELETE ON
    conciliation.staged_title, conciliation.staged_reject, conciliation.staged_base,
    conciliation.staged_missing, conciliation.staged_change, conciliation.staged_account,
    conciliation.console_session, conciliation.console_oidc_login, conciliation.process_fault
    TO conciliation_worker;
  IF to_regnamespace('conciliation_queue') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA conciliation_queue TO conciliation_worker;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA conciliation_queue TO conciliation_worker;
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA conciliation_queue TO conciliation_worker;
  END IF;

  -- Finance: neither who may sign in to the console, nor suppliers' contacts, nor the program's own tables.
  GRANT SELECT ON
    conciliation.title, conciliation.title_revision, conciliation.title_feed, conciliation.day,
    conciliation.title_change, conciliation.pull, conciliation.sweep, conciliation.sweep_difference,
    conciliation.checkpoint, conciliation.backfill,
    conciliation.rejected_title, conciliation.drift, conciliation.alert, conciliation.sign_off,
    conciliation.account_change, conciliation.audit_entry, conciliation.audit_chain
    TO conciliation_finance;

  -- The ERP: what it books from, and its own suppliers. What became of a supplier is the service's to say.
  GRANT SELECT ON conciliation.title_feed, conciliation.day, conciliation.checkpoint, conciliation.provider
    TO conciliation_erp;
  GRANT DELETE ON conciliation.provider TO conciliation_erp;
  GRANT
    INSERT (external_id, type, identification_number, name, can_anticipate, phones, email_addresses,
            accounts, sync_state),
    UPDATE (external_id, type, identification_number, name, can_anticipate, phones, email_addresses,
            accounts, sync_state)
    ON conciliation.provider TO conciliation_erp;
END
$$;
