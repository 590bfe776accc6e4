package dev.kakehashi.server;

import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.server.standby.StandbyMark;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/// `kakehashi promote`: ends a standby, and makes its directory that of an endpoint.
@Command(
    name = "promote",
    description = {
      "Makes the directory of a standby that of an endpoint, with all that the standby has got. It begins a new timeline of the log.",
      "A standby that runs goes on as an endpoint, whose clients come again. The old primary must not go on: its clients would change what"
          + " nobody else sees."
    })
final class PromoteCommand implements Callable<Integer> {
  @CommandLine.Mixin private Main.Common common = new Main.Common();

  @Override
  public Integer call() throws Exception {
    Settings settings = common.settingsOfOther();
    Path data = settings.dataDirectory();
    if (!StandbyMark.isSet(data)) {
      throw new SettingsException("\"" + data + "\" is no standby's");
    }
    Optional<DirectoryLock.Owner> owner = DirectoryLock.owner(data);
    LogPosition begin;
    if (owner.isEmpty()) {
      begin = StandbyServer.leave(settings);
    } else {
      String said = StandbyServer.ask(common.location(owner.get(), settings));
      if (!said.startsWith(StandbyServer.DONE)) {
        throw new SettingsException("the standby is not promoted: " + said);
      }
      begin = LogPosition.parse(said.substring(StandbyServer.DONE.length()));
    }
    System.out.println("promoted; the log goes on at " + begin);
    return 0;
  }
}
