package dev.kakehashi.tools;

import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.IsolationLevel;
import dev.kakehashi.protocol.messages.TransactionKind;
import dev.kakehashi.tools.bulk.Connecting;
import dev.kakehashi.tools.shell.FilePrompt;
import dev.kakehashi.tools.shell.Link;
import dev.kakehashi.tools.shell.MemoryLink;
import dev.kakehashi.tools.shell.Shell;
import dev.kakehashi.tools.shell.TerminalPrompt;
import dev.kakehashi.tools.shell.TransactionVariables;
import dev.kakehashi.tools.shell.TransactionWords;
import dev.kakehashi.tools.shell.Variables;
import dev.kakehashi.tools.shell.command.BackslashCommands;
import dev.kakehashi.tools.shell.http.HttpOptions;
import dev.kakehashi.tools.shell.print.PrintFormat;
import dev.kakehashi.tools.shell.print.PrintOptions;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.Console;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `kakehashi sql`.
@Command(
    name = "sql",
    description = {
      "A shell for SQL, with psql's backslash commands: \\? shows them.",
      "Exit status: 0 all went well, 1 the shell itself failed, 2 the endpoint has gone, 3 a statement failed and ON_ERROR_STOP is set."
    },
    mixinStandardHelpOptions = true)
public final class SqlCommand implements Callable<Integer> {
  private static final int BUFFER_BYTES = 1 << 16;

  @Mixin private Connecting connecting = new Connecting();

  @Mixin private HttpOptions http = new HttpOptions();

  @Option(
      names = {"-c", "--command"},
      paramLabel = "TEXT",
      description = "runs statements or one backslash command, and ends; can be given again")
  private List<String> commands = new ArrayList<>();

  @Option(
      names = {"-f", "--file"},
      paramLabel = "FILE",
      description = "runs the lines of a file (-: standard input), and ends; can be given again")
  private List<String> files = new ArrayList<>();

  @Option(
      names = {"-v", "--set", "--variable"},
      paramLabel = "NAME=VALUE",
      description = "sets a variable, such as ON_ERROR_STOP=1")
  private List<String> variables = new ArrayList<>();

  @Option(
      names = {"-A", "--no-align"},
      description = "rows are not aligned")
  private boolean unaligned;

  @Option(
      names = {"-t", "--tuples-only"},
      description = "rows alone")
  private boolean tuplesOnly;

  @Option(
      names = {"-x", "--expanded"},
      description = "one value below the other")
  private boolean expanded;

  @Option(names = "--csv", description = "rows as CSV")
  private boolean csv;

  @Option(names = "--json", description = "rows as lines of JSON")
  private boolean json;

  @Option(
      names = {"-F", "--field-separator"},
      paramLabel = "STRING",
      description = "between fields of rows that are not aligned (default: |)")
  private @Nullable String fieldSeparator;

  @Option(
      names = {"-P", "--pset"},
      paramLabel = "NAME=VALUE",
      description = "as \\pset")
  private List<String> psets = new ArrayList<>();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "where results go")
  private @Nullable String output;

  @Option(
      names = {"-q", "--quiet"},
      description = "results alone")
  private boolean quiet;

  @Option(
      names = {"-a", "--echo-all"},
      description = "shows each line that is read")
  private boolean echoAll;

  @Option(
      names = {"-e", "--echo-queries"},
      description = "shows each statement that is run")
  private boolean echoQueries;

  @Option(
      names = {"-X", "--no-rc"},
      description = "does not read ~/.kakehashirc")
  private boolean noStart;

  @Option(
      names = {"-1", "--single-transaction"},
      description = "all of -c and -f as one transaction")
  private boolean single;

  @Option(
      names = "--transaction",
      paramLabel = "KIND",
      defaultValue = "occ",
      completionCandidates = TransactionWords.Kinds.class,
      converter = TransactionWords.Kinds.class,
      description = "kind of transactions: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})")
  private TransactionKind kind = TransactionKind.OCC;

  @Option(
      names = "--isolation",
      paramLabel = "LEVEL",
      completionCandidates = TransactionWords.Levels.class,
      converter = TransactionWords.Levels.class,
      description = "isolation of transactions: ${COMPLETION-CANDIDATES}")
  private @Nullable IsolationLevel isolation;

  @Option(names = "--label", paramLabel = "TEXT", description = "label of transactions")
  private String label = "";

  @Option(
      names = "--write-preserve",
      paramLabel = "TABLE",
      split = ",",
      description = "tables that long transactions may write")
  private List<String> writePreserve = new ArrayList<>();

  @Option(
      names = "--read-include",
      paramLabel = "TABLES",
      description = "tables that long transactions may read")
  private String readInclude = "";

  @Option(
      names = "--read-exclude",
      paramLabel = "TABLES",
      description = "tables that long transactions do not read")
  private String readExclude = "";

  @Option(
      names = "--commit-response",
      paramLabel = "RESPONSE",
      defaultValue = "stored",
      completionCandidates = TransactionWords.Responses.class,
      converter = TransactionWords.Responses.class,
      description =
          "when a commit is reported: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})")
  private CommitResponse response = CommitResponse.STORED;

  /// Usual options and their letters, as they are annotated above.
  private static final Map<String, Character> LETTERS =
      Map.ofEntries(
          Map.entry("--command", 'c'),
          Map.entry("--file", 'f'),
          Map.entry("--set", 'v'),
          Map.entry("--variable", 'v'),
          Map.entry("--field-separator", 'F'),
          Map.entry("--pset", 'P'),
          Map.entry("--output", 'o'),
          Map.entry("--runtime-directory", 'R'),
          Map.entry("--user", 'U'),
          Map.entry("--no-align", 'A'),
          Map.entry("--tuples-only", 't'),
          Map.entry("--expanded", 'x'),
          Map.entry("--quiet", 'q'),
          Map.entry("--echo-all", 'a'),
          Map.entry("--echo-queries", 'e'),
          Map.entry("--no-rc", 'X'),
          Map.entry("--single-transaction", '1'),
          Map.entry("--csv", 'C'),
          Map.entry("--json", 'J'));

  private static final String WITH_VALUE = "cfvFPoRU";
  private static final String REPEATED = "cfvP";
  private static final String SHORT = WITH_VALUE + "AtxqaeX1";

  /// A shell of usual arguments, each of which has one meaning; null: they are for the library, which also says what is wrong with them.
  public static @Nullable SqlCommand plain(List<String> words) {
    SqlCommand command = new SqlCommand();
    Map<Character, String> given = new HashMap<>();
    Iterator<String> all = words.iterator();
    while (all.hasNext()) {
      String word = all.next();
      if (word.startsWith("--")) {
        int sign = word.indexOf('=');
        Character letter = LETTERS.get(sign < 0 ? word : word.substring(0, sign));
        if (letter == null
            || !command.take(letter, sign < 0 ? null : word.substring(sign + 1), all, given)) {
          return null;
        }
        continue;
      }
      if (word.length() < 2 || word.charAt(0) != '-') {
        return null;
      }
      for (int i = 1; i < word.length(); i++) {
        char letter = word.charAt(i);
        if (SHORT.indexOf(letter) < 0) {
          return null;
        }
        boolean last = i == word.length() - 1;
        if (WITH_VALUE.indexOf(letter) >= 0 && !last) {
          return null; // a value that touches its option
        }
        if (!command.take(letter, null, all, given)) {
          return null;
        }
      }
    }
    command.fieldSeparator = given.get('F');
    command.output = given.get('o');
    command.connecting.take(given.get('R'), given.get('U'));
    return command;
  }

  /// Takes one option.
  ///
  /// @param attached its value after a sign
  private boolean take(
      char letter, @Nullable String attached, Iterator<String> all, Map<Character, String> given) {
    String value = attached;
    if (WITH_VALUE.indexOf(letter) >= 0) {
      if (value == null) {
        value = all.hasNext() ? all.next() : "-?";
      }
      if (value.isEmpty() || (value.length() > 1 && value.charAt(0) == '-')) {
        return false;
      }
    } else if (value != null) {
      return false;
    } else {
      value = "";
    }
    boolean isFirst = given.put(letter, value) == null;
    switch (letter) {
      case 'c' -> commands.add(value);
      case 'f' -> files.add(value);
      case 'v' -> variables.add(value);
      case 'P' -> psets.add(value);
      case 'A' -> unaligned = true;
      case 't' -> tuplesOnly = true;
      case 'x' -> expanded = true;
      case 'q' -> quiet = true;
      case 'a' -> echoAll = true;
      case 'e' -> echoQueries = true;
      case 'X' -> noStart = true;
      case '1' -> single = true;
      case 'C' -> csv = true;
      case 'J' -> json = true;
      default -> {} // of which the value is enough
    }
    return isFirst || REPEATED.indexOf(letter) >= 0;
  }

  @Override
  public Integer call() throws IOException {
    OutputStream standard =
        new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), BUFFER_BYTES);
    PrintStream err =
        new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
    OutputStream out =
        output == null
            ? standard
            : new BufferedOutputStream(Files.newOutputStream(Path.of(output)), BUFFER_BYTES);
    int status;
    try (Link link = link()) {
      Shell shell = new Shell(link, out, err, BackslashCommands::new);
      if (!set(shell, err)) {
        return 1;
      }
      status = commands.isEmpty() && files.isEmpty() ? read(shell) : run(shell);
      shell.flush();
    } finally {
      out.flush();
    }
    return status;
  }

  private Link link() throws IOException {
    Link.Manner manner = new Link.Manner(transactions(), response);
    return http.isGiven()
        ? http.link(connecting, manner)
        : new MemoryLink(
            () -> connecting.attach("kakehashi sql"),
            connecting.runtimeDirectory().toString(),
            manner);
  }

  private TransactionOptions transactions() {
    TransactionOptions options = TransactionOptions.DEFAULT.withKind(kind).withLabel(label);
    if (isolation != null) {
      options = options.withIsolation(isolation);
    } else if (kind != TransactionKind.OCC) {
      options = options.withIsolation(TransactionVariables.usual(kind));
    }
    if (!writePreserve.isEmpty()) {
      options = options.withWritePreserve(writePreserve.toArray(String[]::new));
    }
    return options.withReadAreas(readInclude, readExclude);
  }

  private boolean set(Shell shell, PrintStream err) {
    PrintOptions print = shell.print;
    if (csv) {
      print.format = PrintFormat.CSV;
    } else if (json) {
      print.format = PrintFormat.JSON;
    } else if (unaligned) {
      print.format = PrintFormat.UNALIGNED;
    }
    print.tuplesOnly = tuplesOnly;
    print.expanded = expanded ? PrintOptions.Expanded.ON : PrintOptions.Expanded.OFF;
    if (fieldSeparator != null) {
      print.fieldSeparator = fieldSeparator;
    }
    Variables all = shell.variables;
    all.set("DBNAME", "kakehashi");
    all.set("USER", connecting.userName());
    TransactionVariables.show(shell.link.manner(), all);
    all.set("HOST", shell.link.place());
    all.set("ECHO", echoAll ? "all" : echoQueries ? "queries" : "none");
    for (String each : variables) {
      int sign = each.indexOf('=');
      String name = sign < 0 ? each : each.substring(0, sign);
      if (!Variables.isName(name)) {
        err.println("invalid variable name: \"" + name + "\"");
        return false;
      }
      String value = sign < 0 ? "" : each.substring(sign + 1);
      if (TransactionVariables.isOne(name)) {
        TransactionVariables.changed(shell, name, value);
      } else {
        all.set(name, value);
      }
    }
    all.set("QUIET", "on");
    for (String each : psets) {
      int sign = each.indexOf('=');
      String name = sign < 0 ? each : each.substring(0, sign);
      String value =
          sign < 0
              ? ""
              : " " + Variables.quoted(each.substring(sign + 1), '\'').replace(" E'", "'");
      if (shell.runText("\\pset " + name + value) != 0) {
        return false;
      }
    }
    all.set("QUIET", quiet ? "on" : "off");
    return true;
  }

  private int run(Shell shell) throws IOException {
    Link link = shell.link;
    if (single) {
      link.control("BEGIN");
    }
    int status = 0;
    boolean stop = shell.variables.isOn("ON_ERROR_STOP");
    for (String command : commands) {
      status = shell.runText(command);
      if (status != 0 && (stop || single)) {
        status = stop ? 3 : 1;
        break;
      }
    }
    if (status == 0 || !stop) {
      for (String file : files) {
        int result = file.equals("-") ? shell.run(standardInput(), "<stdin>") : file(shell, file);
        if (result != 0) {
          status = result;
          break;
        }
      }
    }
    if (single && link.isInTransaction()) {
      boolean well = status == 0 && !link.isFailed();
      link.control(well ? "COMMIT" : "ROLLBACK");
      if (!well && status == 0) {
        status = stop ? 3 : 1;
      }
    }
    return status;
  }

  private static int file(Shell shell, String file) throws IOException {
    Path path = Path.of(file);
    if (!Files.isReadable(path)) {
      shell.complain(
          file
              + ": "
              + (Files.exists(path) ? "Permission denied" : "No such file or directory")
              + "\n");
      return 1;
    }
    try (BufferedReader reader = Files.newBufferedReader(path)) {
      return shell.run(new FilePrompt(reader), file);
    }
  }

  private static FilePrompt standardInput() {
    return new FilePrompt(
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)));
  }

  @SuppressWarnings("SystemConsoleNull") // since JDK 22 it may be no terminal
  private static boolean isTerminal() {
    @Nullable Console console = System.console();
    return console != null && console.isTerminal();
  }

  private int read(Shell shell) throws IOException {
    if (!isTerminal()) {
      return shell.run(standardInput(), "<stdin>");
    }
    try (TerminalPrompt prompt = TerminalPrompt.open(shell)) {
      if (!noStart) {
        Path start = Path.of(System.getProperty("user.home"), ".kakehashirc");
        if (Files.isReadable(start)) {
          shell.include(start, start.toString());
        }
      }
      if (!quiet) {
        shell.write("kakehashi sql\nType \\? for help.\n\n");
      }
      return shell.run(prompt, "");
    }
  }
}
