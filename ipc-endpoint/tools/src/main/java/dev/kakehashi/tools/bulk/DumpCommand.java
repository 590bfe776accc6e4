package dev.kakehashi.tools.bulk;

import dev.kakehashi.client.Bulk;
import dev.kakehashi.client.CopyCommand;
import dev.kakehashi.client.DumpOutcome;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.client.TransactionOptions;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `dump`: tables or a query into files.
@Command(
    name = "dump",
    description = {
      "Writes tables, or the rows of a query, to files. All of them are of one snapshot.",
      "PLACE is a file of this host, - for standard output (the default), or NAME:PATH below a location of the endpoint's settings."
          + " If it ends with / each table gets a file of its name there.",
      "A file has its name when all of it is on disk. Ctrl-C cancels, and nothing is left."
    },
    mixinStandardHelpOptions = true)
public final class DumpCommand implements Callable<Integer> {
  private static final int OUTPUT_BUFFER_BYTES = 1 << 16;

  @Mixin private Connecting connecting = new Connecting();
  @Mixin private CopyArguments options = new CopyArguments();

  @ArgGroup(multiplicity = "1")
  private What what = new What();

  /// One of both.
  static final class What {
    @Option(
        names = {"-t", "--table"},
        paramLabel = "TABLE",
        description = "table, as SQL writes it; may be repeated")
    private List<String> tables = List.of();

    @Option(names = "--query", paramLabel = "SQL", description = "query")
    private String query = "";
  }

  @Option(
      names = "--columns",
      paramLabel = "NAME",
      split = ",",
      description = "columns of the table, in the order of the file")
  private List<String> columns = List.of();

  @Option(names = "--to", paramLabel = "PLACE", description = "where files go")
  private String to = "-";

  @Option(names = "--replace", description = "replaces a file of this host that is there")
  private boolean replace;

  @Option(
      names = {"-q", "--quiet"},
      description = "prints nothing but errors")
  private boolean quiet;

  @Override
  public Integer call() throws IOException {
    Place place = new Place(to);
    if (what.tables.size() > 1 && !place.isDirectory()) {
      throw new IllegalArgumentException("several tables need --to with a place that ends with /");
    }
    try (Session session = connecting.attach("kakehashi dump");
        Transaction transaction = session.begin(TransactionOptions.READ_ONLY.withLabel("dump"))) {
      Bulk bulk = Bulk.in(session, transaction);
      try (BulkRun _ = new BulkRun(bulk, quiet)) {
        for (String table : what.tables) {
          CopyCommand command = CopyCommand.of(table).columns(columns.toArray(String[]::new));
          dump(bulk, command, named(place, table));
        }
        if (what.tables.isEmpty()) {
          dump(bulk, CopyCommand.ofQuery(what.query), named(place, "query"));
        }
      }
      transaction.commit();
    }
    return 0;
  }

  /// The endpoint names the files of one table itself.
  private Place named(Place place, String table) {
    boolean byEndpoint = place.isLocation() && what.tables.size() <= 1;
    return place.isDirectory() && !byEndpoint
        ? place.resolve(table.replaceAll("[\"/]", "") + options.suffix())
        : place;
  }

  private void dump(Bulk bulk, CopyCommand plain, Place place) throws IOException {
    boolean nameless = place.isStandard() || place.isDirectory();
    CopyCommand command = options.apply(plain, nameless ? options.suffix() : place.text());
    if (place.isLocation()) {
      for (DumpOutcome file : bulk.dump(command, place.text())) {
        print(
            "%s  %d rows  %d bytes  sha256 %s"
                .formatted(file.file(), file.rows(), file.bytes(), file.digest()));
      }
    } else if (place.isStandard()) {
      try (OutputStream out =
          new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), OUTPUT_BUFFER_BYTES)) {
        bulk.dump(command, out);
      }
    } else {
      long bytes = bulk.dump(command, place.path(), replace);
      print("%s  %d bytes".formatted(place.text(), bytes));
    }
  }

  private void print(String line) {
    if (!quiet) {
      System.out.println(line);
    }
  }
}
