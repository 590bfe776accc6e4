package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction.State;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.catalog.Outcomes;
import dev.kakehashi.pgwire.pool.PooledConnection;
import dev.kakehashi.pgwire.wire.ServerError;
import dev.kakehashi.pgwire.wire.WireErrors;
import dev.kakehashi.pgwire.wire.WireException;
import dev.kakehashi.protocol.ErrorCode;
import org.jspecify.annotations.Nullable;

/// How transactions end on the server, and how it is found out when the answer is lost. All of it blocks, on the lane of the transaction.
final class ServerTransactionEnd {
  private static final int[] OUTCOME_TYPES = {20, 23, 20};

  private final PgWireEngine engine;
  private final ServerTransaction server;

  ServerTransactionEnd(PgWireEngine engine, ServerTransaction server) {
    this.engine = engine;
    this.server = server;
  }

  /// Outcome of a transaction.
  ///
  /// @param failure null: the outcome is the one that was asked for
  record Ending(State state, @Nullable EngineException failure) {
    static final Ending COMMITTED = new Ending(State.COMMITTED, null);

    static Ending aborted(EngineException reason) {
      return new Ending(State.ABORTED, reason);
    }
  }

  // ---- commit ----

  /// @param kind of the transaction
  /// @param reference see [dev.kakehashi.engine.api.EngineTransaction#reference(long)]; 0: none
  Ending commit(BeginOptions.Kind kind, boolean writes, long reference) {
    PooledConnection connection = server.held();
    if (connection == null || !server.isBegun()) {
      return Ending.COMMITTED;
    }
    if (server.isAssumedReadOnly()) {
      return leave(connection);
    }
    return commitOn(connection, kind, writes ? server.outcome(reference) : null);
  }

  /// Commits by the series of the only statement. It throws what that fails with, and then the transaction is open.
  ///
  /// @param row what it writes
  Ending commitWith(WireExchange exchange, WireRun run, Outcomes.Row row) {
    PooledConnection connection = server.connection();
    int commandsBefore = exchange.commands();
    writeOutcome(exchange, row);
    exchange.command("COMMIT");
    RuntimeException cause;
    try {
      server.run(exchange, run);
      EngineException reason = run.canceled();
      if (reason == null) {
        return Ending.COMMITTED;
      }
      // A cancel may have ended its wait for a standby.
      cause = reason;
    } catch (ServerError e) {
      if (exchange.failedCommand() < commandsBefore || !WireErrors.leavesOpen(e)) {
        throw e;
      }
      cause = e;
    } catch (WireException e) {
      cause = e;
    }
    Ending end = resolve(connection, BeginOptions.Kind.OCC, row, cause);
    return end.state() == State.COMMITTED && !run.isCounted()
        ? new Ending(State.COMMITTED, uncounted(cause))
        : end;
  }

  private static EngineException uncounted(RuntimeException cause) {
    return new EngineException(
            ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN,
            "the transaction has committed, but how many rows it has changed is not known: "
                + cause.getMessage())
        .withHint("Do not try it again.");
  }

  /// @param row what it writes; null: it has changed nothing
  private Ending commitOn(
      PooledConnection connection, BeginOptions.Kind kind, Outcomes.@Nullable Row row) {
    try {
      WireExchange exchange = new WireExchange(connection.wire());
      if (row != null) {
        writeOutcome(exchange, row);
      }
      exchange.command("COMMIT").run(WireExchange.NOBODY);
      return Ending.COMMITTED;
    } catch (ServerError e) {
      return WireErrors.leavesOpen(e)
          ? resolve(connection, kind, row, e)
          : aborted(connection, WireErrors.of(e));
    } catch (WireException e) {
      return resolve(connection, kind, row, e);
    }
  }

  /// It has only read, and its rows are there: nobody waits for the answer.
  private Ending leave(PooledConnection connection) {
    try {
      new WireExchange(connection.wire()).command("COMMIT").leave();
    } catch (WireException e) {
      engine.log().debug("the end of a reader was not sent: {}", e.getMessage());
    }
    return Ending.COMMITTED;
  }

  private static void writeOutcome(WireExchange exchange, Outcomes.Row row) {
    String name = exchange.statement(Outcomes.WRITE, OUTCOME_TYPES, false);
    exchange
        .out()
        .begin('B')
        .put(0)
        .putText(name)
        .putShort(1)
        .putShort(1)
        .putShort(3)
        .putInt(8)
        .putLong(row.endpoint())
        .putInt(4)
        .putInt(row.place())
        .putInt(8)
        .putLong(row.reference())
        .putShort(0)
        .end();
    exchange.execute("", 0);
  }

  /// The server has refused the end, or something before it in the series.
  private static Ending aborted(PooledConnection connection, EngineException reason) {
    try {
      if (!connection.wire().isIdle()) {
        new WireExchange(connection.wire()).command("ROLLBACK").run(WireExchange.NOBODY);
      }
    } catch (WireException | ServerError e) {
      connection.wire().breakOff();
    }
    return Ending.aborted(reason);
  }

  /// The answer to the commit was lost, or says nothing: looks whether it has happened.
  private Ending resolve(
      PooledConnection lost,
      BeginOptions.Kind kind,
      Outcomes.@Nullable Row row,
      RuntimeException cause) {
    server.drop();
    if (kind == BeginOptions.Kind.RTX) {
      return Ending.COMMITTED;
    }
    EngineException unknown = unknown("COMMIT", cause);
    if (row == null) {
      return Ending.aborted(unknown);
    }
    try {
      if (engine.committed(lost, row)) {
        return Ending.COMMITTED;
      }
      return Ending.aborted(reason(cause));
    } catch (EngineException | WireException | ServerError e) {
      return Ending.aborted(notFound(unknown, e));
    }
  }

  /// Why a transaction has ended of which it is known that nothing has happened.
  private static EngineException reason(RuntimeException cause) {
    return cause instanceof ServerError error && !WireErrors.isOfNode(error)
        ? WireErrors.of(error)
        : WireErrors.lost(cause);
  }

  private static EngineException unknown(String during, RuntimeException cause) {
    return new EngineException(
            ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN,
            "the connection to the engine was lost during %s: %s"
                .formatted(during, cause.getMessage()))
        .withHint("The transaction may have ended or not.");
  }

  private static EngineException notFound(EngineException unknown, RuntimeException why) {
    return unknown.withDetail("Its outcome could not be looked up: " + why.getMessage());
  }

  // ---- the others ----

  void rollback() {
    PooledConnection connection = server.held();
    if (connection == null || !server.isBegun()) {
      return;
    }
    try {
      new WireExchange(connection.wire()).command("ROLLBACK").run(WireExchange.NOBODY);
    } catch (WireException | ServerError e) {
      engine
          .log()
          .info("a transaction was rolled back by the end of its connection: {}", e.getMessage());
      connection.wire().breakOff();
    }
  }

  /// First phase of a two-phase commit.
  ///
  /// @param globalId as the server is to know it
  Ending prepare(String globalId) {
    PooledConnection connection = null;
    try {
      WireExchange exchange = server.exchange();
      connection = server.connection();
      exchange
          .command("PREPARE TRANSACTION " + PgWireSession.literal(globalId))
          .run(WireExchange.NOBODY);
      return new Ending(State.PREPARED, null);
    } catch (EngineException e) {
      rollback();
      return Ending.aborted(e);
    } catch (ServerError e) {
      PooledConnection asked = server.connection();
      return WireErrors.leavesOpen(e)
          ? resolvePrepared(asked, globalId, e)
          : aborted(asked, WireErrors.of(e));
    } catch (WireException e) {
      if (connection == null) {
        server.drop();
        return Ending.aborted(WireErrors.lost(e));
      }
      return resolvePrepared(connection, globalId, e);
    }
  }

  /// The answer to the first phase was lost, or says nothing: looks whether it has happened.
  private Ending resolvePrepared(PooledConnection lost, String globalId, RuntimeException cause) {
    server.drop();
    try {
      return engine.isPrepared(lost, globalId)
          ? new Ending(State.PREPARED, null)
          : Ending.aborted(reason(cause));
    } catch (EngineException | WireException | ServerError e) {
      return Ending.aborted(notFound(unknown("PREPARE TRANSACTION", cause), e));
    }
  }
}
