package dev.kakehashi.server;

import dev.kakehashi.engine.store.StoreRestore;
import dev.kakehashi.engine.store.log.LogRejoin;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.requests.TransactionRegistry;
import dev.kakehashi.server.standby.BaseBackup;
import dev.kakehashi.server.standby.DirectoryMark;
import dev.kakehashi.server.standby.PrimaryClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `kakehashi standby` and `kakehashi rejoin`: make the directory of a standby.
@Command(
    name = "standby",
    description = "Makes the directory of a standby.",
    subcommands = StandbyCommand.Init.class)
final class StandbyCommand implements Runnable {
  @Spec private @org.jspecify.annotations.Nullable CommandSpec spec;

  /// Refuses a directory in which a rejoin was interrupted.
  ///
  /// @throws SettingsException if there is one
  static void refuseHalfRejoined(Path data) {
    if (DirectoryMark.REJOIN.isSet(data)) {
      throw new SettingsException(
          "\"%s\" is being brought back to another endpoint's log, which was interrupted: do \"kakehashi rejoin\" again"
              .formatted(data));
    }
  }

  @Override
  public void run() {
    throw new ParameterException(
        java.util.Objects.requireNonNull(spec).commandLine(), "a command is required");
  }

  /// `kakehashi standby init`: copies what a running primary has over its HTTP door.
  @Command(
      name = "init",
      description = {
        "Makes the data directory of a standby by itself: copies everything from the running primary that the setting \"primary\" names, over its"
            + " HTTP door. The directory has to be empty or not to exist.",
        "It is there whole or not at all. A copy that was interrupted is begun again by the same command. The primary keeps its log for the"
            + " standby from the beginning on."
      })
  static final class Init implements Callable<Integer> {
    /// Says within the unfinished directory that it came to be here, so that it may be begun again.
    private static final String OURS = "standby-init";

    @CommandLine.Mixin private Main.Common common = new Main.Common();

    @Option(
        names = {"-q", "--quiet"},
        description = "prints nothing but errors")
    private boolean quiet;

    @Override
    public Integer call() throws Exception {
      Settings settings = common.settings();
      Path data = settings.dataDirectory();
      if (settings.text(Setting.PRIMARY).isEmpty()) {
        throw new SettingsException(
            "\"%s\" has to say whose standby it is to be, as https://host:port"
                .formatted(Setting.PRIMARY.key()));
      }
      DirectoryLock.Owner owner = DirectoryLock.owner(data).orElse(null);
      if (owner != null) {
        throw new SettingsException(
            "an endpoint runs on \"%s\" (process %d)".formatted(data, owner.pid()));
      }
      if (Files.exists(data.resolve(RestoreCommand.UNFINISHED).resolve(OURS))) {
        RestoreCommand.deleteContent(data);
      }
      RestoreCommand.refuseUnfinished(data);
      if (!Directories.isEmpty(data)) {
        throw new SettingsException("\"" + data + "\" is not empty");
      }
      PrivateDirectory.prepare(data);
      PrimaryClient.Address address = StandbySettings.address(settings);
      List<String> leftOut = new ArrayList<>();
      try (DirectoryLock _ = DirectoryLock.take(data);
          PrimaryClient primary = new PrimaryClient(address)) {
        BaseBackup.Received received = receive(primary, data, address.name(), leftOut);
        if (!quiet) {
          System.out.println(
              "copied %s at %s: %d files, %d bytes; \"kakehashi start\" follows it from there"
                  .formatted(
                      primary.name(), received.position(), received.files(), received.bytes()));
          leftOut.forEach(
              setting -> System.out.println("left out, as it is the primary's: " + setting));
        }
      }
      return 0;
    }

    /// @param leftOut gets the settings that are the primary's alone
    private static BaseBackup.Received receive(
        PrimaryClient primary, Path data, String name, List<String> leftOut)
        throws IOException, InterruptedException {
      try (RestoreCommand.Unfinished copy = new RestoreCommand.Unfinished(data)) {
        PrivateDirectory.prepare(copy.directory());
        Files.createFile(copy.directory().resolve(OURS));
        Path whole = copy.directory().resolve("copy");
        PrivateDirectory.prepare(whole);
        BaseBackup.Received received = primary.backup(whole);
        leftOut.addAll(AutoSettings.leaveOutPrimarys(whole, name));
        DirectoryMark.STANDBY.set(whole);
        copy.moveIn(whole);
        return received;
      }
    }
  }

  /// `kakehashi rejoin`: makes an old primary the standby of the new one.
  @Command(
      name = "rejoin",
      description = {
        "Makes the directory of an old primary that of a standby of the new one, which the setting \"primary\" names: goes back to where that has"
            + " left the log, and follows from there.",
        "What the old primary has committed behind that place, and the new one never had, is thrown away: how much that is is said, and done with"
            + " --discard alone. Where the way back is not there, \"kakehashi standby init\" into another directory is said to be needed, and"
            + " nothing is changed."
      })
  static final class Rejoin implements Callable<Integer> {
    /// No rows are brought into memory.
    private static final long UNUSED_MEMORY_BYTES = 16 << 20;

    @CommandLine.Mixin private Main.Common common = new Main.Common();

    @Option(
        names = "--discard",
        description =
            "throws away what the new primary never had; a copy of its log stays in the data directory")
    private boolean discard;

    @Override
    public Integer call() throws Exception {
      Settings settings = common.settingsOfOther();
      Path data = settings.dataDirectory();
      Path store = EmbeddedEngineFactory.storeDirectory(data);
      if (settings.text(Setting.PRIMARY).isEmpty()) {
        throw new SettingsException(
            "\"%s\" has to name the new primary, as https://host:port"
                .formatted(Setting.PRIMARY.key()));
      }
      if (Files.notExists(store)) {
        throw new SettingsException(
            "\"%s\" has no store: make a standby by \"kakehashi standby init\"".formatted(data));
      }
      DirectoryLock.Owner owner = DirectoryLock.owner(data).orElse(null);
      if (owner != null) {
        throw new SettingsException(
            "an endpoint runs on \"%s\" (process %d): stop it first".formatted(data, owner.pid()));
      }
      RestoreCommand.refuseUnfinished(data);
      try (DirectoryLock _ = DirectoryLock.take(data);
          PrimaryClient primary = new PrimaryClient(StandbySettings.address(settings))) {
        String theirs = primary.timelines();
        if (theirs.isEmpty()) {
          throw new SettingsException(primary.name() + " has no log to follow");
        }
        LogRejoin rejoin = StoreRestore.rejoin(store, theirs);
        if (rejoin == null) {
          return already(primary, data);
        }
        return rejoin(primary, data, store, rejoin);
      }
    }

    private static int already(PrimaryClient primary, Path data) throws IOException {
      if (!DirectoryMark.STANDBY.isSet(data)) {
        throw new SettingsException(
            "%s has not left the log of \"%s\": nothing was promoted, and both would go on with one history"
                .formatted(primary.name(), data));
      }
      // Its last step, if it was interrupted before.
      DirectoryMark.REJOIN.remove(data);
      System.out.println(
          "\"%s\" is in the timeline of %s already; \"kakehashi start\" follows it"
              .formatted(data, primary.name()));
      return 0;
    }

    private int rejoin(PrimaryClient primary, Path data, Path store, LogRejoin rejoin)
        throws IOException, InterruptedException {
      LogRejoin.Plan plan = rejoin.plan();
      System.out.println(
          "%s has left the log of \"%s\" at %s, and goes on from %s"
              .formatted(primary.name(), data, plan.fork(), plan.begin()));
      if (plan.groups() > 0) {
        System.out.println(
            "behind that, up to %s, are %d commits in %d groups (%d bytes) that it never had"
                .formatted(plan.end(), plan.commits(), plan.groups(), plan.bytes()));
        if (!discard) {
          throw new SettingsException(
              "nothing is changed: with \"--discard\" these commits are thrown away");
        }
      }
      // Before anything is changed; and what it goes on with is kept there from now on.
      primary.requireLog(plan.logId(), plan.begin());
      if (plan.groups() > 0) {
        Path kept = data.resolve("discarded-" + plan.end().toString().replace('/', '-'));
        rejoin.keep(kept);
        System.out.println("a copy of their log is in \"" + kept + "\"");
      }
      // A start would take over what is behind the fork, so that there is no way back.
      DirectoryMark.REJOIN.set(data);
      DirectoryMark.STANDBY.set(data);
      TransactionRegistry.forget(data);
      StoreRestore.run(EmbeddedEngineFactory.storeConfig(store, UNUSED_MEMORY_BYTES), rejoin);
      DirectoryMark.REJOIN.remove(data);
      System.out.println(
          "rejoined at %s; \"kakehashi start\" follows %s from there"
              .formatted(plan.begin(), primary.name()));
      return 0;
    }
  }
}
