-- Matches of one title with several payables, or of several titles with one payable.

ALTER TABLE conciliation.title_match
  ADD COLUMN sum_id     bigint,
  ADD COLUMN title_part smallint NOT NULL DEFAULT 0,
  ADD COLUMN erp_part   smallint NOT NULL DEFAULT 0,
  DROP CONSTRAINT title_match_rule_check,
  ADD CONSTRAINT title_match_rule_check CHECK (rule IN ('order', 'exact', 'tolerance', 'sum', 'person')),
  ADD CONSTRAINT title_match_sum_check CHECK ((rule = 'sum') = (sum_id IS NOT NULL)),
  -- One side of a sum is one title or one payable.
  ADD CONSTRAINT title_match_part_check
    CHECK (title_part BETWEEN 0 AND 4 AND erp_part BETWEEN 0 AND 4
           AND (title_part = 0 OR erp_part = 0) AND (sum_id IS NOT NULL OR title_part + erp_part = 0));

-- Every match has a row with part 0 of each of its titles and payables, so nothing is in two matches.
DROP INDEX conciliation.title_match_title_key;
DROP INDEX conciliation.title_match_payable_key;
CREATE UNIQUE INDEX title_match_title_key
  ON conciliation.title_match (title_id, title_part) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX title_match_payable_key
  ON conciliation.title_match (erp_key, erp_part) WHERE ended_at IS NULL;
CREATE INDEX title_match_sum_idx ON conciliation.title_match (sum_id) WHERE sum_id IS NOT NULL;

-- Finds the branches of a company by the root of their CNPJ.
CREATE INDEX erp_payable_root_idx ON conciliation.erp_payable (left(supplier_tax_id, 8), due_date);

COMMENT ON TABLE conciliation.title_match IS
  'Every match of a title with a payable of the ERP. A match of several payables or titles has a row for each of them, with one sum_id. A title and a payable have one match at most that has not ended.';
COMMENT ON COLUMN conciliation.title_match.rule IS
  'order: the order and the value. exact: supplier, value and due date. tolerance: supplier, value, and a due date within the tolerance. sum: supplier, due date and the sum of the values. person: a person made the match.';
COMMENT ON COLUMN conciliation.title_match.sum_id IS
  'The number that the rows of one sum share. Null: one title and one payable.';
COMMENT ON COLUMN conciliation.title_match.title_part IS
  'The place of the payable among those of the title, from 0. 0 where the title has one.';
COMMENT ON COLUMN conciliation.title_match.erp_part IS
  'The place of the title among those of the payable, from 0. 0 where the payable has one.';
COMMENT ON VIEW conciliation.title_payable IS
  'The payables that each matched title has. A title or a payable of a sum has several rows.';
