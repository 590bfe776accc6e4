package dev.kakehashi.pgwire.catalog;

import dev.kakehashi.pgwire.wire.WireConnection;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Parts of transactions that Citus has prepared on its nodes and not decided yet: a node was killed, or they are on their way. Citus
/// decides them by itself, within its `citus.recover_2pc_interval`.
public final class UndecidedParts {
  private static final long PAUSE_MILLIS = 50;

  /// Their names on the node that is asked.
  public static final String OF_NODE =
      "SELECT gid FROM pg_catalog.pg_prepared_xacts WHERE gid LIKE 'citus\\_%' AND database = pg_catalog.current_database()";

  /// Their names on all nodes; a null for a node that does not answer.
  public static final String OF_ALL_NODES =
      "SELECT g.gid FROM pg_catalog.run_command_on_all_nodes($$SELECT coalesce(pg_catalog.string_agg(gid, ','), '') FROM ("
          + OF_NODE
          + ") p$$) n CROSS JOIN LATERAL pg_catalog.unnest(CASE WHEN n.success"
          + " THEN pg_catalog.string_to_array(n.result, ',') ELSE ARRAY[NULL::text] END) AS g (gid)";

  /// Waits for them on all nodes, as rows of the view of waits. The connections of a node to others say whose they are.
  static final String WAITS =
      """

      UNION ALL SELECT pg_catalog.citus_pid_for_gpid((w.part ->> 'gpid')::int8)::int8, NULL, NULL, NULL, NULL, NULL, w.part ->> 'gid', NULL
      FROM pg_catalog.run_command_on_all_nodes($nodes$
        SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('gpid', pg_catalog.substring(a.application_name, 'gpid=([0-9]+)'), 'gid', x.gid)), '[]')
        FROM pg_catalog.pg_stat_activity a
        JOIN pg_catalog.pg_locks l ON l.pid = a.pid AND NOT l.granted
        JOIN pg_catalog.pg_prepared_xacts x ON x.transaction = l.transactionid
        WHERE a.application_name ~ 'gpid=[0-9]+' AND a.datname = pg_catalog.current_database()$nodes$) n
      CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(CASE WHEN n.success THEN n.result::jsonb ELSE '[]' END) AS w (part)\
      """;

  private UndecidedParts() {}

  /// Waits until those that are there now were decided. Later ones are of transactions that have begun later.
  ///
  /// @param question see [#OF_ALL_NODES]
  /// @param longest how long to wait
  /// @return whether they were; false also if a node does not say what it has
  public static boolean awaitDecided(WireConnection connection, String question, Duration longest) {
    long deadline = System.nanoTime() + longest.toNanos();
    Set<@Nullable String> open = names(connection, question);
    while (!open.isEmpty()) {
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      try {
        Thread.sleep(PAUSE_MILLIS); // Citus tells nobody when it has decided
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
      Set<@Nullable String> now = names(connection, question);
      if (open.contains(null) && !now.contains(null)) {
        open = now; // all nodes answer, for the first time
      } else {
        open.retainAll(now);
      }
    }
    return true;
  }

  private static Set<@Nullable String> names(WireConnection connection, String question) {
    Set<@Nullable String> names = new HashSet<>();
    for (List<@Nullable String> row : connection.query(question)) {
      names.add(row.getFirst());
    }
    names.remove("");
    return names;
  }
}
