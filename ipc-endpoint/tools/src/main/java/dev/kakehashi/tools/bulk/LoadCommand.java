package dev.kakehashi.tools.bulk;

import dev.kakehashi.client.Bulk;
import dev.kakehashi.client.CopyCommand;
import dev.kakehashi.client.LoadOutcome;
import dev.kakehashi.client.SentFile;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.messages.TransactionKind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `load`: files into a table.
@Command(
    name = "load",
    description = {
      "Loads files into a table of the engine, all of them in one transaction; with -o batch_rows=N it commits after so many rows.",
      "A FILE is one of this host, - for standard input, or NAME:PATH below a location of the endpoint's settings, perhaps with * and ?.",
      "A file of this host is sent to the endpoint first. Ctrl-C cancels, and nothing is left."
    },
    mixinStandardHelpOptions = true)
public final class LoadCommand implements Callable<Integer> {
  @Mixin private Connecting connecting = new Connecting();
  @Mixin private CopyArguments options = new CopyArguments();

  @Option(
      names = {"-t", "--table"},
      paramLabel = "TABLE",
      required = true,
      description = "table, as SQL writes it")
  private String table = "";

  @Option(
      names = "--columns",
      paramLabel = "NAME",
      split = ",",
      description = "columns that the files have, in their order")
  private List<String> columns = List.of();

  @Option(names = "--where", paramLabel = "CONDITION", description = "loads such rows alone")
  private @Nullable String condition;

  @Option(
      names = "--short",
      description =
          "in a short transaction, which gives way to others; otherwise a long one, to which short ones give way")
  private boolean isShort;

  @Option(
      names = {"-q", "--quiet"},
      description = "prints nothing but errors")
  private boolean quiet;

  @Parameters(paramLabel = "FILE", arity = "1..*", description = "what is loaded")
  private List<String> files = List.of();

  @Override
  public Integer call() throws IOException {
    List<CopyCommand> commands = files.stream().map(this::command).toList();
    try (Session session = connecting.attach("kakehashi load")) {
      List<SentFile> sent = new ArrayList<>();
      Bulk sending = Bulk.of(session);
      try (BulkRun _ = new BulkRun(sending, quiet)) {
        // Before the transaction begins, which others wait for.
        List<String> locations = new ArrayList<>();
        for (String file : files) {
          locations.add(location(new Place(file), sending, sent));
        }
        LoadOutcome report =
            options.has("batch_rows") || (locations.size() == 1 && !isShort)
                ? load(sending, commands, locations)
                : inTransaction(session, sending, commands, locations);
        print(report);
      } finally {
        for (SentFile file : sent) {
          file.close();
        }
      }
    }
    return 0;
  }

  private CopyCommand command(String file) {
    CopyCommand command =
        options.apply(CopyCommand.into(table).columns(columns.toArray(String[]::new)), file);
    return condition == null ? command : command.where(condition);
  }

  private static String location(Place place, Bulk sending, List<SentFile> sent)
      throws IOException {
    if (place.isLocation()) {
      return place.text();
    }
    try (InputStream in = place.isStandard() ? System.in : Files.newInputStream(place.path())) {
      SentFile file = sending.send(in, place.isStandard() ? 0 : Files.size(place.path()));
      sent.add(file);
      return file.location();
    }
  }

  private LoadOutcome inTransaction(
      Session session, Bulk sending, List<CopyCommand> commands, List<String> locations) {
    TransactionOptions kind =
        isShort
            ? TransactionOptions.DEFAULT
            : TransactionOptions.DEFAULT.withKind(TransactionKind.LTX).withWritePreserve(table);
    try (Transaction transaction = session.begin(kind.withLabel("load"))) {
      LoadOutcome report = load(sending.within(transaction), commands, locations);
      transaction.commit();
      return report;
    }
  }

  private static LoadOutcome load(Bulk bulk, List<CopyCommand> commands, List<String> locations) {
    LoadOutcome sum = LoadOutcome.NOTHING;
    for (int i = 0; i < commands.size(); i++) {
      sum = sum.plus(bulk.load(commands.get(i), locations.get(i)));
    }
    return sum;
  }

  private void print(LoadOutcome report) {
    if (quiet) {
      return;
    }
    System.out.printf(
        "%d rows read, %d loaded, %d rejected, %d filtered%n",
        report.read(), report.loaded(), report.rejected(), report.filtered());
    if (!report.rejectFile().isEmpty()) {
      System.out.println("rejected rows are in " + report.rejectFile());
    }
  }
}
