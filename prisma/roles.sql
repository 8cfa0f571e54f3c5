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

-- First, because other users could have made functions with the names that are called below.
SET search_path = pg_catalog, pg_temp;

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

  BEGIN
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
  EXCEPTION WHEN insufficient_privilege OR invalid_schema_name THEN
    -- "conciliation migrate --roles" names the statement for a superuser.
    NULL;
  END;

  -- Temporary tables let a login attach code to a type of its own. Only the service makes any.
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());

  -- The service. It reads every table, and writes what a statement of the program writes: a test compares the two.
  EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO conciliation_worker', current_database());
  GRANT SELECT ON ALL TABLES IN SCHEMA conciliation TO conciliation_worker;
  GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA conciliation TO conciliation_worker;
  GRANT INSERT ON
    conciliation.account_change, conciliation.alert, conciliation.api_key,
    conciliation.audit_entry, conciliation.backfill, conciliation.booking_batch, conciliation.booking_consumer,
    conciliation.booking_line, conciliation.booking_offer, conciliation.booking_position,
    conciliation.booking_receipt, conciliation.booking_start, conciliation.break_decision,
    conciliation.check_finding, conciliation.checkpoint, conciliation.closed_day, conciliation.company_buyer,
    conciliation.console_session, conciliation.console_user, conciliation.date_digest,
    conciliation.day, conciliation.day_buyer, conciliation.day_check, conciliation.drift,
    conciliation.erp_balance, conciliation.erp_break, conciliation.erp_payable, conciliation.erp_payable_import, conciliation.erp_payable_reject,
    conciliation.holiday,
    conciliation.match_run, conciliation.matching_rule, conciliation.message_delivery, conciliation.month_seal, conciliation.party_account, conciliation.party_equivalent,
    conciliation.payment_hold, conciliation.process_fault, conciliation.promoted_field, conciliation.provider, conciliation.provider_batch,
    conciliation.pull, conciliation.rejected_title, conciliation.schedule_total, conciliation.sign_in_limit,
    conciliation.sign_off, conciliation.staged_account, conciliation.staged_base, conciliation.staged_change,
    conciliation.staged_missing, conciliation.staged_reject, conciliation.staged_title, conciliation.sweep,
    conciliation.sweep_difference, conciliation.title, conciliation.title_change, conciliation.title_check,
    conciliation.title_finding, conciliation.title_match, conciliation.title_revision,
    conciliation.title_succession
    TO conciliation_worker;
  GRANT DELETE ON
    conciliation.closed_day, conciliation.console_session, conciliation.erp_break,
    conciliation.process_fault,
    conciliation.schedule_total, conciliation.sign_in_limit, conciliation.staged_account,
    conciliation.staged_base, conciliation.staged_change, conciliation.staged_missing,
    conciliation.staged_reject, conciliation.staged_title
    TO conciliation_worker;
  -- Of program_lock the service locks rows, for which PostgreSQL asks the right to update a column.
  GRANT UPDATE (decided_at, decided_by, reason, state) ON conciliation.account_change TO conciliation_worker;
  GRANT UPDATE (announce_at, date, message, message_pt, pull_id, resolved_at)
    ON conciliation.alert TO conciliation_worker;
  GRANT UPDATE (last_used_at, revoked_at, revoked_by) ON conciliation.api_key TO conciliation_worker;
  GRANT UPDATE (finished_at, state) ON conciliation.backfill TO conciliation_worker;
  GRANT UPDATE (api_key_id, buyers, database_role) ON conciliation.booking_consumer TO conciliation_worker;
  GRANT UPDATE (accounting_basis, accounting_date, document, failure, failure_kind, posted_hash, state, state_at)
    ON conciliation.booking_line TO conciliation_worker;
  GRANT UPDATE (acknowledged_at, last_seq) ON conciliation.booking_position TO conciliation_worker;
  GRANT UPDATE (outcome, settled_at, settled_by) ON conciliation.booking_receipt TO conciliation_worker;
  GRANT UPDATE (bookings_from, stored_at) ON conciliation.booking_start TO conciliation_worker;
  GRANT UPDATE (closed_at, detail, id, reason, resolved_at, resolved_by, severity, version)
    ON conciliation.check_finding TO conciliation_worker;
  GRANT UPDATE (last_reconciled_date, pause_reason, paused_at, paused_by, pull_id, start_date, updated_at)
    ON conciliation.checkpoint TO conciliation_worker;
  GRANT UPDATE (business_day) ON conciliation.closed_day TO conciliation_worker;
  GRANT UPDATE (ended_at, ended_by) ON conciliation.company_buyer TO conciliation_worker;
  GRANT UPDATE (last_seen_at) ON conciliation.console_session TO conciliation_worker;
  GRANT UPDATE (decides_from, disabled_at, email, last_login_at, link_expires_at, link_hash, oidc_issuer, oidc_subject,
    password_hash, role, totp_secret, totp_step)
    ON conciliation.console_user TO conciliation_worker;
  GRANT UPDATE (billing_fee_sum, buyer_discounted_value_sum, changed_at, content_digest, date,
    financial_discounted_value_sum, fold_count, fold_sum, held_pull_id, last_pull_id, latest_due_date,
    money_transfer_fee_sum, original_value_sum, platform_discounted_value_sum, rejected_count,
    signed_off_at, signed_off_by, signed_off_digest, state, title_count, verified_at, withdrawn_count)
    ON conciliation.day TO conciliation_worker;
  GRANT UPDATE (original_value_sum, titles) ON conciliation.day_buyer TO conciliation_worker;
  GRANT UPDATE (checked_at, content_digest, rules) ON conciliation.day_check TO conciliation_worker;
  GRANT UPDATE (names, acknowledged_at, acknowledged_by, reason) ON conciliation.drift TO conciliation_worker;
  GRANT UPDATE (booking_key, closed_at, company, currency, document, due_date, import_id, instalment, issue_date,
    open_value, order_uid, paid_to, payee, settled_as, settled_by, settled_on, stated_at, status,
    supplier_external_id, supplier_tax_id, total_value, version)
    ON conciliation.erp_payable TO conciliation_worker;
  GRANT UPDATE (changed, closed, downgraded, ended_at, incomparable, inserted, is_complete, outdated, rejected,
    unchanged)
    ON conciliation.erp_payable_import TO conciliation_worker;
  GRANT UPDATE (ended_at, ended_by) ON conciliation.holiday TO conciliation_worker;
  GRANT UPDATE (agreed, breaks_known, matched, reopened, unmapped_companies) ON conciliation.match_run TO conciliation_worker;
  GRANT UPDATE (attempts, delivered_at, delivered_message, deliveries, next_attempt_at, slot_at)
    ON conciliation.message_delivery TO conciliation_worker;
  GRANT UPDATE (last_accepted_date, last_seen_at, tax_id) ON conciliation.party_account TO conciliation_worker;
  GRANT UPDATE (ended_at, ended_by) ON conciliation.party_equivalent TO conciliation_worker;
  GRANT UPDATE (seen_at) ON conciliation.process_fault TO conciliation_worker;
  GRANT UPDATE (name) ON conciliation.program_lock TO conciliation_worker;
  GRANT UPDATE (accounts, can_anticipate, contested_by, email_addresses, identification_number, last_error, name,
    phones, sent_tax_ids, sync_state, synced_at, synced_hash, type)
    ON conciliation.provider TO conciliation_worker;
  GRANT UPDATE (answer, error_code, finished_at, http_status, next_attempt_at)
    ON conciliation.provider_batch TO conciliation_worker;
  GRANT UPDATE (attempts, changed, date_was_closed, decided_at, decided_by, error_code, error_message,
    fence, fetch_started_at, finished_at, fold_count, fold_sum, hold_detail, hold_reason, http_status, inserted,
    next_attempt_at, reason, rejected, response_bytes, restored, run_ended_at, state, titles, unchanged,
    withdrawn, withheld)
    ON conciliation.pull TO conciliation_worker;
  GRANT UPDATE (decided_at, decided_by, last_pull_id, ordinal, reason, status)
    ON conciliation.rejected_title TO conciliation_worker;
  GRANT UPDATE (tries) ON conciliation.sign_in_limit TO conciliation_worker;
  GRANT UPDATE (end_reason, ended_at, ended_by) ON conciliation.sign_off TO conciliation_worker;
  GRANT UPDATE (account_hash, normal_form) ON conciliation.staged_account TO conciliation_worker;
  GRANT UPDATE (raw) ON conciliation.staged_reject TO conciliation_worker;
  GRANT UPDATE (erased_at, extra, financial_agent_identification, financial_agent_name, payment_account,
    payment_account_digit, payment_agency, payment_agency_digit, payment_bank, provider_account,
    provider_account_digit, provider_agency, provider_agency_digit, provider_bank, provider_external_id,
    provider_identification)
    ON conciliation.staged_title TO conciliation_worker;
  GRANT UPDATE (pull_id) ON conciliation.sweep_difference TO conciliation_worker;
  GRANT UPDATE (accepted_date, anticipated_due_date, billing_fee, buyer_discounted_value, buyer_identification,
    buyer_is_financial, changed_at, content_hash, erased_at, extra, financial_agent_identification,
    financial_agent_name, financial_agent_type, financial_discounted_value, identity_hash, last_change_pull_id,
    money_transfer_fee, order_uid, original_value, payment_account, payment_account_digit, payment_agency,
    payment_agency_digit, payment_bank, payment_type, platform_commission, platform_discounted_value,
    provider_account, provider_account_digit, provider_agency, provider_agency_digit, provider_bank,
    provider_external_id, provider_identification, raw_hash, status)
    ON conciliation.title TO conciliation_worker;
  GRANT UPDATE (checked_at) ON conciliation.title_check TO conciliation_worker;
  GRANT UPDATE (acknowledged_at, acknowledged_by, closed_at, reason)
    ON conciliation.title_finding TO conciliation_worker;
  GRANT UPDATE (end_reason, ended_at, ended_by) ON conciliation.title_match TO conciliation_worker;
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
    conciliation.rejected_title, conciliation.drift, conciliation.alert, conciliation.message_delivery,
    conciliation.sign_off, conciliation.month_seal,
    conciliation.booking_start, conciliation.booking_batch, conciliation.booking_consumer, conciliation.booking_position,
    conciliation.booking_feed, conciliation.booking_line, conciliation.booking_offer, conciliation.booking_receipt,
    conciliation.title_succession, conciliation.payment_hold, conciliation.promoted_field,
    conciliation.check_finding, conciliation.day_check, conciliation.day_buyer,
    conciliation.erp_balance, conciliation.erp_payable, conciliation.erp_payable_import, conciliation.match_run,
    conciliation.title_match, conciliation.title_payable, conciliation.payables_to_block, conciliation.erp_break,
    conciliation.break_decision, conciliation.break_resolution,
    conciliation.company_buyer, conciliation.party_equivalent, conciliation.matching_rule, conciliation.holiday, conciliation.closed_day,
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
  GRANT INSERT (company, agent, as_of, balance) ON conciliation.erp_balance TO conciliation_erp;
  GRANT
    INSERT (external_id, type, identification_number, name, can_anticipate, phones, email_addresses,
            accounts, sync_state),
    UPDATE (external_id, type, identification_number, name, can_anticipate, phones, email_addresses,
            accounts, sync_state)
    ON conciliation.provider TO conciliation_erp;

  -- Bookings: the released lines of the user's own consumer, its position, and its receipts. Row-level
  -- security limits each user to the consumer whose database_role it is.
  GRANT SELECT ON conciliation.booking_consumer, conciliation.booking_feed, conciliation.booking_receipt,
    conciliation.payables_to_block
    TO conciliation_erp;
  GRANT SELECT, UPDATE (last_seq, acknowledged_at) ON conciliation.booking_position TO conciliation_erp;
  GRANT INSERT (consumer, idempotency_key, date, identity_hash, occurrence, version, content_hash, status,
                document, reason, failure_kind, accounting_date, is_final)
    ON conciliation.booking_receipt TO conciliation_erp;

  -- Readers of the feeds, and the step after a restore.
  GRANT EXECUTE ON FUNCTION
    conciliation.safe_position(text, bigint), conciliation.require_position(text, bigint),
    conciliation.booking_feed_after(bigint, integer), conciliation.title_feed_after(bigint, integer)
    TO conciliation_worker, conciliation_finance, conciliation_erp;
  GRANT EXECUTE ON FUNCTION conciliation.skip_numbers() TO conciliation_worker;

  FOR object IN
    SELECT policyname AS name, tablename AS relation FROM pg_policies
    WHERE schemaname = 'conciliation' AND tablename IN ('booking_consumer', 'booking_position', 'booking_receipt')
  LOOP
    EXECUTE format('DROP POLICY %I ON conciliation.%I', object.name, object.relation);
  END LOOP;
  CREATE POLICY booking_consumer_service ON conciliation.booking_consumer
    TO conciliation_worker USING (true) WITH CHECK (true);
  CREATE POLICY booking_consumer_finance ON conciliation.booking_consumer
    FOR SELECT TO conciliation_finance USING (true);
  CREATE POLICY booking_consumer_own ON conciliation.booking_consumer
    FOR SELECT TO conciliation_erp USING (database_role = CURRENT_USER);
  CREATE POLICY booking_position_service ON conciliation.booking_position
    TO conciliation_worker USING (true) WITH CHECK (true);
  CREATE POLICY booking_position_finance ON conciliation.booking_position
    FOR SELECT TO conciliation_finance USING (true);
  -- The subquery sees the user's own row of booking_consumer only.
  CREATE POLICY booking_position_own ON conciliation.booking_position TO conciliation_erp
    USING (consumer = (SELECT name FROM conciliation.booking_consumer WHERE database_role = CURRENT_USER));
  CREATE POLICY booking_receipt_service ON conciliation.booking_receipt
    TO conciliation_worker USING (true) WITH CHECK (true);
  CREATE POLICY booking_receipt_finance ON conciliation.booking_receipt
    FOR SELECT TO conciliation_finance USING (true);
  CREATE POLICY booking_receipt_own ON conciliation.booking_receipt TO conciliation_erp
    USING (consumer = (SELECT name FROM conciliation.booking_consumer WHERE database_role = CURRENT_USER))
    WITH CHECK (consumer = (SELECT name FROM conciliation.booking_consumer WHERE database_role = CURRENT_USER));
END
$$;
