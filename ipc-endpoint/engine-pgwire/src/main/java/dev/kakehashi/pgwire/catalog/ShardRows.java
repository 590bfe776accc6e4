package dev.kakehashi.pgwire.catalog;

/// Estimated rows of tables that Citus spreads over nodes: the catalogue of the node that is asked has none. Each node is asked once for
/// all of its shards.
final class ShardRows {
  /// Makes the function. Its result is below 0 if a node is away, or no shard was analyzed.
  static final String DEFINITION =
      """
      CREATE OR REPLACE FUNCTION kakehashi_catalog.shard_rows(relation oid) RETURNS float4 LANGUAGE sql STABLE AS $function$
        SELECT coalesce(CASE WHEN pg_catalog.bool_and(n.success) THEN nullif(CASE
            -- Each node has all rows of a reference table.
            WHEN (SELECT p.repmodel = 't' FROM pg_catalog.pg_dist_partition p WHERE p.logicalrelid = relation)
              THEN pg_catalog.max(CASE WHEN n.success THEN n.result::float8 END)
            ELSE pg_catalog.sum(CASE WHEN n.success THEN n.result::float8 END) END, 0) END, -1)::float4
        FROM pg_catalog.run_command_on_all_nodes((
          SELECT pg_catalog.format($command$
              SELECT coalesce(pg_catalog.sum(c.reltuples) FILTER (WHERE c.reltuples > 0), 0)
              FROM pg_catalog.pg_dist_shard s
              JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(pg_catalog.shard_name(s.logicalrelid, s.shardid))
              WHERE s.logicalrelid = %L::pg_catalog.regclass$command$, pg_catalog.format('%I.%I', t.nspname, r.relname))
          FROM pg_catalog.pg_class r JOIN pg_catalog.pg_namespace t ON t.oid = r.relnamespace WHERE r.oid = relation)) n
      $function$\
      """;

  /// The same in a view, for the table `c` of the catalogue.
  static final String TUPLES =
      "CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_dist_partition d WHERE d.logicalrelid = c.oid)"
          + " THEN kakehashi_catalog.shard_rows(c.oid) ELSE c.reltuples END";

  private ShardRows() {}
}
