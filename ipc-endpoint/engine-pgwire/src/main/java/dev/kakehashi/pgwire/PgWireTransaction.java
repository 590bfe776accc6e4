package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.wire.ServerError;
import dev.kakehashi.pgwire.wire.WireConnection;
import dev.kakehashi.pgwire.wire.WireErrors;
import dev.kakehashi.pgwire.wire.WireException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A transaction of the server. Its work runs on its lane in the order of the calls. The server's side of it is its [ServerTransaction].
final class PgWireTransaction implements EngineTransaction {
  private final PgWireEngine engine;
  private final long id;
  private final BeginOptions options;
  private final WireLane lane;
  private final ServerTransaction server;
  private final @Nullable Future<?> expiry;

  private volatile State state = State.ACTIVE;
  private volatile @Nullable EngineException failure;

  /// Why it is about to be rolled back: nothing begins in it any more.
  private volatile @Nullable EngineException ending;

  private volatile boolean writes;
  private volatile long reference;

  // ---- lane only ----

  private final Set<WireRun> open = new LinkedHashSet<>();
  private long bytesOfChanges;

  PgWireTransaction(PgWireEngine engine, long id, BeginOptions options) {
    this.engine = engine;
    this.id = id;
    this.options = options;
    this.lane = new WireLane(engine.threads());
    this.server = new ServerTransaction(engine, options);
    this.expiry =
        options.timeoutNanos() == 0
            ? null
            : engine.timer().schedule(this::expire, options.timeoutNanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public long id() {
    return id;
  }

  @Override
  public void reference(long number) {
    reference = number;
  }

  @Override
  public void owner(Viewer viewer) {}

  @Override
  public void ofOneStatement() {
    server.ofOneStatement();
  }

  @Override
  public BeginOptions options() {
    return options;
  }

  @Override
  public State state() {
    return state;
  }

  @Override
  public @Nullable EngineException failure() {
    return failure;
  }

  @Override
  public boolean hasWrites() {
    return writes;
  }

  @Override
  public boolean hasUndurableReads() {
    return false;
  }

  // ---- statements ----

  Execution execute(
      PgWireStatement statement,
      ParameterBatch parameters,
      ExecuteOptions execute,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    if (execute.command() != 0) {
      throw EngineException.lacking(engine.capabilities(), Capability.COMMANDS);
    }
    if (statement.kind() != Statement.Kind.QUERY && options.kind() != BeginOptions.Kind.RTX) {
      writes = true;
    }
    if (statement.kind() == Statement.Kind.DDL) {
      statement.session().defines(this);
    }
    Future<?>[] timeout = new Future<?>[1];
    WireRun run =
        new WireRun(
            this,
            statement,
            parameters,
            execute,
            sink,
            execute.timeoutNanos() == 0
                ? done
                : (rows, failed) -> {
                  Future<?> timer = timeout[0];
                  if (timer != null) {
                    timer.cancel(false);
                  }
                  done.accept(rows, failed);
                });
    if (execute.timeoutNanos() != 0) {
      timeout[0] =
          engine
              .timer()
              .schedule(
                  () ->
                      run.cancel(
                          new EngineException(
                              ErrorCode.QUERY_CANCELED,
                              "canceling statement due to statement timeout")),
                  execute.timeoutNanos(),
                  TimeUnit.NANOSECONDS);
    }
    lane.add(() -> {
      open.add(run);
      run.start(server.depth());
    });
    return run;
  }

  void resume(WireRun run) {
    lane.add(run::resume);
  }

  /// A statement was canceled: tells the server if it runs there, and its lane if it waits.
  void wakeCanceled(WireRun run, EngineException reason) {
    server.cancel(run, reason);
    lane.add(run::resume);
  }

  /// Why nothing can run in it any more; null: it is open. Lane only.
  @Nullable EngineException refusal() {
    EngineException reason = failure;
    if (reason == null) {
      reason = ending;
    }
    if (reason != null && (failure != null || state == State.ACTIVE)) {
      return reason;
    }
    return switch (state) {
      case ACTIVE -> null;
      case ABORTED ->
          new EngineException(ErrorCode.TRANSACTION_ABORTED, "the transaction was rolled back");
      case PREPARED, COMMITTED ->
          new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "the transaction has ended");
    };
  }

  /// The server's side. Lane only.
  ServerTransaction server() {
    return server;
  }

  void ended(WireRun run, List<String> openPortals) {
    open.remove(run);
    server.closeLater(openPortals);
  }

  /// Rows of parameters from which on a look-up runs for all at once.
  int fewestToGather() {
    return engine.fewestToGather();
  }

  /// Counts what a statement sends. Lane only.
  ///
  /// @param bytes of the values of one row
  /// @throws EngineException LIMIT_EXCEEDED: it is more than the engine takes
  void sends(PgWireStatement statement, long bytes) {
    if (statement.kind() == Statement.Kind.QUERY) {
      return;
    }
    Capabilities capabilities = engine.capabilities();
    long mostOfRow = capabilities.longestRowBytes();
    if (mostOfRow > 0 && bytes > mostOfRow) {
      throw exceeded("row", bytes, mostOfRow);
    }
    bytesOfChanges += bytes;
    long most = capabilities.mostTransactionBytes();
    if (most > 0 && bytesOfChanges > most) {
      throw exceeded("transaction", bytesOfChanges, most);
    }
  }

  /// Rows that a statement has sent were undone. Lane only.
  void takesBack(long bytes) {
    bytesOfChanges -= bytes;
  }

  private static EngineException exceeded(String what, long bytes, long most) {
    return new EngineException(
        ErrorCode.LIMIT_EXCEEDED,
        "a %s of %d bytes exceeds the limit of engine \"%s\", which is %d bytes"
            .formatted(what, bytes, PgWireEngine.NAME, most));
  }

  /// Whether a statement that was taken for one that only reads begins anew, because it writes. Lane only.
  boolean writesAfterAll(WireRun run, ServerError error) {
    boolean after = server.writesAfterAll(run, error);
    writes |= after;
    return after;
  }

  /// The connection is gone, and the transaction with it. Lane only.
  EngineException lost(RuntimeException cause) {
    EngineException reason = failure;
    if (reason == null) {
      reason = WireErrors.lost(cause);
      failure = reason;
    }
    state = State.ABORTED;
    server.drop();
    leave();
    endOpen(reason);
    return reason;
  }

  /// Ends it for a reason that leaves its connection in an unknown state.
  EngineException broken(EngineException reason) {
    if (failure == null) {
      failure = reason;
    }
    return lost(reason);
  }

  private void endOpen(EngineException reason) {
    for (WireRun run : List.copyOf(open)) {
      run.end(null, reason);
    }
  }

  private void leave() {
    if (expiry != null) {
      expiry.cancel(false);
    }
    server.leavePlace();
    engine.left(this);
  }

  private static EngineException canceledByEnd() {
    return new EngineException(
        ErrorCode.QUERY_CANCELED, "canceling statement because its transaction goes on without it");
  }

  // ---- savepoints ----

  @Override
  public void savepoint(int level, Consumer<@Nullable EngineException> done) {
    lane.add(() -> {
      EngineException refusal = refusal();
      if (refusal == null && level <= server.depth()) {
        refusal =
            new EngineException(
                ErrorCode.INVALID_PARAMETER_VALUE,
                "savepoint level %d is not above the last one, %d"
                    .formatted(level, server.depth()));
      }
      if (refusal == null) {
        server.savepoint(level);
      }
      done.accept(refusal);
    });
  }

  private @Nullable EngineException refusal(int level) {
    EngineException refusal = refusal();
    return refusal != null || (level >= 1 && level <= server.depth())
        ? refusal
        : new EngineException(
            ErrorCode.NO_SUCH_SAVEPOINT, "savepoint level " + level + " does not exist");
  }

  @Override
  public void releaseSavepoint(int level, Consumer<@Nullable EngineException> done) {
    lane.add(() -> {
      EngineException refusal = refusal(level);
      if (refusal == null) {
        server.releaseSavepoint(level);
        open.forEach(run -> run.released(server.depth()));
      }
      done.accept(refusal);
    });
  }

  @Override
  public void rollbackToSavepoint(int level, Consumer<@Nullable EngineException> done) {
    lane.add(() -> {
      EngineException refusal = refusal(level);
      if (refusal == null) {
        // Statements that began before the savepoint go on.
        for (WireRun run : List.copyOf(open)) {
          if (run.level() >= level) {
            run.end(null, canceledByEnd());
          }
        }
        try {
          server.rollbackToSavepoint(level);
        } catch (WireException | ServerError e) {
          refusal = lost(e);
        } catch (EngineException e) {
          refusal = e;
        }
      }
      done.accept(refusal);
    });
  }

  // ---- ends ----

  /// Sends a round of a statement, and the end of the transaction with it if there will be nothing between.
  ///
  /// @param last whether it is the last round of a change
  void runRound(WireExchange exchange, WireRun run, boolean last) {
    if (!last || !server.endsWith(run)) {
      server.run(exchange, run);
      return;
    }
    EngineException failed =
        finish(
            new ServerTransactionEnd(engine, server)
                .commitWith(exchange, run, server.outcome(reference)));
    if (failed != null) {
      throw failed;
    }
  }

  /// Whether it has committed. Lane only.
  boolean isCommitted() {
    return state == State.COMMITTED;
  }

  @Override
  public void commit(CommitResponse response, Consumer<@Nullable EngineException> done) {
    lane.add(() -> done.accept(commitNow()));
  }

  private @Nullable EngineException commitNow() {
    if (state == State.COMMITTED) {
      return null;
    }
    EngineException refusal = refusal();
    if (refusal != null) {
      return refusal;
    }
    endOpen(canceledByEnd());
    return finish(
        new ServerTransactionEnd(engine, server).commit(options.kind(), writes, reference));
  }

  private @Nullable EngineException finish(ServerTransactionEnd.Ending end) {
    if (end.failure() != null) {
      failure = end.failure();
    }
    state = end.state();
    server.giveBack();
    leave();
    return end.failure();
  }

  @Override
  public void rollback(Runnable done) {
    stop(canceledByEnd());
    lane.add(() -> {
      rollbackNow(canceledByEnd());
      done.run();
    });
  }

  private void rollbackNow(EngineException reason) {
    if (state != State.ACTIVE) {
      return;
    }
    endOpen(reason);
    new ServerTransactionEnd(engine, server).rollback();
    state = State.ABORTED;
    server.giveBack();
    leave();
  }

  private void expire() {
    EngineException reason =
        new EngineException(
            ErrorCode.TRANSACTION_TIMEOUT, "terminating transaction due to transaction timeout");
    end(reason);
  }

  /// Lets nothing begin in it any more, and cancels what runs. Any thread; a rollback follows.
  void stop(EngineException reason) {
    if (state != State.ACTIVE) {
      return;
    }
    if (ending == null) {
      ending = reason;
    }
    WireRun running = server.cancel(null, reason);
    if (running != null) {
      running.cancel(reason);
    }
  }

  /// Rolls it back for a reason of the engine's. Any thread.
  void end(EngineException reason) {
    stop(reason);
    lane.add(() -> {
      if (state == State.ACTIVE) {
        failure = reason;
        rollbackNow(reason);
      }
    });
  }

  /// First phase of a two-phase commit.
  ///
  /// @param globalId as the server is to know it
  /// @param prepared runs before `done` when it is prepared
  void prepare(String globalId, Runnable prepared, Consumer<@Nullable EngineException> done) {
    lane.add(() -> {
      EngineException refused = prepareNow(globalId);
      if (refused == null) {
        prepared.run();
      }
      done.accept(refused);
    });
  }

  private @Nullable EngineException prepareNow(String globalId) {
    EngineException refusal = refusal();
    if (refusal != null) {
      return refusal;
    }
    endOpen(canceledByEnd());
    return finish(new ServerTransactionEnd(engine, server).prepare(globalId));
  }

  /// Runs something behind what was asked for before.
  void then(Runnable work) {
    lane.add(work);
  }

  long reference() {
    return reference;
  }

  /// Runs something on its connection, for a session that prepares statements within it. The connection is at rest then.
  void within(Consumer<WireConnection> work, Consumer<RuntimeException> refused) {
    lane.add(() -> {
      try {
        EngineException refusal = refusal();
        if (refusal != null) {
          throw refusal;
        }
        server.within(work);
      } catch (WireException e) {
        refused.accept(lost(e));
      } catch (ServerError | EngineException e) {
        refused.accept(e);
      }
    });
  }
}
