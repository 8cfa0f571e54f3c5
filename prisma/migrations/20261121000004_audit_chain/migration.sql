-- The audit log's chain ---------------------------------------------------------------------------

-- Apart from the entries, because an entry is linked when its transaction commits. By then the
-- transaction has every other lock that it wants, so waiting for the chain's can neither deadlock nor
-- last longer than a commit; and no process can stop while it holds that lock.

CREATE TABLE conciliation.audit_chain (
  position      bigint PRIMARY KEY,
  entry_id      bigint NOT NULL,
  previous_hash text   NOT NULL,
  hash          text   NOT NULL
);

CREATE UNIQUE INDEX audit_chain_entry_id_key ON conciliation.audit_chain (entry_id);
-- No link has two successors, whoever writes.
CREATE UNIQUE INDEX audit_chain_previous_hash_key ON conciliation.audit_chain (previous_hash);

COMMENT ON TABLE conciliation.audit_chain IS
  'One link for each audit_entry, in the order of their commits. Each hash covers the entry and the hash before it, so an entry that was changed, removed, put in or moved shows: "conciliation audit verify" looks. Append-only; written by a trigger alone.';
COMMENT ON COLUMN conciliation.audit_chain.position IS
  'Place in the chain, from 1 without a gap.';
COMMENT ON COLUMN conciliation.audit_chain.entry_id IS
  'audit_entry.id of the entry.';
COMMENT ON COLUMN conciliation.audit_chain.previous_hash IS
  'hash of the link before; 64 zeros for the first.';
COMMENT ON COLUMN conciliation.audit_chain.hash IS
  'SHA-256 in hexadecimal, as the function audit_entry_hash makes it.';


CREATE FUNCTION conciliation.audit_entry_hash(
  place bigint, previous_hash text, entry conciliation.audit_entry
) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  -- Each value with its length before it, so that no two entries have the same text.
  SELECT encode(sha256(convert_to(
    string_agg(coalesce(octet_length(convert_to(value, 'UTF8')) || ':' || value, '-'), E'\n' ORDER BY nr),
    'UTF8')), 'hex')
  FROM unnest(ARRAY[
    place::text, previous_hash, entry.id::text,
    to_char(entry.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'),
    entry.actor, entry.action, to_char(entry.date, 'YYYY-MM-DD'), entry.pull_id::text, entry.reason,
    entry.details::text
  ]) WITH ORDINALITY AS field (value, nr)
$$;

COMMENT ON FUNCTION conciliation.audit_entry_hash(bigint, text, conciliation.audit_entry) IS
  'Hash of an audit_entry at its place in the chain. The verifier computes it again without this function.';


CREATE FUNCTION conciliation.link_audit_entry() RETURNS trigger
-- As its owner, so that no other role needs a right to write links.
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  place bigint;
  head text;
BEGIN
  -- Not a lock of the table: a vacuum that cannot be interrupted would keep every commit waiting.
  PERFORM pg_advisory_xact_lock(7201604313);
  -- A statement of its own, so that it sees what was committed while the lock was waited for.
  SELECT position, hash INTO place, head
  FROM conciliation.audit_chain ORDER BY position DESC LIMIT 1;
  place := coalesce(place, 0) + 1;
  head := coalesce(head, repeat('0', 64));
  INSERT INTO conciliation.audit_chain (position, entry_id, previous_hash, hash)
  VALUES (place, NEW.id, head, conciliation.audit_entry_hash(place, head, NEW));
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION conciliation.link_audit_entry() IS
  'Trigger of audit_entry: puts a new entry at the end of the chain, one transaction after another.';

CREATE CONSTRAINT TRIGGER audit_entry_linked
  AFTER INSERT ON conciliation.audit_entry
  DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION conciliation.link_audit_entry();

CREATE TRIGGER audit_chain_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.audit_chain
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

-- Entries of before the chain, in the order in which they were made.
DO $$
DECLARE
  entry conciliation.audit_entry;
  place bigint := 0;
  head text := repeat('0', 64);
  next text;
BEGIN
  FOR entry IN SELECT * FROM conciliation.audit_entry ORDER BY id LOOP
    place := place + 1;
    next := conciliation.audit_entry_hash(place, head, entry);
    INSERT INTO conciliation.audit_chain (position, entry_id, previous_hash, hash)
    VALUES (place, entry.id, head, next);
    head := next;
  END LOOP;
END
$$;


-- Nothing is deleted: a title that vanished is withdrawn.
CREATE TRIGGER title_kept
  BEFORE DELETE OR TRUNCATE ON conciliation.title
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();
