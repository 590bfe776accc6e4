package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.requests.Response;
import dev.kakehashi.sharedmemory.PreparedCalls.PreparedCall;
import org.jspecify.annotations.Nullable;

/// Response of a call, which notices that the call has to be prepared again. Thread-safe.
record InvokeResponse(SlotResponse response, PreparedCall call) implements Response {
  @Override
  public void completed(
      TransactionState state,
      long handle,
      long leaseDeadlineNanos,
      long rows,
      boolean undurableReads) {
    response.completed(state, handle, leaseDeadlineNanos, rows, undurableReads);
  }

  @Override
  public void failed(
      TransactionState state, long handle, long leaseDeadlineNanos, EngineException failure) {
    if (failure.code() == ErrorCode.FEATURE_NOT_SUPPORTED
        && Statement.OTHER_COLUMNS.equals(failure.getMessage())) {
      // It has not run, and is prepared anew next time.
      call.becomesStale();
      response.failed(state, handle, leaseDeadlineNanos, otherColumns());
    } else {
      response.failed(state, handle, leaseDeadlineNanos, failure);
    }
  }

  /// Why a call has not run.
  static EngineException otherColumns() {
    return new EngineException(
            ErrorCode.RESULT_CHANGED, "the procedure returns other columns than the client expects")
        .withHint("Call it once more with shape 0.");
  }

  @Override
  public long beganNanos() {
    return response.beganNanos();
  }

  @Override
  public void cancel(long canceledRequestId) {
    response.cancel(canceledRequestId);
  }

  @Override
  public boolean isWaiting() {
    return response.isWaiting();
  }

  @Override
  public long consumed() {
    return response.consumed();
  }

  @Override
  public ResultSink.@Nullable Buffer acquire(int minBytes) {
    return response.acquire(minBytes);
  }

  @Override
  public void whenWritable(Runnable wake) {
    response.whenWritable(wake);
  }

  @Override
  public int maxBatchBytes() {
    return response.maxBatchBytes();
  }
}
