package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.requests.DeferredRequest;
import dev.kakehashi.requests.Transactions;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// A request that waits, with a copy of its frame. Poller only.
final class DeferredFrame implements DeferredRequest {
  private final SharedMemorySession session;
  private final long requestId;
  private final SlotResponse response;
  private final FrameHandler handler;
  private final @Nullable ExecutionHandler executes;
  private final UnsafeBuffer frame;

  /// @param executes what executes it; null: it is no execution
  DeferredFrame(
      SharedMemorySession session,
      long requestId,
      SlotResponse response,
      FrameHandler handler,
      @Nullable ExecutionHandler executes,
      DirectBuffer frame) {
    this.session = session;
    this.requestId = requestId;
    this.response = response;
    this.handler = handler;
    this.executes = executes;
    byte[] copy = new byte[frame.capacity()];
    frame.getBytes(0, copy);
    this.frame = new UnsafeBuffer(copy);
  }

  /// Its copy of the frame.
  DirectBuffer frame() {
    return frame;
  }

  @Override
  public long requestId() {
    return requestId;
  }

  @Override
  public boolean isExecution() {
    return executes != null;
  }

  @Override
  public boolean continues(long handle) {
    if (executes == null) {
      return false;
    }
    try {
      long continued = executes.continuedHandle(frame);
      return continued != -1 && Transactions.resolve(session.requests(), continued) == handle;
    } catch (MalformedFrameException e) {
      return false; // its turn will come, and refuse it
    }
  }

  @Override
  public void run(@Nullable Runnable permit) {
    try {
      if (permit != null && executes != null) {
        executes.execute(session, requestId, response, frame, permit);
      } else {
        handler.handle(session, requestId, response, frame);
      }
    } catch (MalformedFrameException | IndexOutOfBoundsException | IllegalArgumentException e) {
      String reason = String.valueOf(e.getMessage());
      response.refused(reason);
      session.endpointSession().refuse(reason);
    } catch (RuntimeException | Error e) {
      response.failed(e);
    }
  }

  @Override
  public void refuse(EngineException failure) {
    response.failed(null, failure);
  }
}
