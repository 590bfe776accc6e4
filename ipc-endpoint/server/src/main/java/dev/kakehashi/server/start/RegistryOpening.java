package dev.kakehashi.server.start;

import dev.kakehashi.requests.TransactionRegistry;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The transaction registry while a thread of its own opens it, and its owner from then on.
///
/// Opening reads a file of some megabytes and loads the classes for it: a third of a second, beside which the engine
/// recovers.
public final class RegistryOpening implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RegistryOpening.class);

  private final FutureTask<TransactionRegistry> task;

  private RegistryOpening(FutureTask<TransactionRegistry> task) {
    this.task = task;
  }

  /// @param outcomes kept, of transactions
  /// @param retention how long an outcome is kept
  public static RegistryOpening begin(Path dataDirectory, int outcomes, Duration retention) {
    FutureTask<TransactionRegistry> task =
        new FutureTask<>(() -> TransactionRegistry.open(dataDirectory, outcomes, retention));
    Thread.ofPlatform().name("kakehashi-registry").daemon().start(task);
    return new RegistryOpening(task);
  }

  /// The registry, once it is open.
  ///
  /// @throws IOException when it cannot be opened
  public TransactionRegistry await() throws IOException {
    try {
      return task.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the transaction registry was opened");
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case IOException problem -> throw new IOException(problem.getMessage(), problem);
        case RuntimeException problem -> throw problem;
        case Error problem -> throw problem;
        case null, default -> throw new IllegalStateException(e.getCause());
      }
    }
  }

  /// Closes the registry, when its opening has ended; one that could not be opened is nothing to close.
  @Override
  public void close() {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          task.get().close();
          return;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          // A caller that awaited it was told; without one, the engine's own failure is what
          // counts.
          LOG.debug("the transaction registry was not opened", e.getCause());
          return;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
