package dev.kakehashi.server;

import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.store.StoreRestore;
import dev.kakehashi.server.standby.StandbyMark;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `kakehashi promote`: ends a standby, and makes its directory that of an endpoint.
@Command(
    name = "promote",
    description = {
      "Makes the directory of a standby that of an endpoint, with all that the standby has got. It begins a new timeline of the log.",
      "A standby that runs on it is ended first. Afterwards \"start\" without the setting primary serves clients. The old primary must not go"
          + " on: its clients would change what nobody else sees."
    })
final class PromoteCommand implements Callable<Integer> {
  @CommandLine.Mixin private Main.Common common = new Main.Common();

  @Option(
      names = {"-t", "--timeout"},
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "how long to wait for the end of the standby (default ${DEFAULT-VALUE})")
  private int timeoutSeconds;

  @Override
  public Integer call() throws Exception {
    Settings settings = common.settingsOfOther();
    Path data = settings.dataDirectory();
    if (!StandbyMark.isSet(data)) {
      throw new SettingsException("\"" + data + "\" is no standby's");
    }
    end(data);
    try (DirectoryLock _ = DirectoryLock.take(data)) {
      LogPosition begin =
          StoreRestore.leaveTimeline(
              EmbeddedEngineFactory.storeConfig(
                  EmbeddedEngineFactory.storeDirectory(data), settings.number(Setting.MEMORY)));
      StandbyMark.remove(data);
      System.out.println("promoted; the log goes on at " + begin);
    }
    return 0;
  }

  private void end(Path data) throws IOException, InterruptedException, ExecutionException {
    Optional<ProcessHandle> running =
        DirectoryLock.owner(data).flatMap(owner -> ProcessHandle.of(owner.pid()));
    if (running.isEmpty()) {
      return;
    }
    ProcessHandle process = running.get();
    process.destroy();
    try {
      process.onExit().get(timeoutSeconds, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new SettingsException(
          "the standby, process %d, has not ended within %d s"
              .formatted(process.pid(), timeoutSeconds));
    }
  }
}
