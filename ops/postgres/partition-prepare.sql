-- Partitions title by year of accepted_date, first part: docs/operating.md has the steps. Run while the service runs, as
-- the owner of the schema. 2027 is the first year with its own partition: all existing titles have to be older.
ALTER TABLE conciliation.title
  ADD CONSTRAINT title_old_check CHECK (accepted_date < '2027-01-01') NOT VALID;
ALTER TABLE conciliation.title VALIDATE CONSTRAINT title_old_check;
CREATE UNIQUE INDEX CONCURRENTLY title_old_pkey ON conciliation.title (accepted_date, id);
CREATE INDEX CONCURRENTLY title_id_idx ON conciliation.title (id);
