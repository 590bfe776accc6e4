package dev.kakehashi.tools.shell;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.tools.shell.print.Cells;
import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Work of an interactive shell beside its statements: one thread, and a second link that is made when it is first needed. Thread-safe.
final class BesideWork implements AutoCloseable {
  private final Link link;
  private @Nullable Link second; // by the thread alone
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("beside").factory());

  BesideWork(Link link) {
    this.link = link;
  }

  void run(Runnable work) {
    thread.execute(work);
  }

  ScheduledFuture<?> repeat(Runnable work, long firstMillis, long everyMillis) {
    return thread.scheduleWithFixedDelay(work, firstMillis, everyMillis, TimeUnit.MILLISECONDS);
  }

  /// Rows of a query; null: it cannot be answered now, and the next statement of the user will say why. On the thread of this.
  @Nullable Cells ask(String sql) {
    try {
      Link asked = second;
      if (asked == null || !asked.isAlive()) {
        asked = link.beside();
        second = asked;
      }
      return Statements.quietly(asked, sql);
    } catch (EndpointException | IOException | ShellException unavailable) {
      return null;
    }
  }

  /// Ends the thread when it has done what it does, and the second link with it.
  @Override
  public void close() {
    thread.execute(() -> {
      Link asked = second;
      if (asked != null) {
        asked.close();
      }
    });
    thread.shutdown();
  }
}
