package dev.kakehashi.client;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.messages.StatementKind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A statement prepared in a session. Executed through [Session] (each execution a transaction) or [Transaction].
public final class PreparedStatement implements AutoCloseable {
  private final Session session;
  private final int id;
  private final String sql;
  private final StatementKind kind;
  private final int[] parameterTypeOids;
  private final List<ResultColumn> columns;

  /// How its rows are read without a request; null: they are not.
  private final DirectQueries.@Nullable Ticketed ticketed;

  PreparedStatement(
      Session session,
      int id,
      String sql,
      StatementKind kind,
      int[] parameterTypeOids,
      List<ResultColumn> columns,
      DirectQueries.@Nullable Ticketed ticketed) {
    this.session = session;
    this.id = id;
    this.sql = sql;
    this.kind = kind;
    this.parameterTypeOids = parameterTypeOids;
    this.columns = List.copyOf(columns);
    this.ticketed = ticketed;
  }

  int id() {
    return id;
  }

  DirectQueries.@Nullable Ticketed ticketed() {
    return ticketed;
  }

  Session session() {
    return session;
  }

  public String sql() {
    return sql;
  }

  public StatementKind kind() {
    return kind;
  }

  /// Types of `$1`, `$2`, ...
  public int[] parameterTypeOids() {
    return parameterTypeOids.clone();
  }

  int parameterCount() {
    return parameterTypeOids.length;
  }

  /// Result columns; none when the statement returns no rows.
  public List<ResultColumn> columns() {
    return columns;
  }

  /// An empty batch of parameters for requests of the usual length: up to what fits into one request.
  public Parameters parameters() {
    return Parameters.inline(parameterTypeOids, session.limits().queue().maxFrameBytes() - 256);
  }

  /// @throws EndpointException 42P02 when the statement has parameters
  Parameters noParameters() {
    if (parameterTypeOids.length > 0) {
      throw EndpointException.of(
          ErrorCode.UNDEFINED_PARAMETER,
          "statement has " + parameterTypeOids.length + " parameters, none were given");
    }
    return parameters();
  }

  /// Gives the statement back to the endpoint.
  @Override
  public void close() {
    session.closeStatement(id);
  }
}
