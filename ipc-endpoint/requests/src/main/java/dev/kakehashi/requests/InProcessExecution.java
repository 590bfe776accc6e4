package dev.kakehashi.requests;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.scheduler.Admission;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// An execution of an interface in this process. Poller only.
final class InProcessExecution extends InProcessCall {
  private static final Action OWN = (session, call) -> {};

  private final RequestCore core;
  private final Statement statement;
  private final ParameterBatch parameters;
  private final TransactionUse use;
  private final ExecuteOptions options;
  private final InProcessResponse response;

  /// Written once by the poller, read by any thread; it publishes the request that it names.
  private volatile LongSupplier rowsScanned = () -> 0;

  InProcessExecution(
      RequestCore core,
      InProcessSession session,
      long requestId,
      Statement statement,
      ParameterBatch parameters,
      TransactionUse use,
      ExecuteOptions options,
      ResultSink sink,
      Consumer<RequestAnswer> done) {
    super(session, requestId, statement.sql().length(), OWN, done);
    this.core = core;
    this.statement = statement;
    this.parameters = parameters;
    this.use = use;
    this.options = options;
    this.response = new InProcessResponse(this, session.client(), sink);
  }

  @Override
  void start(ClientRequests requests, @Nullable Runnable permit) {
    Admission admission = requests.admission();
    if (permit != null || admission == null) {
      begin(requests, permit);
    } else if (admission.tryEnter()) {
      begin(requests, admission::leave);
    } else {
      core.awaitAdmission(requests, admission, this);
    }
  }

  private void begin(ClientRequests requests, @Nullable Runnable whenEnded) {
    boolean begun = false;
    try {
      begun = execute(requests, whenEnded);
    } finally {
      if (!begun && whenEnded != null) {
        whenEnded.run();
      }
    }
  }

  /// @return whether it has begun: `whenEnded` will be called
  private boolean execute(ClientRequests requests, @Nullable Runnable whenEnded) {
    OpenTransaction open;
    BeginOptions begin;
    boolean commitAfter;
    CommitResponse commit;
    switch (use) {
      case TransactionUse.AutoCommit auto -> {
        open = null;
        begin = auto.options();
        commitAfter = false;
        commit = auto.response();
      }
      case TransactionUse.Continue within -> {
        open = core.transactions().use(requests, InProcessSession.named(within.handle()));
        begin = BeginOptions.DEFAULT; // there to be none
        commitAfter = within.commitAfter();
        commit = within.response();
      }
    }
    ParameterBatch checked;
    try {
      core.executions().checkRoom(requests, statement);
      int[] types = statement.parameterTypeOids();
      checked =
          parameters.batch().byteSize() == 0
              ? Executions.none(types)
              : core.executions().checked(aligned(parameters.batch()), types);
    } catch (EngineException e) {
      failed(open, e);
      return false;
    }
    rowsScanned =
        core.executions()
            .execute(
                requests,
                requestId(),
                response,
                open,
                begin,
                commitAfter,
                commit,
                statement,
                checked,
                options,
                true,
                whenEnded);
    return true;
  }

  /// Rows that it has read so far. Any thread, also after the end.
  long rowsScanned() {
    return rowsScanned.getAsLong();
  }

  /// Parameters in memory that can be read in words of 8 bytes.
  private static MemorySegment aligned(MemorySegment batch) {
    if (batch.maxByteAlignment() >= Long.BYTES) {
      return batch;
    }
    return MemorySegment.ofArray(new long[(int) ((batch.byteSize() + 7) >>> 3)])
        .asSlice(0, batch.byteSize())
        .copyFrom(batch);
  }

  @Override
  public boolean isExecution() {
    return true;
  }

  @Override
  public boolean continues(long handle) {
    return use instanceof TransactionUse.Continue within && within.handle() == handle;
  }
}
