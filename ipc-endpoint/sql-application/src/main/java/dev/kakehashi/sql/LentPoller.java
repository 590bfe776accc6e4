package dev.kakehashi.sql;

import dev.kakehashi.engine.api.BlockingExecutor;
import dev.kakehashi.transport.endpoint.TransportEndpoint;

/// The endpoint's poller as a thread that the engine may block. Thread-safe.
record LentPoller(TransportEndpoint endpoint) implements BlockingExecutor {
  @Override
  public boolean tryDefer(Runnable work) {
    return endpoint.tryDefer(work);
  }

  @Override
  public boolean unblocked() {
    return endpoint.unblocked();
  }
}
