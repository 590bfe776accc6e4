package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.pool.PooledConnection;
import dev.kakehashi.pgwire.wire.ServerError;
import dev.kakehashi.pgwire.wire.WireErrors;
import dev.kakehashi.pgwire.wire.WireException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.capability.Capability;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The server's prepared transactions as those of the engine, and their decision. Thread-safe; blocks.
final class ServerTwoPhase {
  private static final String PREPARED =
      "SELECT p.gid, p.transaction::text, (extract(epoch FROM p.prepared - timestamptz '2000-01-01 00:00:00+00') * 1000000)::int8"
          + " FROM pg_catalog.pg_prepared_xacts p WHERE p.database = pg_catalog.current_database()";

  private final PgWireEngine engine;

  ServerTwoPhase(PgWireEngine engine) {
    this.engine = engine;
  }

  /// All of this project's that are undecided.
  List<PreparedTransaction> all() {
    List<PreparedTransaction> result = new ArrayList<>();
    for (List<@Nullable String> row : engine.ask(PREPARED)) {
      PreparedTransaction each =
          PreparedIds.decode(
              String.valueOf(row.get(0)),
              Long.parseLong(String.valueOf(row.get(1))),
              Long.parseLong(String.valueOf(row.get(2))));
      if (each != null) {
        result.add(each);
      }
    }
    return result;
  }

  /// Names of a transaction that is about to be prepared.
  PreparedTransaction naming(
      PgWireTransaction transaction, String globalId, String owner, String userName) {
    engine.require(Capability.TWO_PHASE);
    return new PreparedTransaction(
        globalId,
        owner,
        userName,
        transaction.reference(),
        transaction.id(),
        (System.currentTimeMillis() - 946_684_800_000L) * 1000);
  }

  /// Second phase. A lost answer is no end: what is not prepared any more was decided, and what still is is decided again.
  ///
  /// @return null: it is done
  @Nullable EngineException decide(String globalId, String owner, boolean commit) {
    long deadline = System.nanoTime() + PgWireEngine.RESOLVE_NANOS;
    PreparedTransaction sent = null;
    try {
      engine.require(Capability.TWO_PHASE);
      while (true) {
        RuntimeException trouble;
        try {
          PreparedTransaction found = find(globalId);
          if (found == null) {
            return sent == null ? missing(globalId) : decided(sent, commit);
          }
          if (!owner.isEmpty() && !owner.equals(found.owner())) {
            return new EngineException(
                ErrorCode.INSUFFICIENT_PRIVILEGE,
                "permission denied to finish prepared transaction");
          }
          PooledConnection connection = engine.pool().acquire();
          try {
            connection
                .wire()
                .query(
                    (commit ? "COMMIT" : "ROLLBACK")
                        + " PREPARED "
                        + PgWireSession.literal(PreparedIds.encode(found)));
            return decided(found, commit);
          } catch (WireException e) {
            sent = found;
            trouble = e;
          } finally {
            engine.pool().release(connection);
          }
        } catch (ServerError | EngineException e) {
          if (sent == null || isRefusal(e)) {
            return e instanceof ServerError error ? WireErrors.of(error) : (EngineException) e;
          }
          trouble = e; // the process that had it may be at work still
        }
        if (System.nanoTime() - deadline > 0) {
          return new EngineException(
                  ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN,
                  "the connection to the engine was lost while transaction \"%s\" was decided: %s"
                      .formatted(globalId, trouble.getMessage()))
              .withHint("The transaction may be decided or not.");
        }
        Thread.sleep(PgWireEngine.RETRY_MILLIS); // the server tells nobody when a process has ended
      }
    } catch (EngineException e) {
      return e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new EngineException(ErrorCode.SHUTTING_DOWN, "the engine is shutting down", e);
    }
  }

  /// Whether time does not mend it.
  private static boolean isRefusal(RuntimeException e) {
    return e instanceof ServerError error
        && error.sqlstate().equals(ErrorCode.INSUFFICIENT_PRIVILEGE.sqlstate());
  }

  private static EngineException missing(String globalId) {
    return new EngineException(
        ErrorCode.UNDEFINED_OBJECT,
        "prepared transaction with identifier \"" + globalId + "\" does not exist");
  }

  private @Nullable EngineException decided(PreparedTransaction transaction, boolean commit) {
    engine.listener().ended(transaction, commit);
    return null;
  }

  private @Nullable PreparedTransaction find(String globalId) {
    return all().stream().filter(each -> each.globalId().equals(globalId)).findFirst().orElse(null);
  }
}
