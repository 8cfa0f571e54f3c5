-- Second part. Run while the service and the readers are stopped. Existing titles stay in place as the first partition.
DO $$
DECLARE
  item record;
  table_name text;
  year int;
  feed text := pg_get_viewdef('conciliation.title_feed');
  description text := obj_description('conciliation.title'::regclass, 'pg_class');
  options text := (SELECT array_to_string(reloptions, ', ') FROM pg_class
                   WHERE oid = 'conciliation.title'::regclass);
BEGIN
  FOR item IN
    SELECT conrelid::regclass AS referring, conname FROM pg_constraint
    WHERE contype = 'f' AND confrelid = 'conciliation.title'::regclass
  LOOP
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', item.referring, item.conname);
  END LOOP;
  ALTER TABLE conciliation.title DROP CONSTRAINT title_pkey;
  ALTER TABLE conciliation.title RENAME TO title_old;
  ALTER TABLE conciliation.title_old
    ADD CONSTRAINT title_old_pkey PRIMARY KEY USING INDEX title_old_pkey;

  CREATE TABLE conciliation.title (
    LIKE conciliation.title_old
    INCLUDING COMMENTS INCLUDING CONSTRAINTS INCLUDING DEFAULTS INCLUDING STORAGE
  ) PARTITION BY RANGE (accepted_date);
  ALTER TABLE conciliation.title DROP CONSTRAINT title_old_check;
  ALTER TABLE conciliation.title ADD CONSTRAINT title_pkey PRIMARY KEY (accepted_date, id);
  EXECUTE format('COMMENT ON TABLE conciliation.title IS %L', description);
  FOR item IN
    SELECT attname, pg_get_serial_sequence('conciliation.title_old', attname) AS sequence
    FROM pg_attribute
    WHERE attrelid = 'conciliation.title_old'::regclass AND attnum > 0 AND NOT attisdropped
      AND pg_get_serial_sequence('conciliation.title_old', attname) IS NOT NULL
  LOOP
    EXECUTE format('ALTER SEQUENCE %s OWNED BY conciliation.title.%I', item.sequence, item.attname);
  END LOOP;

  -- The same indexes, over all partitions; those of the old table become a part of them.
  FOR item IN
    SELECT class.relname, pg_get_indexdef(index.indexrelid) AS definition, index.indisunique
             AND NOT (index.indkey::int2[] && ARRAY[attribute.attnum]) AS loses_uniqueness
    FROM pg_index AS index
    JOIN pg_class AS class ON class.oid = index.indexrelid
    JOIN pg_attribute AS attribute
      ON attribute.attrelid = index.indrelid AND attribute.attname = 'accepted_date'
    WHERE index.indrelid = 'conciliation.title_old'::regclass AND NOT index.indisprimary
  LOOP
    EXECUTE format('ALTER INDEX conciliation.%I RENAME TO %I', item.relname, 'old_' || item.relname);
    item.definition := replace(item.definition, 'conciliation.title_old ', 'conciliation.title ');
    IF item.loses_uniqueness THEN
      item.definition := replace(item.definition, 'CREATE UNIQUE INDEX', 'CREATE INDEX');
    END IF;
    EXECUTE item.definition;
  END LOOP;

  ALTER TABLE conciliation.title ATTACH PARTITION conciliation.title_old
    FOR VALUES FROM (MINVALUE) TO ('2027-01-01');
  ALTER TABLE conciliation.title_old DROP CONSTRAINT title_old_check;
  -- Ten years, the last of them without an end.
  FOR year IN 2027..2036 LOOP
    table_name := 'title_' || year;
    EXECUTE format(
      'CREATE TABLE conciliation.%I PARTITION OF conciliation.title FOR VALUES FROM (%L) TO (%s) WITH (%s)',
      table_name, year || '-01-01',
      CASE year WHEN 2036 THEN 'MAXVALUE' ELSE quote_literal(year + 1 || '-01-01') END, options);
  END LOOP;

  -- A trigger for statements is not inherited: a partition can be named directly.
  FOR item IN
    SELECT pg_get_triggerdef(trigger.oid) AS definition, target
    FROM pg_trigger AS trigger
    CROSS JOIN (SELECT 'title' AS target
                UNION ALL SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid
                WHERE inhparent = 'conciliation.title'::regclass AND relname <> 'title_old') AS tables
    WHERE trigger.tgrelid = 'conciliation.title_old'::regclass AND NOT trigger.tgisinternal
  LOOP
    EXECUTE replace(item.definition, ' ON conciliation.title_old ',
                    format(' ON conciliation.%I ', item.target));
  END LOOP;
  EXECUTE 'CREATE OR REPLACE VIEW conciliation.title_feed AS ' || feed;
END
$$;
-- The statistics of the whole table. Autovacuum computes only those of the partitions.
ANALYZE conciliation.title;
