package dev.kakehashi.tools.shell;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.ResultColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.protocol.RowBatchLayout;
import dev.kakehashi.tools.shell.print.Cells;
import dev.kakehashi.tools.shell.print.PrintFormat;
import dev.kakehashi.tools.shell.print.PrintOptions;
import dev.kakehashi.tools.shell.print.ResultPrinter;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Runs statements, prints their results, and sets the variables that say how they went. Used by the shell's thread.
public final class Statements {
  private static final int NANOS_PER_MICRO = 1000;

  private final Shell shell;
  private boolean timing;

  Statements(Shell shell) {
    this.shell = shell;
  }

  public boolean timing() {
    return timing;
  }

  public void timing(boolean on) {
    timing = on;
  }

  /// Runs a statement and prints its result, in a pager if it is long.
  ///
  /// @return whether it succeeded
  public boolean run(String sql, PrintOptions options) {
    return run(sql, new PagedTaker(options));
  }

  /// Runs a statement and prints its result as it comes.
  ///
  /// @return whether it succeeded
  public boolean run(String sql, PrintOptions options, OutputStream out) {
    return run(
        sql,
        (columns, batches, shown) ->
            new ResultPrinter(options, shell.isTerminal(out) ? new HidingOutput(out, shown) : out)
                .print(columns, batches));
  }

  private boolean run(String sql, Taker taker) {
    return guarded(
        sql,
        true,
        () -> {
          String control = shell.link.control(sql);
          if (control != null) {
            say(control);
            return 0;
          }
          return execute(sql, taker, true);
        });
  }

  /// Runs a query, and gives its rows; null: it failed, and why was printed.
  public @Nullable Cells query(String sql) {
    Cells[] cells = new Cells[1];
    boolean well =
        guarded(
            sql,
            false,
            () ->
                execute(
                    sql,
                    (columns, batches, _) -> {
                      cells[0] = ResultPrinter.cells(columns, batches);
                      return cells[0].rows().size();
                    },
                    false));
    return well ? cells[0] : null;
  }

  /// Runs a query of the shell itself beside what runs; nothing is printed or noted.
  ///
  /// @throws EndpointException if it fails
  public static Cells quietly(Link link, String sql) throws IOException {
    try (Running running = link.run(sql)) {
      return ResultPrinter.cells(running.columns(), running::next);
    }
  }

  /// Columns of a statement that is not run; null: it failed.
  public @Nullable List<ResultColumn> describe(String sql) {
    List<?>[] found = new List<?>[1];
    boolean well =
        guarded(
            sql,
            false,
            () -> {
              found[0] = shell.link.describe(sql);
              return 0;
            });
    if (!well) {
      return null;
    }
    return found[0].stream().map(ResultColumn.class::cast).toList();
  }

  /// Something that may fail.
  private interface Work {
    long run() throws IOException;
  }

  /// Takes the rows of a result.
  private interface Taker {
    long take(List<ResultColumn> columns, ResultPrinter.Batches batches, Progress.Shown shown)
        throws IOException;

    /// The statement has ended well, and with it its transaction if that was its own.
    default void ended() throws IOException {}
  }

  /// Prints rows in a pager. A table is printed when its statement has ended: nobody waits for who reads it.
  private final class PagedTaker implements Taker {
    private final PrintOptions options;
    private @Nullable Cells table;

    PagedTaker(PrintOptions options) {
      this.options = options;
    }

    @Override
    public long take(
        List<ResultColumn> columns, ResultPrinter.Batches batches, Progress.Shown shown)
        throws IOException {
      if (options.format == PrintFormat.ALIGNED) {
        Cells cells = ResultPrinter.cells(columns, batches);
        table = cells;
        return cells.rows().size();
      }
      long[] rows = new long[1];
      shell.paged(
          shown::hide, out -> rows[0] = new ResultPrinter(options, out).print(columns, batches));
      return rows[0];
    }

    @Override
    public void ended() throws IOException {
      Cells cells = table;
      if (cells != null) {
        shell.paged(out -> new ResultPrinter(options, out).print(cells, null));
      }
    }
  }

  private void say(String tag) {
    if (shell.variables.isOn("QUIET")) {
      return;
    }
    shell.write(tag + "\n");
  }

  private boolean guarded(String sql, boolean timed, Work work) {
    long begin = System.nanoTime();
    shell.calm();
    boolean well = false;
    try {
      long rows = work.run();
      note("00000", "", rows);
      well = true;
    } catch (EndpointException failed) {
      shell.link.failed();
      note(failed.sqlstate(), String.valueOf(failed.getMessage()), 0);
      shell.complain(Errors.text(failed, sql + shell.ending(), verbosity()));
    } catch (EngineException unknown) {
      note(unknown.code().sqlstate(), String.valueOf(unknown.getMessage()), 0);
      shell.complain("ERROR:  " + unknown.getMessage() + "\n");
    } catch (ShellException refused) {
      note("25000", String.valueOf(refused.getMessage()), 0);
      shell.complain("ERROR:  " + refused.getMessage() + "\n");
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } finally {
      shell.last(sql + shell.ending());
    }
    if (timing && timed) {
      shell.write(time((System.nanoTime() - begin) / NANOS_PER_MICRO));
    }
    return well;
  }

  /// As psql does: milliseconds, and minutes and more beside them if it took a second.
  static String time(long micros) {
    double millis = micros / 1000.0;
    String text = String.format(Locale.ROOT, "Time: %.3f ms", millis);
    if (millis < 1000) {
      return text + "\n";
    }
    long seconds = micros / 1_000_000;
    long minutes = seconds / 60;
    double rest = micros / 1e6 - minutes * 60;
    if (minutes < 60) {
      return text + String.format(Locale.ROOT, " (%02d:%06.3f)\n", minutes, rest);
    }
    return text
        + String.format(Locale.ROOT, " (%02d:%02d:%06.3f)\n", minutes / 60, minutes % 60, rest);
  }

  private String verbosity() {
    return String.valueOf(shell.variables.get("VERBOSITY"));
  }

  private void note(String sqlstate, String message, long rows) {
    Variables variables = shell.variables;
    boolean failed = !message.isEmpty();
    variables.set("SQLSTATE", sqlstate);
    variables.set("ERROR", failed ? "true" : "false");
    variables.set("ROW_COUNT", Long.toString(rows));
    if (failed) {
      variables.set("LAST_ERROR_MESSAGE", message);
      variables.set("LAST_ERROR_SQLSTATE", sqlstate);
    }
  }

  private long execute(String sql, Taker taker, boolean tagged) throws IOException {
    Link link = shell.link;
    if (!shell.variables.isOn("AUTOCOMMIT") && !link.isInTransaction()) {
      link.control("BEGIN");
    }
    boolean inBlock = link.isInTransaction();
    boolean succeeded = false;
    boolean givesRows;
    long count;
    try (Progress.Shown shown = shell.progress().begin(sql)) {
      try (Running running = link.run(sql)) {
        givesRows = !running.columns().isEmpty() || running.isQuery();
        ResultPrinter.Batches batches = () -> counted(running, shown);
        if (givesRows) {
          count = taker.take(running.columns(), batches, shown);
        } else {
          while (batches.next() != null) {
            // there are none
          }
          count = running.rows();
        }
        succeeded = true;
      } finally {
        link.ended(!inBlock, succeeded);
      }
    }
    taker.ended();
    if (!givesRows && isDefinition(sql)) {
      shell.definitionsChanged();
    }
    if (tagged && (!givesRows || isChange(sql))) {
      say(CommandTag.of(sql, count));
    }
    return count;
  }

  private static @Nullable MemorySegment counted(Running running, Progress.Shown shown)
      throws IOException {
    MemorySegment batch = running.next();
    if (batch != null) {
      shown.rows(batch.get(BatchView.I32, RowBatchLayout.ROW_COUNT_OFFSET));
    }
    return batch;
  }

  private static boolean isChange(String sql) {
    return switch (SqlScanner.words(sql, 1)[0]) {
      case "INSERT", "UPDATE", "DELETE", "MERGE" -> true;
      default -> false;
    };
  }

  private static boolean isDefinition(String sql) {
    return switch (SqlScanner.words(sql, 1)[0]) {
      case "CREATE", "ALTER", "DROP" -> true;
      default -> false;
    };
  }

  /// Rows on the terminal take the place of the line that shows progress.
  private static final class HidingOutput extends FilterOutputStream {
    private final Progress.Shown shown;

    HidingOutput(OutputStream out, Progress.Shown shown) {
      super(out);
      this.shown = shown;
    }

    @Override
    public void write(int value) throws IOException {
      shown.hide();
      out.write(value);
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
      shown.hide();
      out.write(bytes, from, count);
    }
  }
}
