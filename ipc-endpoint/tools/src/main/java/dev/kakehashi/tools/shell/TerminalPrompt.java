package dev.kakehashi.tools.shell;

import dev.kakehashi.tools.shell.print.PrintOptions;
import java.io.IOException;
import java.nio.file.Path;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.UserInterruptException;
import org.jline.reader.impl.DefaultParser;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jspecify.annotations.Nullable;

/// Lines of a terminal, with history, completion and colours. Ctrl-C while a statement runs cancels it. Used by the shell's thread.
public final class TerminalPrompt implements Prompt, AutoCloseable {
  private static final String HISTORY = ".kakehashi_history";
  private static final int HISTORY_LINES = 10_000;

  private final Terminal terminal;
  private final LineReader reader;
  private final BesideWork beside;
  private int number;

  private TerminalPrompt(Terminal terminal, LineReader reader, BesideWork beside) {
    this.terminal = terminal;
    this.reader = reader;
    this.beside = beside;
  }

  public static TerminalPrompt open(Shell shell) throws IOException {
    Terminal terminal = TerminalBuilder.builder().system(true).name("kakehashi").build();
    terminal.handle(Terminal.Signal.INT, _ -> shell.interrupt());
    DefaultParser parser = new DefaultParser();
    parser.setEscapeChars(null);
    parser.setQuoteChars(new char[0]);
    BesideWork beside = new BesideWork(shell.link);
    CatalogNamesCache names = new CatalogNamesCache(beside);
    LineReader reader =
        LineReaderBuilder.builder()
            .terminal(terminal)
            .appName("kakehashi")
            .parser(parser)
            .completer(new SqlCompleter(names))
            .highlighter(new SqlHighlighter())
            .variable(LineReader.HISTORY_FILE, history(shell))
            .variable(LineReader.HISTORY_SIZE, HISTORY_LINES)
            .variable(LineReader.HISTORY_FILE_SIZE, HISTORY_LINES)
            .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
            .option(LineReader.Option.HISTORY_BEEP, false)
            .option(LineReader.Option.AUTO_MENU_LIST, true)
            .build();
    PrintOptions print = shell.print;
    measure(terminal, print);
    terminal.handle(Terminal.Signal.WINCH, _ -> measure(terminal, print));
    shell.progress(new JobProgress(terminal, beside));
    shell.definitions(names::refresh);
    return new TerminalPrompt(terminal, reader, beside);
  }

  private static void measure(Terminal terminal, PrintOptions print) {
    print.terminalColumns = terminal.getSize().getColumns();
    print.terminalLines = terminal.getSize().getRows();
  }

  private static Path history(Shell shell) {
    String file = shell.variables.get("HISTFILE");
    return file == null ? Path.of(System.getProperty("user.home"), HISTORY) : Path.of(file);
  }

  @Override
  public @Nullable String line(String prompt) {
    try {
      String line = reader.readLine(prompt);
      number++;
      return line;
    } catch (UserInterruptException interrupted) {
      throw new InterruptedLine();
    } catch (EndOfFileException end) {
      return null;
    }
  }

  @Override
  public boolean isInteractive() {
    return true;
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public void close() throws IOException {
    beside.close();
    reader.getHistory().save();
    terminal.close();
  }
}
