package dev.kakehashi.tools.tpch;

import java.io.PrintStream;
import java.util.Locale;

/// One line that grows while something long goes on. On a terminal it is redrawn ten times a second; elsewhere only its
/// final state is printed. Used by one thread.
public final class ProgressBar {
  private static final int WIDTH = 30;
  private static final long REDRAW_NANOS = 100_000_000;

  private final PrintStream out;
  private final boolean terminal;
  private final String label;
  private final long total;
  private final long startNanos = System.nanoTime();
  private long drawnNanos = startNanos - REDRAW_NANOS;

  /// @param total expected count; may turn out to be wrong
  public ProgressBar(PrintStream out, boolean terminal, String label, long total) {
    this.out = out;
    this.terminal = terminal;
    this.label = label;
    this.total = Math.max(1, total);
  }

  /// Says how much is done.
  public void update(long done) {
    if (terminal && System.nanoTime() - drawnNanos >= REDRAW_NANOS) {
      drawnNanos = System.nanoTime();
      out.print('\r' + line(done, Math.min(1.0, (double) done / total)));
      out.flush();
    }
  }

  /// Everything is done; ends the line.
  public void finish(long done) {
    out.println((terminal ? "\r" : "") + line(done, 1.0));
  }

  private String line(long done, double part) {
    int filled = (int) (part * WIDTH);
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    return String.format(
        Locale.ROOT,
        "  %-10s [%s%s] %3d%% %,10d rows %6.1f s %,9.0f rows/s",
        label,
        "#".repeat(filled),
        ".".repeat(WIDTH - filled),
        (int) (part * 100),
        done,
        seconds,
        done / Math.max(seconds, 0.001));
  }
}
