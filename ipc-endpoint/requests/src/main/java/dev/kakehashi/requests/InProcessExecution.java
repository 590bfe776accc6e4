package dev.kakehashi.requests;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
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
    Executions executions = core.executions();
    try (StatementRequest request =
        executions.request(requests, requestId(), response, whenEnded)) {
      BeginOptions own =
          switch (use) {
            case TransactionUse.AutoCommit auto -> {
              request.runsIn(null, false, auto.response());
              yield auto.options();
            }
            case TransactionUse.Continue within -> {
              request.runsIn(
                  core.transactions().use(requests, InProcessSession.named(within.handle())),
                  within.commitAfter(),
                  within.response());
              yield BeginOptions.DEFAULT; // there to be none
            }
          };
      ParameterBatch checked;
      try {
        executions.count(request, statement);
        checked = checked(executions);
      } catch (EngineException e) {
        request.refuse(e);
        return;
      }
      rowsScanned = executions.run(request, own, statement, checked, options);
    }
  }

  /// The checked parameters, in memory that can be read in words of 8 bytes.
  private ParameterBatch checked(Executions executions) {
    int[] types = statement.parameterTypeOids();
    MemorySegment batch = parameters.batch();
    if (batch.byteSize() == 0) {
      return Executions.none(types);
    }
    boolean isAligned = batch.maxByteAlignment() >= Long.BYTES;
    return executions.checked(isAligned ? batch : Executions.copy(batch), types);
  }

  /// Rows that it has read so far. Any thread, also after the end.
  long rowsScanned() {
    return rowsScanned.getAsLong();
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
