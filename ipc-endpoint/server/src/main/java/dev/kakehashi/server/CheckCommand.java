package dev.kakehashi.server;

import dev.kakehashi.engine.embedded.EngineCheck;
import dev.kakehashi.engine.store.check.CheckListener;
import dev.kakehashi.requests.TransactionRegistry;
import dev.kakehashi.rest.job.Jobs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `kakehashi check`: verifies a data directory.
@Command(
    name = "check",
    description = {
      "Verifies a backup, or a data directory on which no endpoint runs, and changes nothing in it: checksums, catalogue,"
          + " rows, constraints, indexes, queues. Needs the memory that the endpoint needs (setting memory).",
      "Exit code 0: everything that a start needs is as it should be; 1: something is not. A warning names what a start"
          + " sets aside."
    })
final class CheckCommand implements Callable<Integer> {
  @CommandLine.Mixin private Main.Common common = new Main.Common();

  @Parameters(
      arity = "0..1",
      paramLabel = "DIRECTORY",
      description = "the data directory; that of the settings if it is left out")
  private @Nullable Path directory;

  @Option(
      names = {"-q", "--quiet"},
      description = "prints problems and warnings only")
  private boolean quiet;

  @Override
  public Integer call() throws IOException {
    Settings settings = common.settingsOfOther();
    Path data = directory == null ? settings.dataDirectory() : directory;
    Path store = EmbeddedEngineFactory.storeDirectory(data);
    if (BackupManifest.isBackup(data)) {
      return run(data, store, settings);
    }
    RestoreCommand.refuseUnfinished(data);
    if (Files.notExists(store)) {
      throw new SettingsException("\"" + data + "\" is no data directory: it has no store");
    }
    try (DirectoryLock _ = DirectoryLock.take(data)) {
      return run(data, store, settings);
    }
  }

  private int run(Path data, Path store, Settings settings) throws IOException {
    Printer printer = new Printer(quiet);
    if (BackupManifest.isBackup(data)) {
      BackupManifest manifest = BackupManifest.read(data);
      manifest.verify(data).forEach(printer::problem);
      printer.checked(
          "backup of %s: checksums of %d files read"
              .formatted(manifest.moment(), manifest.entries().size()));
    }
    checkUsers(data, printer);
    checkSetAside(data, (int) settings.number(Setting.OUTCOMES_KEPT), printer);
    EngineCheck.run(
        EmbeddedEngineFactory.storeConfig(store, settings.number(Setting.MEMORY)), printer);
    if (printer.problems > 0) {
      System.out.println(printer.problems + (printer.problems == 1 ? " problem" : " problems"));
    } else {
      printer.checked(
          "no problems"
              + (printer.warnings == 0
                  ? ""
                  : printer.warnings == 1 ? ", 1 warning" : ", " + printer.warnings + " warnings"));
    }
    return printer.problems == 0 ? 0 : 1;
  }

  private static void checkUsers(Path data, Printer printer) throws IOException {
    try {
      int users = new UserFile(data).read().size();
      if (users > 0) {
        printer.checked("users: %d can be read".formatted(users));
      }
    } catch (SettingsException e) {
      printer.problem(String.valueOf(e.getMessage()));
    }
  }

  /// Files that a start sets aside when they are damaged, and goes on: rows do not depend on them. They are named also where only problems
  /// are asked for.
  private static void checkSetAside(Path data, int outcomes, Printer printer) throws IOException {
    String registry = TransactionRegistry.problem(data, outcomes);
    if (registry != null) {
      printer.warning(
          "transactions: damaged, the next start sets it aside and begins an empty one: "
              + registry);
    }
    String journal = Jobs.problem(HttpInterface.directory(data));
    if (journal != null) {
      printer.warning(
          "jobs of HTTP: damaged, the next start sets a copy of it aside and goes on without what cannot be read: "
              + journal);
    }
  }

  private static final class Printer implements CheckListener {
    private final boolean quiet;
    private int problems;
    private int warnings;

    Printer(boolean quiet) {
      this.quiet = quiet;
    }

    @Override
    public void checked(String what) {
      if (!quiet) {
        System.out.println(what);
      }
    }

    void warning(String what) {
      warnings++;
      System.out.println("WARNING: " + what);
    }

    @Override
    public void problem(String what) {
      problems++;
      System.out.println("PROBLEM: " + what);
    }
  }
}
