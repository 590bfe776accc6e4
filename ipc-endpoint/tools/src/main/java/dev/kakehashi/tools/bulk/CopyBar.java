package dev.kakehashi.tools.bulk;

import dev.kakehashi.client.CopyProgress;
import java.io.PrintStream;
import java.util.Locale;

/// One line on a terminal that is drawn again while a load or dump goes on; it is wiped at the end. Used by one thread.
final class CopyBar implements CopyProgress.Listener, AutoCloseable {
  private static final int WIDTH = 24;
  private static final long REDRAW_NANOS = 100_000_000;
  private static final double MEGA = 1e6;

  private final PrintStream out;
  private long beganNanos = System.nanoTime();
  private long drawnNanos = beganNanos - REDRAW_NANOS;
  private CopyProgress.Stage stage = CopyProgress.Stage.SENDING;
  private int drawn;

  CopyBar(PrintStream out) {
    this.out = out;
  }

  @Override
  public void progressed(CopyProgress progress) {
    long now = System.nanoTime();
    if (progress.stage() != stage) {
      stage = progress.stage();
      beganNanos = now;
    }
    if (now - drawnNanos >= REDRAW_NANOS) {
      drawnNanos = now;
      draw(line(progress, (now - beganNanos) / 1e9));
    }
  }

  private void draw(String line) {
    out.print("\r" + line + " ".repeat(Math.max(0, drawn - line.length())));
    out.flush();
    drawn = line.length();
  }

  /// Line of the progress so far.
  ///
  /// @param seconds since the stage began
  static String line(CopyProgress progress, double seconds) {
    StringBuilder line =
        new StringBuilder(progress.stage().name().toLowerCase(Locale.ROOT)).append(' ');
    if (progress.totalBytes() > 0) {
      double part = Math.min(1.0, (double) progress.bytes() / progress.totalBytes());
      int filled = (int) (part * WIDTH);
      line.append('[')
          .append("#".repeat(filled))
          .append(".".repeat(WIDTH - filled))
          .append(String.format(Locale.ROOT, "] %3d%%", (int) (part * 100)));
    }
    if (progress.rows() > 0) {
      line.append(String.format(Locale.ROOT, "  %,d rows", progress.rows()));
    }
    line.append(String.format(Locale.ROOT, "  %,.1f MB", progress.bytes() / MEGA));
    if (progress.rejected() > 0) {
      line.append(String.format(Locale.ROOT, "  %,d rejected", progress.rejected()));
    }
    if (progress.totalBytes() > progress.bytes() && progress.bytes() > 0) {
      long left =
          Math.round(seconds * (progress.totalBytes() - progress.bytes()) / progress.bytes());
      line.append(String.format(Locale.ROOT, "  %d:%02d left", left / 60, left % 60));
    }
    return line.toString();
  }

  @Override
  public void close() {
    if (drawn > 0) {
      draw("");
      out.print('\r');
      out.flush();
    }
  }
}
