package dev.kakehashi.sharedmemory;

import dev.kakehashi.requests.RequestPoller;
import dev.kakehashi.transport.endpoint.TransportEndpoint;

/// The poller of shared memory as the thread that handles all requests, and that the engine may block. Thread-safe.
public record EndpointPoller(TransportEndpoint endpoint) implements RequestPoller {
  @Override
  public void execute(Runnable command) {
    endpoint.execute(command);
  }

  @Override
  public void runOrExecute(Runnable command) {
    endpoint.runOrExecute(command);
  }

  @Override
  public boolean tryDefer(Runnable work) {
    return endpoint.tryDefer(work);
  }

  @Override
  public boolean unblocked() {
    return endpoint.unblocked();
  }
}
