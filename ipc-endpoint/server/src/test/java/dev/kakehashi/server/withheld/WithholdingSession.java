package dev.kakehashi.server.withheld;

import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Planning;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.protocol.capability.Computation;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A session that takes no statement with what its engine lacks: who sends one has not asked.
final class WithholdingSession implements EngineSession {
  private static final Map<Capability, Pattern> OF_CAPABILITY = new EnumMap<>(Capability.class);
  private static final Map<Computation, Pattern> OF_COMPUTATION = new EnumMap<>(Computation.class);

  static {
    OF_CAPABILITY.put(Capability.RETURNING, Pattern.compile(" RETURNING "));
    OF_CAPABILITY.put(Capability.ON_CONFLICT, Pattern.compile(" ON CONFLICT "));
    OF_CAPABILITY.put(
        Capability.ROW_LOCKS, Pattern.compile(" FOR (UPDATE|NO KEY UPDATE|SHARE|KEY SHARE)"));
    OF_CAPABILITY.put(Capability.NOWAIT, Pattern.compile(" NOWAIT"));
    OF_CAPABILITY.put(Capability.SKIP_LOCKED, Pattern.compile(" SKIP LOCKED"));
    OF_CAPABILITY.put(Capability.COMMANDS, Pattern.compile(" TO CHANGE"));
    OF_CAPABILITY.put(Capability.TRUNCATE, Pattern.compile("^TRUNCATE"));
    OF_COMPUTATION.put(Computation.JOINS, Pattern.compile(" JOIN "));
    OF_COMPUTATION.put(Computation.SEMI_JOINS, Pattern.compile(" EXISTS "));
    OF_COMPUTATION.put(Computation.GROUPING, Pattern.compile(" GROUP BY |count\\(\\*\\)"));
    OF_COMPUTATION.put(Computation.WINDOWS, Pattern.compile(" OVER "));
    OF_COMPUTATION.put(Computation.SET_OPERATIONS, Pattern.compile("UNION|INTERSECT|EXCEPT"));
    OF_COMPUTATION.put(Computation.LIMIT, Pattern.compile(" LIMIT | OFFSET "));
    OF_COMPUTATION.put(Computation.PATTERNS, Pattern.compile(" LIKE "));
  }

  private final WithholdingEngine engine;
  private final EngineSession behind;

  WithholdingSession(WithholdingEngine engine, EngineSession behind) {
    this.engine = engine;
    this.behind = behind;
  }

  /// Statements about the catalogue are the client's own, and no part of any plan.
  private void check(String sql) {
    if (sql.contains("kakehashi_catalog") || sql.contains("information_schema")) {
      return;
    }
    for (String words :
        Stream.of("refuses", "surprises").flatMap(kind -> engine.refused(kind).stream()).toList()) {
      if (Pattern.compile(words).matcher(sql).find()) {
        throw new EngineException(
            ErrorCode.FEATURE_NOT_SUPPORTED, "cannot plan a query with " + words.trim());
      }
    }
    Capabilities left = engine.capabilities();
    OF_CAPABILITY.forEach((capability, words) -> check(sql, left.has(capability), words));
    OF_COMPUTATION.forEach((computation, words) -> check(sql, left.computes(computation), words));
  }

  private static void check(String sql, boolean isThere, Pattern words) {
    if (!isThere && words.matcher(sql).find()) {
      throw new EngineException(ErrorCode.INTERNAL_ERROR, "withheld, and asked for: " + sql);
    }
  }

  @Override
  public Planning prepare(
      String sql,
      int[] parameterTypeOids,
      BiConsumer<@Nullable Statement, @Nullable EngineException> done) {
    check(sql);
    // The embedded engine has no such setting.
    boolean asks = sql.contains("'queries_refused'") && !engine.refused("refuses").isEmpty();
    return behind.prepare(
        asks ? "SELECT CAST('on' AS text) AS value" : sql, parameterTypeOids, done);
  }

  @Override
  public void viewer(Viewer newViewer) {
    behind.viewer(newViewer);
  }

  @Override
  public void prepare(
      EngineTransaction transaction, String globalId, Consumer<@Nullable EngineException> done) {
    behind.prepare(transaction, globalId, done);
  }

  @Override
  public void commitPrepared(
      String globalId,
      EngineTransaction.CommitResponse response,
      Consumer<@Nullable EngineException> done) {
    behind.commitPrepared(globalId, response, done);
  }

  @Override
  public void rollbackPrepared(String globalId, Consumer<@Nullable EngineException> done) {
    behind.rollbackPrepared(globalId, done);
  }

  @Override
  public void leaseListener(Consumer<LeaseToken> listener) {
    behind.leaseListener(listener);
  }

  @Override
  public void close() {
    behind.close();
  }
}
