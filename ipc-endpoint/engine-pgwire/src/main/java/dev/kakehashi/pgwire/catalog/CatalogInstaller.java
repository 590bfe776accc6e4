package dev.kakehashi.pgwire.catalog;

import dev.kakehashi.pgwire.wire.WireConnection;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.protocol.capability.Computation;
import dev.kakehashi.protocol.capability.StoredType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Makes the schema `kakehashi_catalog` in the database: views that show the server's catalogue as the endpoint's clients read it, and the
/// table of outcomes.
///
/// It is made once, and again by an endpoint of another version.
public final class CatalogInstaller {
  /// Two endpoints must not do it at the same time.
  private static final long LOCK = 0x6B616B6568617368L;

  private static final Pattern VIEW = Pattern.compile("(?m)^VIEW (\\w+)( EMPTY)?\\n");

  /// Citus defines on all nodes what is defined on one, but not views over the catalogue.
  private static final String ON_THIS_NODE = "SET LOCAL citus.enable_ddl_propagation = off;";

  /// In place of comments that users have not made.
  private static final String SPREAD =
      """

      UNION ALL SELECT CASE WHEN k.attnum IS NULL THEN 'table' ELSE 'column' END, r.table_schema, r.table_name, k.attname::text,
        CASE WHEN k.attnum IS NULL THEN 'all rows are on each node' ELSE 'rows are spread by this column' END, NULL
      FROM kakehashi_catalog.relations r
      JOIN pg_catalog.pg_dist_partition p ON p.logicalrelid = r.relation
      LEFT JOIN pg_catalog.pg_attribute k ON k.attrelid = r.relation AND p.partmethod <> 'n'
        AND k.attname = pg_catalog.column_to_column_name(p.logicalrelid, p.partkey)
      WHERE (k.attnum IS NOT NULL OR p.repmodel = 't') AND NOT EXISTS (SELECT FROM pg_catalog.pg_description d
        WHERE d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objoid = r.relation AND d.objsubid = coalesce(k.attnum, 0))\
      """;

  /// Citus cannot join all tables, and says so when it plans. The extension looks for this setting.
  private static final String REFUSES =
      " UNION ALL SELECT 'queries_refused', 'on', 'on', 'default', false, false, NULL";

  private static final String OF_SHARDS =
      String.join(
          ";", ShardRows.DEFINITION, ShardStatistics.COMBINATION, ShardStatistics.DEFINITION, "");

  private final WireConnection connection;
  private final boolean sharded;

  /// @param connection at rest, to a server that takes writes. Each node of Citus has views of its own
  /// @param sharded whether the server has Citus
  public CatalogInstaller(WireConnection connection, boolean sharded) {
    this.connection = connection;
    this.sharded = sharded;
  }

  /// A view, or a table that is empty.
  private record Shown(String name, String query) {}

  /// Makes what there is not.
  ///
  /// @param capabilities what the view of that name shows
  /// @throws dev.kakehashi.pgwire.wire.ServerError when the user may not
  public void install(Capabilities capabilities) {
    String text =
        resource()
                .replace("{tuples}", sharded ? ShardRows.TUPLES : "c.reltuples")
                .replace("{shard_statistics}", sharded ? ShardStatistics.ROWS : "")
                .replace("{waits}", sharded ? UndecidedParts.WAITS : "")
                .replace("{comments}", sharded ? SPREAD : "")
                .replace("{settings}", sharded ? REFUSES : "")
            + "\nVIEW capabilities\n"
            + shown(capabilities);
    String version =
        "Kakehashi " + digest(text + (sharded ? OutcomesTable.DISTRIBUTION + OF_SHARDS : ""));
    List<List<@Nullable String>> known =
        connection.query(
            "SELECT pg_catalog.obj_description(n.oid, 'pg_namespace') FROM pg_catalog.pg_namespace n"
                + " WHERE n.nspname = 'kakehashi_catalog'"
                + " AND pg_catalog.to_regclass('kakehashi_catalog.outcomes') IS NOT NULL");
    if (!known.isEmpty() && version.equals(known.getFirst().getFirst())) {
      return;
    }
    List<Shown> views = views(text);
    StringBuilder script =
        new StringBuilder("BEGIN; SELECT pg_catalog.pg_advisory_xact_lock(" + LOCK + ");");
    if (!sharded || isCoordinator()) {
      script.append("CREATE SCHEMA IF NOT EXISTS kakehashi_catalog;");
      script.append(OutcomesTable.DEFINITION).append(';');
      script.append(sharded ? OutcomesTable.DISTRIBUTION + ";" : "");
    } else {
      OutcomesTable.require(connection);
    }
    script.append(sharded ? ON_THIS_NODE + OF_SHARDS : "");
    List<Shown> backwards = new ArrayList<>(views);
    Collections.reverse(backwards);
    backwards.forEach(view ->
        script.append("DROP VIEW IF EXISTS kakehashi_catalog.").append(view.name()).append(';'));
    views.forEach(view ->
        script
            .append("CREATE VIEW kakehashi_catalog.")
            .append(view.name())
            .append(" AS ")
            .append(view.query())
            .append(';'));
    script.append("COMMENT ON SCHEMA kakehashi_catalog IS '").append(version).append("'; COMMIT");
    connection.query(script.toString());
  }

  /// Whether the node may define what all nodes have.
  private boolean isCoordinator() {
    return "t"
        .equals(
            connection
                .query("SELECT groupid = 0 FROM pg_catalog.pg_dist_local_group")
                .getFirst()
                .getFirst());
  }

  private static List<Shown> views(String text) {
    List<Shown> views = new ArrayList<>();
    Matcher heads = VIEW.matcher(text);
    boolean found = heads.find();
    while (found) {
      String name = heads.group(1);
      boolean empty = heads.group(2) != null;
      int start = heads.end();
      found = heads.find();
      String body = text.substring(start, found ? heads.start() : text.length()).trim();
      views.add(new Shown(name, empty ? empty(body) : body));
    }
    return views;
  }

  /// A query without rows whose columns are `name type, ...`.
  private static String empty(String columns) {
    return Pattern.compile(", ")
        .splitAsStream(columns)
        .map(column -> column.split(" ", 2))
        .map(column -> "NULL::" + column[1] + " AS " + column[0])
        .collect(Collectors.joining(", ", "SELECT ", " WHERE false"));
  }

  private static String shown(Capabilities engine) {
    List<String> rows = new ArrayList<>();
    for (Capability each : Capability.values()) {
      rows.add(row(engine, "capability", each.name(), engine.has(each)));
    }
    for (Computation each : Computation.values()) {
      rows.add(row(engine, "computation", each.name(), engine.computes(each)));
    }
    for (StoredType each : StoredType.values()) {
      rows.add(row(engine, "type", each.name(), engine.keeps(each)));
    }
    return "SELECT * FROM (VALUES "
        + String.join(", ", rows)
        + ") AS shown (engine, kind, name, present)";
  }

  private static String row(Capabilities engine, String kind, String name, boolean present) {
    return "('%s'::text, '%s'::text, '%s'::text, %s)"
        .formatted(engine.engine(), kind, name, present);
  }

  private static String resource() {
    try (InputStream in = CatalogInstaller.class.getResourceAsStream("catalogue.sql")) {
      if (in == null) {
        throw new IllegalStateException("catalogue.sql is not in the jar");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String digest(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256")
              .digest((text + OutcomesTable.DEFINITION).getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this JVM has no SHA-256", e);
    }
  }
}
