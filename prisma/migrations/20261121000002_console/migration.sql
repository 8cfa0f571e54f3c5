-- The console: signing days off, and who may do what in it.


-- Sign-off -------------------------------------------------------------------------------------

CREATE TABLE conciliation.sign_off (
  id                             bigserial   PRIMARY KEY,
  date                           date        NOT NULL,
  signed_off_at                  timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  signed_off_by                  text        NOT NULL,
  reason                         text,
  fence                          bigint      NOT NULL,
  content_digest                 text        NOT NULL,
  title_count                    integer     NOT NULL,
  withdrawn_count                integer     NOT NULL,
  rejected_count                 integer     NOT NULL,
  original_value_sum             numeric     NOT NULL,
  platform_discounted_value_sum  numeric     NOT NULL,
  financial_discounted_value_sum numeric     NOT NULL,
  buyer_discounted_value_sum     numeric     NOT NULL,
  billing_fee_sum                numeric     NOT NULL,
  money_transfer_fee_sum         numeric     NOT NULL,
  ended_at                       timestamptz,
  ended_by                       text,
  end_reason                     text,

  CONSTRAINT sign_off_ended_check CHECK ((ended_at IS NULL) = (ended_by IS NULL))
);

CREATE INDEX sign_off_date_idx ON conciliation.sign_off (date, id);

COMMENT ON TABLE conciliation.sign_off IS
  'Every seal that finance put on a date: what the date held when it was signed off. A seal is never changed; it ends when the date is reopened or signed off anew, so at most one of a date has no end. day.signed_off_at, signed_off_by and signed_off_digest are those of the one that lasts.';
COMMENT ON COLUMN conciliation.sign_off.id IS
  'Key of the seal.';
COMMENT ON COLUMN conciliation.sign_off.date IS
  'The accepted date that was signed off.';
COMMENT ON COLUMN conciliation.sign_off.signed_off_at IS
  'When it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.signed_off_by IS
  'Who signed it off. Personal data.';
COMMENT ON COLUMN conciliation.sign_off.reason IS
  'What that person noted. Null: nothing.';
COMMENT ON COLUMN conciliation.sign_off.fence IS
  'pull.fence of the newest fetch merged into the date when it was signed off: whatever a pull with a greater fence changed in the date was changed after the seal.';
COMMENT ON COLUMN conciliation.sign_off.content_digest IS
  'day.content_digest when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.title_count IS
  'day.title_count when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.withdrawn_count IS
  'day.withdrawn_count when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.rejected_count IS
  'day.rejected_count when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.original_value_sum IS
  'day.original_value_sum when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.platform_discounted_value_sum IS
  'day.platform_discounted_value_sum when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.financial_discounted_value_sum IS
  'day.financial_discounted_value_sum when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.buyer_discounted_value_sum IS
  'day.buyer_discounted_value_sum when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.billing_fee_sum IS
  'day.billing_fee_sum when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.money_transfer_fee_sum IS
  'day.money_transfer_fee_sum when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.ended_at IS
  'When the date was reopened or signed off anew. Null: the seal lasts.';
COMMENT ON COLUMN conciliation.sign_off.ended_by IS
  'Who did that. Null: the seal lasts. Personal data.';
COMMENT ON COLUMN conciliation.sign_off.end_reason IS
  'Why, in that person''s words. Null: the seal lasts, or it was signed off anew.';


CREATE FUNCTION conciliation.keep_seal() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
     AND to_jsonb(OLD) - '{ended_at,ended_by,end_reason}'::text[]
       = to_jsonb(NEW) - '{ended_at,ended_by,end_reason}'::text[] THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '%.% can only be ended, so % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'restrict_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME;
END
$$;

COMMENT ON FUNCTION conciliation.keep_seal() IS
  'Trigger of sign_off: what was sealed stays as it was sealed; a seal ends once.';

CREATE TRIGGER sign_off_kept
  BEFORE UPDATE OR DELETE ON conciliation.sign_off
  FOR EACH ROW EXECUTE FUNCTION conciliation.keep_seal();

CREATE TRIGGER sign_off_not_truncated
  BEFORE TRUNCATE ON conciliation.sign_off
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE INDEX audit_entry_actor_idx ON conciliation.audit_entry (actor, id);


-- Access ---------------------------------------------------------------------------------------

CREATE TABLE conciliation.console_user (
  id            bigserial   PRIMARY KEY,
  name          text        NOT NULL,
  role          text        NOT NULL,
  password_hash text,
  created_at    timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  created_by    text        NOT NULL,
  last_login_at timestamptz,
  disabled_at   timestamptz,

  CONSTRAINT console_user_role_check CHECK (role IN ('viewer', 'reviewer', 'operator', 'admin')),
  CONSTRAINT console_user_name_check CHECK (name = lower(name) AND name <> '')
);

CREATE UNIQUE INDEX console_user_name_key ON conciliation.console_user (name);

COMMENT ON TABLE conciliation.console_user IS
  'People who may sign in to the console. Nobody is there until "conciliation user add" adds them.';
COMMENT ON COLUMN conciliation.console_user.id IS
  'Key of the user.';
COMMENT ON COLUMN conciliation.console_user.name IS
  'Name to sign in with, in lower case; stands in audit_entry.actor and wherever a person decided. Personal data.';
COMMENT ON COLUMN conciliation.console_user.role IS
  'viewer: reads, tax identifiers and accounts masked. reviewer: also signs off and accepts rejects. operator: also pulls, backfills and releases. admin: everything, users and keys included.';
COMMENT ON COLUMN conciliation.console_user.password_hash IS
  'Argon2id in PHC format. Null: the person has not chosen a password yet.';
COMMENT ON COLUMN conciliation.console_user.created_at IS
  'When the user was added.';
COMMENT ON COLUMN conciliation.console_user.created_by IS
  'Who added it. Personal data.';
COMMENT ON COLUMN conciliation.console_user.last_login_at IS
  'When the person signed in last. Null: never.';
COMMENT ON COLUMN conciliation.console_user.disabled_at IS
  'Since when the person may not sign in. Null: may.';


CREATE TABLE conciliation.console_session (
  token_hash   text        PRIMARY KEY,
  user_id      bigint      NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  last_seen_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at   timestamptz NOT NULL,

  CONSTRAINT console_session_user_id_fkey FOREIGN KEY (user_id)
    REFERENCES conciliation.console_user (id) ON DELETE NO ACTION ON UPDATE NO ACTION
);

CREATE INDEX console_session_user_idx ON conciliation.console_session (user_id);

COMMENT ON TABLE conciliation.console_session IS
  'For the program only: who is signed in to the console. A row is deleted when the person signs out.';
COMMENT ON COLUMN conciliation.console_session.token_hash IS
  'SHA-256 of the cookie''s value, in hexadecimal.';
COMMENT ON COLUMN conciliation.console_session.user_id IS
  'console_user.id of the person.';
COMMENT ON COLUMN conciliation.console_session.created_at IS
  'When the person signed in.';
COMMENT ON COLUMN conciliation.console_session.last_seen_at IS
  'When the session was last used, to the minute.';
COMMENT ON COLUMN conciliation.console_session.expires_at IS
  'When it ends however much it is used.';


CREATE TABLE conciliation.console_link (
  token_hash text        PRIMARY KEY,
  user_id    bigint      NOT NULL,
  purpose    text        NOT NULL,
  created_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at timestamptz NOT NULL,
  used_at    timestamptz,

  CONSTRAINT console_link_user_id_fkey FOREIGN KEY (user_id)
    REFERENCES conciliation.console_user (id) ON DELETE NO ACTION ON UPDATE NO ACTION,
  CONSTRAINT console_link_purpose_check CHECK (purpose IN ('password', 'sign_in'))
);

CREATE INDEX console_link_user_idx ON conciliation.console_link (user_id);

COMMENT ON TABLE conciliation.console_link IS
  'For the program only: links that work once, for a person without a password.';
COMMENT ON COLUMN conciliation.console_link.token_hash IS
  'SHA-256 of the token in the link, in hexadecimal.';
COMMENT ON COLUMN conciliation.console_link.user_id IS
  'console_user.id of the person it is for.';
COMMENT ON COLUMN conciliation.console_link.purpose IS
  'password: to choose a password. sign_in: to be signed in, as the demo does.';
COMMENT ON COLUMN conciliation.console_link.created_at IS
  'When it was made.';
COMMENT ON COLUMN conciliation.console_link.expires_at IS
  'Until when it works.';
COMMENT ON COLUMN conciliation.console_link.used_at IS
  'When it was used, or replaced by a newer one; it works no more. Null: not yet.';


CREATE TABLE conciliation.api_key (
  id           bigserial   PRIMARY KEY,
  name         text        NOT NULL,
  key_hash     text        NOT NULL,
  key_start    text        NOT NULL,
  role         text        NOT NULL,
  scopes       text[]      NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  created_by   text        NOT NULL,
  expires_at   timestamptz NOT NULL,
  last_used_at timestamptz,
  revoked_at   timestamptz,
  revoked_by   text,

  CONSTRAINT api_key_role_check CHECK (role IN ('viewer', 'reviewer', 'operator')),
  CONSTRAINT api_key_revoked_check CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);

CREATE UNIQUE INDEX api_key_key_hash_key ON conciliation.api_key (key_hash);

COMMENT ON TABLE conciliation.api_key IS
  'Keys with which scripts use /api. The keys themselves are kept nowhere.';
COMMENT ON COLUMN conciliation.api_key.id IS
  'Key of the row.';
COMMENT ON COLUMN conciliation.api_key.name IS
  'What it is for, in the words of who made it; stands in audit_entry.actor.';
COMMENT ON COLUMN conciliation.api_key.key_hash IS
  'SHA-256 of the key, in hexadecimal.';
COMMENT ON COLUMN conciliation.api_key.key_start IS
  'Its first characters, to be told apart by.';
COMMENT ON COLUMN conciliation.api_key.role IS
  'As console_user.role: a key can do no more than a person of that role.';
COMMENT ON COLUMN conciliation.api_key.scopes IS
  'Of what the role may do, what the key is for: read, export, decide, pull.';
COMMENT ON COLUMN conciliation.api_key.created_at IS
  'When it was made.';
COMMENT ON COLUMN conciliation.api_key.created_by IS
  'Who made it. Personal data.';
COMMENT ON COLUMN conciliation.api_key.expires_at IS
  'Until when it works.';
COMMENT ON COLUMN conciliation.api_key.last_used_at IS
  'When it was last used, to the minute. Null: never.';
COMMENT ON COLUMN conciliation.api_key.revoked_at IS
  'Since when it works no more. Null: it was not revoked.';
COMMENT ON COLUMN conciliation.api_key.revoked_by IS
  'Who revoked it. Null: it was not revoked. Personal data.';
