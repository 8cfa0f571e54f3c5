-- The thresholds of autovacuum for each table, and how near each table is to them.
WITH setting AS (
  SELECT class.oid, class.relname AS table_name, greatest(class.reltuples, 0) AS row_count, (
    SELECT jsonb_object_agg(name, coalesce(own.option_value, current_setting(name))::float8)
    FROM unnest('{vacuum_threshold, vacuum_scale_factor, vacuum_insert_threshold,
                  vacuum_insert_scale_factor, analyze_threshold, analyze_scale_factor}'::text[]) AS short
    CROSS JOIN LATERAL (SELECT 'autovacuum_' || short AS name) AS long
    LEFT JOIN pg_options_to_table(class.reloptions) AS own ON own.option_name = name
  ) AS value
  FROM pg_class AS class
  WHERE class.relnamespace = 'conciliation'::regnamespace AND class.relkind = 'r'
), threshold AS (
  SELECT oid, table_name, row_count,
    (value ->> 'autovacuum_vacuum_threshold')::float8
      + (value ->> 'autovacuum_vacuum_scale_factor')::float8 * row_count AS vacuum_at,
    (value ->> 'autovacuum_vacuum_insert_threshold')::float8
      + (value ->> 'autovacuum_vacuum_insert_scale_factor')::float8 * row_count AS vacuum_insert_at,
    (value ->> 'autovacuum_analyze_threshold')::float8
      + (value ->> 'autovacuum_analyze_scale_factor')::float8 * row_count AS analyze_at
  FROM setting
)
SELECT table_name, row_count, vacuum_at, n_dead_tup, vacuum_insert_at, n_ins_since_vacuum,
       analyze_at, n_mod_since_analyze, last_autovacuum, last_autoanalyze
FROM threshold JOIN pg_stat_all_tables AS stat ON stat.relid = threshold.oid
ORDER BY row_count DESC, table_name;
