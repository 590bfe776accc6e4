package dev.kakehashi.pgwire.catalog;

/// Statistics of columns of tables that Citus spreads over nodes: each shard has its own, and the table has none. Each node is asked once
/// for all of its shards.
///
/// Null fractions, widths and frequencies are means, weighted by the rows of the shards. The histogram is that of the longest shard. Values
/// of the column of distribution are in one shard each, so their numbers are added. Values of other columns are in any shard: from `d`
/// different ones among `r` rows the number of all is what would show `d` of them to `r` rows that choose by chance.
public final class ShardStatistics {
  /// Makes a function of the answers of nodes: an array of objects, one for each column of each shard.
  public static final String COMBINATION =
      """
      CREATE OR REPLACE FUNCTION kakehashi_catalog.shards_combined(answers jsonb, distributed_by text)
      RETURNS TABLE (attname text, tuples float8, null_frac float8, avg_width int4, n_distinct float8, common_vals text, common_freqs text, histogram text)
      LANGUAGE sql IMMUTABLE AS $function$
        WITH s AS MATERIALIZED (
          -- Each node has all rows of a reference table.
          SELECT DISTINCT ON (s.shard, s.attname) s.*, CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * s.tuples ELSE s.n_distinct END AS distinct_values
          FROM pg_catalog.jsonb_to_recordset(answers) AS s (shard int8, attname text, tuples float8, null_frac float8, avg_width float8, n_distinct float8,
            common_vals text, common_freqs float8[], histogram text)
          WHERE s.tuples > 0 ORDER BY s.shard, s.attname),
        c AS (
          SELECT s.attname, pg_catalog.sum(s.tuples) AS tuples, pg_catalog.sum(s.null_frac * s.tuples) / pg_catalog.sum(s.tuples) AS null_frac,
            pg_catalog.sum(s.avg_width * s.tuples) / pg_catalog.sum(s.tuples) AS avg_width, pg_catalog.sum(s.distinct_values) AS all_values,
            pg_catalog.avg(s.distinct_values) AS d, greatest(1, pg_catalog.avg(s.tuples * (1 - s.null_frac))) AS r,
            (pg_catalog.array_agg(s.histogram ORDER BY s.tuples DESC) FILTER (WHERE s.histogram IS NOT NULL))[1] AS histogram
          FROM s GROUP BY s.attname),
        v AS (
          SELECT s.attname, u.value, pg_catalog.sum(u.frequency * s.tuples) AS many, pg_catalog.row_number() OVER (PARTITION BY s.attname ORDER BY pg_catalog.sum(u.frequency * s.tuples) DESC, u.value) AS place
          FROM s CROSS JOIN LATERAL unnest(s.common_vals::text[], s.common_freqs) AS u (value, frequency)
          WHERE pg_catalog.array_ndims(s.common_vals::text[]) = 1 GROUP BY s.attname, u.value),
        m AS (
          SELECT v.attname, pg_catalog.array_agg(v.value ORDER BY v.place) AS vals, pg_catalog.array_agg((v.many / c.tuples)::float4 ORDER BY v.place) AS freqs
          FROM v JOIN c ON c.attname = v.attname WHERE v.place <= 100 GROUP BY v.attname)
        SELECT c.attname, c.tuples, c.null_frac, pg_catalog.round(c.avg_width)::int4, CASE WHEN n.all_values > 0.1 * c.tuples THEN -n.all_values / c.tuples ELSE pg_catalog.round(n.all_values) END,
          m.vals::text, m.freqs::text, c.histogram
        FROM c LEFT JOIN m ON m.attname = c.attname
        CROSS JOIN LATERAL (
          WITH RECURSIVE i (k, guess) AS (
            SELECT 0, greatest(1, c.d)
            UNION ALL SELECT i.k + 1, least(c.all_values, c.d / (1 - pg_catalog.exp(-least(500, c.r / i.guess)))) FROM i WHERE i.k < 40)
          SELECT CASE WHEN c.attname = distributed_by OR c.d >= 0.95 * c.r THEN c.all_values ELSE (SELECT i.guess FROM i ORDER BY i.k DESC LIMIT 1) END AS all_values) n
      $function$\
      """;

  /// Makes the function that asks the nodes. It has no rows if one of them is away.
  ///
  /// The names of the shards are an array, by which the view of statistics finds them in an index. A join would read those of all shards of
  /// all tables, half a second on each node.
  static final String DEFINITION =
      """
      CREATE OR REPLACE FUNCTION kakehashi_catalog.shard_statistics(relation oid)
      RETURNS TABLE (attname text, tuples float8, null_frac float8, avg_width int4, n_distinct float8, common_vals text, common_freqs text, histogram text)
      LANGUAGE sql STABLE AS $function$
        SELECT c.* FROM (
          SELECT pg_catalog.jsonb_agg(a.each) FILTER (WHERE a.each IS NOT NULL) AS answers, pg_catalog.bool_and(n.success) AS complete
          FROM pg_catalog.run_command_on_all_nodes((
            SELECT pg_catalog.format($command$
                WITH shards AS MATERIALIZED (
                  SELECT s.shardid AS shard, n.nspname, c.relname, c.reltuples AS tuples
                  FROM pg_catalog.pg_dist_shard s
                  JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(pg_catalog.shard_name(s.logicalrelid, s.shardid))
                  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                  WHERE s.logicalrelid = %L::pg_catalog.regclass)
                SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.to_jsonb(x)), '[]') FROM (
                  SELECT s.shard, t.attname, s.tuples, t.null_frac, t.avg_width, t.n_distinct,
                    t.most_common_vals::text AS common_vals, t.most_common_freqs AS common_freqs, t.histogram_bounds::text AS histogram
                  FROM pg_catalog.pg_stats t
                  JOIN shards s ON s.nspname = t.schemaname AND s.relname = t.tablename
                  WHERE t.tablename = ANY (ARRAY(SELECT relname FROM shards)) AND NOT t.inherited) x$command$, pg_catalog.format('%I.%I', t.nspname, r.relname))
            FROM pg_catalog.pg_class r JOIN pg_catalog.pg_namespace t ON t.oid = r.relnamespace WHERE r.oid = relation)) n
          LEFT JOIN LATERAL pg_catalog.jsonb_array_elements(CASE WHEN n.success THEN n.result::jsonb END) AS a (each) ON true) all_nodes
        CROSS JOIN LATERAL kakehashi_catalog.shards_combined(all_nodes.answers, (
          SELECT pg_catalog.column_to_column_name(p.logicalrelid, p.partkey) FROM pg_catalog.pg_dist_partition p WHERE p.logicalrelid = relation)) c
        WHERE all_nodes.complete AND all_nodes.answers IS NOT NULL
      $function$\
      """;

  /// More rows for the view. A join with its columns would call the function for each of them.
  static final String ROWS =
      """

      UNION ALL SELECT r.table_schema, r.table_name, s.attname, (SELECT c.type_oid FROM kakehashi_catalog.columns c
        WHERE c.table_schema = r.table_schema AND c.table_name = r.table_name AND c.column_name = s.attname), s.tuples, NULL::int8, NULL::timestamptz, s.null_frac, s.avg_width, s.n_distinct,
        s.common_vals, s.common_freqs, s.histogram
      FROM kakehashi_catalog.relations r
      JOIN pg_catalog.pg_dist_partition p ON p.logicalrelid = r.relation
      CROSS JOIN LATERAL kakehashi_catalog.shard_statistics(r.relation) s\
      """;

  private ShardStatistics() {}
}
