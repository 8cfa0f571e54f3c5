-- A function that runs with its owner's rights must not be callable by any other role. PostgreSQL grants
-- EXECUTE on new functions to PUBLIC, and any role that may execute a trigger function may attach it to
-- a table of its own. The row type of such a table can have a cast to conciliation.audit_entry, whose
-- function then runs as the owner.
--
-- PostgreSQL checks EXECUTE when a trigger is created, not when it fires: inserts by other roles are
-- still linked.

REVOKE EXECUTE ON FUNCTION conciliation.link_audit_entry() FROM PUBLIC;

CREATE OR REPLACE FUNCTION conciliation.link_audit_entry() RETURNS trigger
-- As its owner, so that no other role needs a right to write links.
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  place bigint;
  head text;
BEGIN
  -- NEW of another table could have a cast that runs code of the table's owner.
  IF TG_RELID <> 'conciliation.audit_entry'::regclass THEN
    RAISE EXCEPTION 'link_audit_entry is a trigger of conciliation.audit_entry only'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
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
