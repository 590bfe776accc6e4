package dev.kakehashi.server;

import dev.kakehashi.engine.EngineCheck;
import dev.kakehashi.engine.store.StoreCheck;
import dev.kakehashi.engine.store.StoreConfig;
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
      "Verifies a data directory on which no endpoint runs, and changes nothing in it: checksums, catalogue,"
          + " rows, constraints, indexes. Needs the memory that the endpoint needs (setting memory).",
      "Exit code 0: everything is as it should be; 1: something is not."
    },
    mixinStandardHelpOptions = true)
final class CheckCommand implements Callable<Integer> {
  @CommandLine.Mixin private Main.Common common = new Main.Common();

  @Parameters(
      arity = "0..1",
      paramLabel = "DIRECTORY",
      description = "the data directory; that of the settings if it is left out")
  private @Nullable Path directory;

  @Option(
      names = {"-q", "--quiet"},
      description = "prints problems only")
  private boolean quiet;

  @Override
  public Integer call() throws IOException {
    Settings settings = common.settings();
    Path data = directory == null ? settings.dataDirectory() : directory;
    Path store = EmbeddedEngineFactory.storeDirectory(data);
    if (Files.notExists(store)) {
      throw new SettingsException("\"" + data + "\" is no data directory: it has no store");
    }
    try (DirectoryLock _ = DirectoryLock.take(data)) {
      return run(store, settings.number(Setting.MEMORY));
    }
  }

  private int run(Path store, long memoryBytes) {
    int[] problems = {0};
    EngineCheck.run(
        new StoreConfig(store, memoryBytes),
        new StoreCheck.Report() {
          @Override
          public void checked(String what) {
            if (!quiet) {
              System.out.println(what);
            }
          }

          @Override
          public void problem(String what) {
            problems[0]++;
            System.out.println("PROBLEM: " + what);
          }
        });
    if (problems[0] > 0) {
      System.out.println(problems[0] + (problems[0] == 1 ? " problem" : " problems"));
    } else if (!quiet) {
      System.out.println("no problems");
    }
    return problems[0] == 0 ? 0 : 1;
  }
}
