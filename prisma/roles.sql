-- The roles of the staging database. "conciliation migrate --roles" creates and updates them. Alternatively
-- an administrator runs this file with psql, as the owner of the schema. The file may run any number of
-- times; it revokes rights that are not listed here.
--
--   owner                      the user of "conciliation migrate"; the only user with DDL
--   conciliation_worker        the service and every other command: no DDL, and no right to delete history
--   conciliation_finance       reads the tables for the reconciliation
--   conciliation_erp           reads the feed, and maintains its suppliers in provider and its payables in erp_payable
--
-- The roles cannot log in. Grant them to users of your own:
--
--   CREATE ROLE service LOGIN PASSWORD '…' IN ROLE conciliation_worker;
--
-- Creating a role requires CREATEROLE. If the owner lacks it, as on many managed databases, an
-- administrator first creates the three roles with NOLOGIN.
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
        -- Roles belong to the whole server. The owner of another database has just created this one.
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
    conciliation._prisma_migrations, conciliation.audit_chain, conciliation.erased_party,
    conciliation.title_feed, conciliation.booking_feed, conciliation.title_payable, conciliation.payables_to_block
    FROM conciliation_worker;
  REVOKE UPDATE ON conciliation.title_revision, conciliation.title_change, conciliation.title_succession, conciliation.date_digest,
    conciliation.payment_hold, conciliation.audit_entry, conciliation.sign_off,
    conciliation.month_seal, conciliation.drift
    FROM conciliation_worker;
  REVOKE UPDATE ON conciliation.booking_batch, conciliation.booking_line, conciliation.booking_offer,
    conciliation.booking_receipt
    FROM conciliation_worker;
  GRANT UPDATE (state, state_at, document, failure, posted_hash) ON conciliation.booking_line TO conciliation_worker;
  GRANT UPDATE (outcome, settled_at, settled_by) ON conciliation.booking_receipt TO conciliation_worker;
  GRANT UPDATE (ended_at, ended_by, end_reason) ON conciliation.sign_off TO conciliation_worker;
  GRANT UPDATE (acknowledged_at, acknowledged_by, reason) ON conciliation.drift TO conciliation_worker;
  GRANT DELETE ON
    conciliation.staged_title, conciliation.staged_reject, conciliation.staged_base,
    conciliation.staged_missing, conciliation.staged_change, conciliation.staged_account,
    conciliation.console_session, conciliation.console_oidc_login, conciliation.sign_in_limit,
    conciliation.process_fault, conciliation.schedule_total, conciliation.payment_hold
    TO conciliation_worker;
  IF to_regnamespace('conciliation_queue') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA conciliation_queue TO conciliation_worker;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA conciliation_queue TO conciliation_worker;
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA conciliation_queue TO conciliation_worker;
  END IF;

  -- Finance. Without the users of the console, the contacts of suppliers, and the internal tables of the program.
  GRANT SELECT ON
    conciliation.title, conciliation.title_revision, conciliation.title_feed, conciliation.day,
    conciliation.title_change, conciliation.pull, conciliation.sweep, conciliation.sweep_difference,
    conciliation.checkpoint, conciliation.backfill,
    conciliation.rejected_title, conciliation.drift, conciliation.alert, conciliation.alert_delivery,
    conciliation.digest_delivery, conciliation.sign_off, conciliation.month_seal,
    conciliation.booking_start, conciliation.booking_batch, conciliation.booking_consumer, conciliation.booking_feed,
    conciliation.booking_line, conciliation.booking_offer, conciliation.booking_receipt,
    conciliation.title_succession, conciliation.payment_hold,
    conciliation.check_finding, conciliation.day_check, conciliation.day_buyer,
    conciliation.erp_payable, conciliation.erp_payable_import, conciliation.match_run,
    conciliation.title_match, conciliation.title_payable, conciliation.payables_to_block, conciliation.break_decision,
    conciliation.company_buyer, conciliation.party_equivalent,
    conciliation.account_change, conciliation.audit_entry, conciliation.audit_chain
    TO conciliation_finance;

  -- The ERP: the tables for its bookings, and its own suppliers. Only the service records the result of a push.
  GRANT SELECT ON conciliation.title_feed, conciliation.day, conciliation.checkpoint, conciliation.provider
    TO conciliation_erp;
  GRANT DELETE ON conciliation.provider TO conciliation_erp;
  GRANT SELECT ON conciliation.erp_payable, conciliation.erp_payable_import, conciliation.title_payable TO conciliation_erp;
  GRANT
    INSERT (erp_key, company, supplier_external_id, supplier_tax_id, document, instalment, order_uid,
            due_date, open_value, status, payee, version, settled_as, settled_by, settled_on, paid_to,
            total_value, currency, booking_key, issue_date),
    UPDATE (company, supplier_external_id, supplier_tax_id, document, instalment, order_uid,
            due_date, open_value, status, payee, version, settled_as, settled_by, settled_on, paid_to,
            total_value, currency, booking_key, issue_date)
    ON conciliation.erp_payable TO conciliation_erp;
  GRANT INSERT (kind) ON conciliation.erp_payable_import TO conciliation_erp;
  GRANT
    INSERT (external_id, type, identification_number, name, can_anticipate, phones, email_addresses,
            accounts, sync_state),
    UPDATE (external_id, type, identification_number, name, can_anticipate, phones, email_addresses,
            accounts, sync_state)
    ON conciliation.provider TO conciliation_erp;

  -- Bookings: the released lines of the user's own consumer, its position, and its receipts. Row-level
  -- security limits each user to the consumer whose database_role it is.
  GRANT SELECT ON conciliation.booking_feed, conciliation.booking_receipt, conciliation.payables_to_block
    TO conciliation_erp;
  GRANT SELECT, UPDATE (last_seq, acknowledged_at) ON conciliation.booking_consumer TO conciliation_erp;
  GRANT INSERT (consumer, idempotency_key, date, identity_hash, occurrence, version, content_hash, status,
                document, reason, is_final)
    ON conciliation.booking_receipt TO conciliation_erp;

  -- Readers of the feeds, and the step after a restore.
  GRANT EXECUTE ON FUNCTION
    conciliation.safe_position(text, bigint), conciliation.require_position(text, bigint),
    conciliation.booking_feed_after(bigint, integer), conciliation.title_feed_after(bigint, integer)
    TO conciliation_worker, conciliation_finance, conciliation_erp;
  GRANT EXECUTE ON FUNCTION conciliation.skip_numbers() TO conciliation_worker;

  FOR object IN
    SELECT policyname AS name, tablename AS relation FROM pg_policies
    WHERE schemaname = 'conciliation' AND tablename IN ('booking_consumer', 'booking_receipt')
  LOOP
    EXECUTE format('DROP POLICY %I ON conciliation.%I', object.name, object.relation);
  END LOOP;
  CREATE POLICY booking_consumer_service ON conciliation.booking_consumer
    TO conciliation_worker USING (true) WITH CHECK (true);
  CREATE POLICY booking_consumer_finance ON conciliation.booking_consumer
    FOR SELECT TO conciliation_finance USING (true);
  CREATE POLICY booking_consumer_own ON conciliation.booking_consumer
    TO conciliation_erp USING (database_role = CURRENT_USER) WITH CHECK (database_role = CURRENT_USER);
  CREATE POLICY booking_receipt_service ON conciliation.booking_receipt
    TO conciliation_worker USING (true) WITH CHECK (true);
  CREATE POLICY booking_receipt_finance ON conciliation.booking_receipt
    FOR SELECT TO conciliation_finance USING (true);
  -- The subquery sees the user's own row of booking_consumer only.
  CREATE POLICY booking_receipt_own ON conciliation.booking_receipt TO conciliation_erp
    USING (consumer = (SELECT name FROM conciliation.booking_consumer WHERE database_role = CURRENT_USER))
    WITH CHECK (consumer = (SELECT name FROM conciliation.booking_consumer WHERE database_role = CURRENT_USER));
END
$$;
