package dev.kakehashi.tools.shell;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jline.terminal.Terminal;

/// A line with the time of a statement that takes longer than a second. Ctrl-C is said there, too.
final class JobProgress implements Progress {
  private static final long FIRST_MILLIS = 1000;
  private static final long EVERY_MILLIS = 500;

  private final Terminal terminal;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("progress").factory());

  JobProgress(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Shown begin() {
    long begin = System.nanoTime();
    boolean[] shown = new boolean[1];
    ScheduledFuture<?> repeated =
        timer.scheduleAtFixedRate(
            () -> {
              synchronized (shown) {
                shown[0] = true;
                long seconds = (System.nanoTime() - begin) / 1_000_000_000L;
                terminal.writer().print("\r" + seconds + " s (Ctrl-C cancels)\u001b[K");
                terminal.flush();
              }
            },
            FIRST_MILLIS,
            EVERY_MILLIS,
            TimeUnit.MILLISECONDS);
    return () -> {
      repeated.cancel(false);
      synchronized (shown) {
        if (shown[0]) {
          terminal.writer().print("\r\u001b[K");
          terminal.flush();
        }
      }
    };
  }
}
