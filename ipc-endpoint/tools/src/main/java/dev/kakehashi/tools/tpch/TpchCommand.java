package dev.kakehashi.tools.tpch;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Session;
import io.trino.tpch.TpchTable;
import java.io.BufferedWriter;
import java.io.Console;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `tpch`: tables of the TPC-H benchmark.
@Command(
    name = "tpch",
    description = "Tables of the TPC-H benchmark.",
    mixinStandardHelpOptions = true)
public final class TpchCommand {
  private static final double MIN_SCALE = 0.01;

  @Command(
      name = "text",
      description = "Write one table to standard output, as PostgreSQL's COPY reads it.")
  int text(
      @Option(
              names = "--scale",
              defaultValue = "0.1",
              description = "scale factor, default ${DEFAULT-VALUE}")
          double scale,
      @Parameters(paramLabel = "TABLE", description = "name of the table") String table)
      throws IOException {
    requireScale(scale);
    try (var out =
        new BufferedWriter(
            new OutputStreamWriter(
                new FileOutputStream(FileDescriptor.out), StandardCharsets.UTF_8),
            1 << 16)) {
      CopyText.write(Tpch.table(table), scale, out);
    }
    return 0;
  }

  @Command(name = "ddl", description = "Print CREATE TABLE of every table.")
  int ddl(
      @Option(
              names = "--schema",
              defaultValue = "tpch",
              description = "schema, default ${DEFAULT-VALUE}")
          String schema) {
    for (TableSpec<?> table : Tpch.TABLES) {
      System.out.println(table.createTable(schema) + ";");
    }
    return 0;
  }

  @Command(name = "load", description = "Make and fill the tables on an endpoint.")
  int load(
      @Option(
              names = {"-R", "--runtime-directory"},
              paramLabel = "DIRECTORY",
              description =
                  "runtime directory of the endpoint (default: $KAKEHASHI_RUNTIME_DIR, or what client.conf says)")
          @Nullable Path runtimeDirectory,
      @Option(
              names = "--requirepeer",
              paramLabel = "USER",
              defaultValue = "",
              description =
                  "OS user, by name or number, that the endpoint has to run as (default: $KAKEHASHI_REQUIREPEER, or what client.conf says, or our own)")
          String requiredPeer,
      @Option(
              names = "--scale",
              defaultValue = "0.1",
              description = "scale factor, default ${DEFAULT-VALUE}")
          double scale,
      @Option(
              names = "--schema",
              defaultValue = "tpch",
              description = "schema, default ${DEFAULT-VALUE}")
          String schema,
      @Option(names = "--replace", description = "drop tables that are there") boolean replace) {
    requireScale(scale);
    AttachOptions options =
        AttachOptions.usual(runtimeDirectory, requiredPeer).withApplicationName("tpch load");
    boolean terminal = isTerminal();
    try (Session session = Session.attach(options)) {
      Loader loader = new Loader(session, schema, scale);
      loader.createSchema();
      for (TableSpec<?> table : Tpch.TABLES) {
        if (replace) {
          loader.drop(table);
        }
        loader.load(table, total -> new ProgressBar(System.out, terminal, table.name(), total));
      }
    }
    return 0;
  }

  @Command(name = "query", description = "Print the text of one of the 22 queries.")
  int query(@Parameters(paramLabel = "NUMBER", description = "1 to 22") int number)
      throws IOException {
    try (InputStream text =
        TpchTable.class.getResourceAsStream("/io/trino/tpch/queries/q" + number + ".sql")) {
      if (text == null) {
        throw new IllegalArgumentException(
            "query " + number + " does not exist; the queries are 1 to 22");
      }
      System.out.println(new String(text.readAllBytes(), StandardCharsets.UTF_8).strip());
    }
    return 0;
  }

  /// With few suppliers the benchmark's formula gives a part the same supplier twice.
  private static void requireScale(double scale) {
    if (!(scale >= MIN_SCALE)) {
      throw new IllegalArgumentException(
          "scale factor " + scale + " is too small; the smallest is " + MIN_SCALE);
    }
  }

  @SuppressWarnings("SystemConsoleNull") // since 25 it is null again without a terminal
  private static boolean isTerminal() {
    Console console = System.console();
    return console != null && console.isTerminal();
  }
}
