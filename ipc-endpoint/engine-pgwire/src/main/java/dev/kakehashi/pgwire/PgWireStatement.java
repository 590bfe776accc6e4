package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// A statement whose types the server has said. It is prepared anew on each connection that runs it. Thread-safe.
final class PgWireStatement implements Statement {
  private final PgWireSession session;
  private final String sql;
  private final int[] parameterTypes;
  private final List<Column> columns;
  private final int[] columnTypes;
  private final Kind kind;
  private final boolean locks;
  private final @Nullable InsertByCopy bulk;

  private final @Nullable LookupOfMany ofMany;

  private volatile boolean gathers = true;
  private volatile Copying copying = Copying.UNKNOWN;

  /// Whether its rows go by COPY.
  enum Copying {
    UNKNOWN,
    YES,
    NO
  }

  PgWireStatement(
      PgWireSession session, String sql, SqlText text, int[] parameterTypes, List<Column> columns) {
    this.session = session;
    this.sql = sql;
    this.parameterTypes = parameterTypes.clone();
    this.columns = List.copyOf(columns);
    this.columnTypes = columns.stream().mapToInt(Column::typeOid).toArray();
    this.kind = text.kind();
    this.locks = text.locks();
    this.bulk =
        kind == Kind.DML && columns.isEmpty() ? session.bulkInsert(sql, parameterTypes) : null;
    this.ofMany = kind == Kind.QUERY ? session.lookupOfMany(sql, parameterTypes) : null;
  }

  @Override
  public Kind kind() {
    return kind;
  }

  @Override
  public String sql() {
    return sql;
  }

  @Override
  public int[] parameterTypeOids() {
    return parameterTypes.clone();
  }

  @Override
  public List<Column> columns() {
    return columns;
  }

  /// The same array each time, not to be changed.
  int[] parameterTypes() {
    return parameterTypes;
  }

  /// The same array each time, not to be changed.
  int[] columnTypes() {
    return columnTypes;
  }

  /// Whether it can only read, as far as its words say it: functions that it calls may still change something.
  boolean onlyReads() {
    return kind == Kind.QUERY && !locks;
  }

  /// The same for many rows; null: there is none.
  @Nullable InsertByCopy bulk() {
    return copying == Copying.NO ? null : bulk;
  }

  /// Whether the table was looked at, and said that COPY does the same.
  boolean isCopied() {
    return copying == Copying.YES;
  }

  /// The table was looked at.
  void copied(boolean same) {
    copying = same ? Copying.YES : Copying.NO;
  }

  /// The same for several rows of parameters at once; null: there is none.
  @Nullable LookupOfMany ofMany() {
    return gathers ? ofMany : null;
  }

  /// The server does not run it so.
  void gathersNothing() {
    gathers = false;
  }

  PgWireSession session() {
    return session;
  }

  @Override
  public Execution execute(
      EngineTransaction transaction,
      ParameterBatch parameters,
      ExecuteOptions options,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    if (!(transaction instanceof PgWireTransaction own)) {
      throw new IllegalArgumentException("transaction of another engine");
    }
    return own.execute(this, parameters, options, sink, done);
  }
}
