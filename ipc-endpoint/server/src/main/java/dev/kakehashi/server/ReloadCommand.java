package dev.kakehashi.server;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `kakehashi reload`: lets a running endpoint read its settings again.
@Command(
    name = "reload",
    description = {
      "Lets a running endpoint read the file again that it was started with, and shows what has become of each setting that has changed."
          + " So does SIGHUP, which tells the log.",
      "memory, statement_memory, temp_space, lock_timeout, idle_in_transaction_timeout (and _roles) and log_level are changed at once, the others need a restart."
          + " Options of \"start\" still come before the file."
    })
final class ReloadCommand implements Callable<Integer> {
  @CommandLine.Mixin private Main.Common common = new Main.Common();

  @Option(
      names = {"-n", "--now"},
      paramLabel = "KEY=VALUE",
      description =
          "a setting that comes before file and options, until the next reload or restart")
  private Map<String, String> now = Map.of();

  @Override
  public Integer call() throws IOException {
    Settings settings = common.settingsOfOther();
    Path data = settings.dataDirectory();
    DirectoryLock.Owner owner =
        DirectoryLock.owner(data)
            .orElseThrow(() -> new SettingsException("no endpoint runs on \"" + data + "\""));
    List<String> said = ReloadSocket.ask(common.location(owner, settings), now);
    said.forEach(System.out::println);
    if (said.isEmpty()) {
      System.out.println("all settings are as before");
    }
    return 0;
  }
}
