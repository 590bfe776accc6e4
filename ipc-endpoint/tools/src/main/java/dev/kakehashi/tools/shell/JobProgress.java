package dev.kakehashi.tools.shell;

import dev.kakehashi.tools.shell.print.Cells;
import java.util.Locale;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jline.terminal.Terminal;
import org.jspecify.annotations.Nullable;

/// A line about a statement that takes longer than a second: time and rows that have come, percent and the time that is left. Over a second
/// link, of a COPY from `kakehashi_catalog.copies`, of other statements from `kakehashi_catalog.jobs`: pages read of the pages of their
/// tables. Sorts and results come after the last page, so that all pages are no end.
///
/// A thread of its own draws; [#begin] and what it gives are used by the shell's thread.
final class JobProgress implements Progress {
  private static final long FIRST_MILLIS = 1000;
  private static final long EVERY_MILLIS = 500;

  /// Below it a rest cannot be told.
  private static final double LEAST_FRACTION = 0.02;

  private static final double NANOS = 1e9;

  private final Terminal terminal;
  private final BesideWork beside;

  JobProgress(Terminal terminal, BesideWork beside) {
    this.terminal = terminal;
    this.beside = beside;
  }

  @Override
  public Shown begin(String sql) {
    Line line = new Line(sql);
    line.repeated = beside.repeat(line::draw, FIRST_MILLIS, EVERY_MILLIS);
    return line;
  }

  /// How far a statement is.
  ///
  /// @param fraction 0 to 1; negative: not known
  /// @param rows of a COPY; negative: it is none
  record Standing(double fraction, long rows) {
    static final Standing UNKNOWN = new Standing(-1, -1);
  }

  private Standing ask(String sql) {
    String question =
        SqlScanner.words(sql, 1)[0].equals("COPY")
            ? "SELECT CASE WHEN bytes_total > 0 THEN bytes_processed::float8 / bytes_total END, rows_processed"
                + " FROM kakehashi_catalog.copies WHERE statement = "
            : "SELECT pages_read::float8 / pages, NULL::int8 FROM kakehashi_catalog.jobs WHERE pages > 0 AND name = ";
    @Nullable Cells cells =
        beside.ask(
            question + Variables.quoted(sql, '\'').strip() + " ORDER BY job_id DESC LIMIT 1");
    if (cells == null || cells.rows().isEmpty()) {
      return Standing.UNKNOWN;
    }
    @Nullable String[] row = cells.rows().getFirst();
    return new Standing(
        row[0] == null ? -1 : Double.parseDouble(row[0]),
        row[1] == null ? -1 : Long.parseLong(row[1]));
  }

  /// The text of a line.
  ///
  /// @param received rows that have come
  static String text(double seconds, Standing standing, long received) {
    StringBuilder text = new StringBuilder(String.format(Locale.ROOT, "%.0f s", seconds));
    long rows = standing.rows() >= 0 ? standing.rows() : received;
    if (rows > 0) {
      text.append(String.format(Locale.ROOT, ", %,d rows", rows));
    }
    double fraction = Math.min(1, standing.fraction());
    if (fraction >= 1 && standing.rows() < 0) {
      text.append(", all read");
    } else if (fraction >= 0) {
      text.append(String.format(Locale.ROOT, ", %.0f %%", Math.floor(fraction * 100)));
    }
    if (fraction >= LEAST_FRACTION && fraction < 1) {
      text.append(
          String.format(Locale.ROOT, ", about %.0f s left", seconds * (1 - fraction) / fraction));
    }
    return text.append(" (Ctrl-C cancels)").toString();
  }

  private final class Line implements Shown {
    private final String sql;
    private final long begun = System.nanoTime();
    private final AtomicLong rows = new AtomicLong();
    private @Nullable ScheduledFuture<?> repeated;
    private boolean hidden; // guarded by this
    private boolean drawn; // guarded by this

    Line(String sql) {
      this.sql = sql;
    }

    private void draw() {
      synchronized (this) {
        if (hidden) {
          return;
        }
      }
      Standing standing = ask(sql);
      double seconds = (System.nanoTime() - begun) / NANOS;
      String text = text(seconds, standing, rows.get());
      synchronized (this) {
        if (!hidden) {
          drawn = true;
          int width = Math.max(1, terminal.getSize().getColumns() - 1);
          terminal
              .writer()
              .print("\r" + text.substring(0, Math.min(width, text.length())) + "\u001b[K");
          terminal.flush();
        }
      }
    }

    @Override
    public void rows(int count) {
      rows.addAndGet(count);
    }

    @Override
    public void hide() {
      synchronized (this) {
        hidden = true;
        if (drawn) {
          drawn = false;
          terminal.writer().print("\r\u001b[K");
          terminal.flush();
        }
      }
    }

    @Override
    public void close() {
      ScheduledFuture<?> stopped = repeated;
      if (stopped != null) {
        stopped.cancel(false);
      }
      hide();
    }
  }
}
