package dev.kakehashi.tools.bulk;

import dev.kakehashi.client.Bulk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A bulk command until it has ended: Ctrl-C ends it, and waits until nothing of it is left.
final class BulkRun implements AutoCloseable {
  private static final int END_SECONDS = 30;

  private final CountDownLatch ended = new CountDownLatch(1);
  private final Thread hook;
  private final @Nullable CopyBar bar;

  BulkRun(Bulk bulk, boolean quiet) {
    this.bar = quiet || !isTerminal() ? null : new CopyBar(System.err);
    if (bar != null) {
      bulk.onProgress(bar);
    }
    this.hook =
        new Thread(
            () -> {
              bulk.cancel();
              awaitEnd();
            },
            "kakehashi-cancel");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private void awaitEnd() {
    try {
      ended.await(END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// Whether standard error is one; standard output may hold data.
  private static boolean isTerminal() {
    try {
      String file = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
      return file.startsWith("/dev/pts/") || file.startsWith("/dev/tty");
    } catch (IOException _) {
      return false; // a system without /proc: no bar
    }
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
    ended.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException _) {
      // The hook runs: it has waited for this.
    }
  }
}
