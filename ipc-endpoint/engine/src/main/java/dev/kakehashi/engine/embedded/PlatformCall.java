package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.plan.TouchedTables;
import dev.kakehashi.engine.rights.RightsQuestions;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.txn.StatementWork;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.engine.type.RandomNumbers;
import dev.kakehashi.engine.type.SequenceAccess;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.valuetext.time.Zone;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// A call that has no text: all that code does in a transaction comes within it. It has the transaction's turn from its begin to its end.
abstract class PlatformCall extends CallAccess {
  PlatformCall(EmbeddedEngine engine, StatementExecution call, String user) {
    super(engine, call, user);
    // The thread that ends the transaction from outside waits for the call.
    call.onCancel(() -> {
      boolean ignored = end(() -> call.accept(null, canceled()));
    });
  }

  private static EngineException canceled() {
    return new EngineException(ErrorCode.QUERY_CANCELED, "canceling statement due to user request");
  }

  /// Makes the access of a call that has begun.
  interface Maker<T extends PlatformCall> {
    T make(EmbeddedEngine engine, StatementExecution call, String user);
  }

  /// Waits for the transaction's turn, and takes it.
  ///
  /// @throws EngineException if the transaction has ended
  static <T extends PlatformCall> T open(
      EmbeddedEngine engine, ManagedTransaction transaction, String user, Maker<T> maker) {
    CompletableFuture<Boolean> begun = new CompletableFuture<>();
    StatementExecution call =
        new StatementExecution(
            transaction,
            new CallWork(engine.sequences(), user),
            ExecuteOptions.DEFAULT,
            (count, failure) -> {
              if (failure != null) {
                begun.completeExceptionally(failure);
              }
            });
    transaction.beginCall(call, () -> begun.complete(true));
    boolean ignored = join(begun);
    return maker.make(engine, call, user);
  }

  static <T> T join(CompletableFuture<T> future) {
    try {
      return future.join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof EngineException refused) {
        throw refused;
      }
      throw failed;
    }
  }

  /// Ends the call, when nothing of it runs any more.
  ///
  /// @return whether it was under way
  boolean endCall() {
    CompletableFuture<Boolean> idle = new CompletableFuture<>();
    if (!end(() -> idle.complete(true))) {
      return false;
    }
    boolean ignored = idle.join();
    call().accept(0L, null);
    return true;
  }

  /// Work of the transaction's call for the engine: a statement without text, task and tables.
  private record CallWork(SequenceAccess sequences, String user, RandomNumbers random)
      implements StatementWork, FunctionSession {
    CallWork(SequenceAccess sequences, String user) {
      this(sequences, user, new RandomNumbers());
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public boolean isCurrent() {
      return true;
    }

    @Override
    public long[] lockedTables() {
      return new long[0];
    }

    @Override
    public void prepare() {}

    @Override
    public boolean changesRows() {
      return true;
    }

    @Override
    public boolean usesTransaction() {
      return true;
    }

    @Override
    public TouchedTables tables() {
      return TouchedTables.NONE;
    }

    @Override
    public FunctionSession session() {
      return this;
    }

    @Override
    public Viewer viewer() {
      return Viewer.NOBODY;
    }

    @Override
    public String name() {
      return "call of an application";
    }

    @Override
    public int workLevel(StatementScope scope) {
      return PlanRunner.HEAVIEST;
    }

    @Override
    public Task task(
        StatementExecution execution, BiConsumer<@Nullable Long, @Nullable EngineException> done) {
      throw new IllegalStateException("a call has no task");
    }

    // ---- what functions see ----

    @Override
    public Zone zone() {
      return Zone.UTC;
    }

    @Override
    public String userName() {
      return user;
    }

    @Override
    public String sessionUserName() {
      return user;
    }

    @Override
    public RightsQuestions rights() {
      return RightsQuestions.NONE;
    }
  }
}
