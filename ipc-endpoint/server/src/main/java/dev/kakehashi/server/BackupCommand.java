package dev.kakehashi.server;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `kakehashi backup`: copies what a running endpoint has.
@Command(
    name = "backup",
    description = {
      "Copies what a running endpoint has to a directory on its host that is empty or does not exist, while clients go on"
          + " reading and writing.",
      "Every commit that was stored before the beginning is in it, and what ALTER SYSTEM has set. Temporary results, the log file and the outcomes of"
          + " transactions are not. Verify it with \"check\", use it with \"restore\"."
    })
final class BackupCommand implements Callable<Integer> {
  @CommandLine.Mixin private Main.Common common = new Main.Common();

  @Parameters(paramLabel = "TARGET", description = "directory of the backup")
  private @Nullable Path target;

  @Option(
      names = {"-q", "--quiet"},
      description = "prints nothing but errors")
  private boolean quiet;

  @Override
  public Integer call() throws IOException {
    Settings settings = common.settingsOfOther();
    DirectoryLock.Owner owner =
        DirectoryLock.owner(settings.dataDirectory())
            .orElseThrow(() ->
                new SettingsException(
                    "no endpoint runs on \""
                        + settings.dataDirectory()
                        + "\"; copy it as it is, or start one"));
    Path absolute = java.util.Objects.requireNonNull(target).toAbsolutePath().normalize();
    PrintStream progress = quiet ? new PrintStream(PrintStream.nullOutputStream()) : System.out;
    BackupSocket.ask(common.location(owner, settings), absolute, progress);
    BackupManifest manifest = BackupManifest.read(absolute);
    progress.println(
        "backup of %s: %d files, %d bytes"
            .formatted(manifest.moment(), manifest.entries().size(), manifest.bytes()));
    return 0;
  }
}
