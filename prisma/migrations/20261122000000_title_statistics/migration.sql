-- How many dates ANALYZE is to find in `title`, whatever it sees. A backfill doubles the dates within
-- seconds; with the statistics of a minute ago, when there were ten, each date seems to be a tenth of a
-- table that has become large, and every merge reads all of it to look one date up. With too many dates
-- a lookup only seems smaller than it is, and goes by the index, as it should.
ALTER TABLE conciliation.title ALTER COLUMN accepted_date SET (n_distinct = 1000);
