package dev.kakehashi.server;

import dev.kakehashi.applications.host.NativeApplications;
import dev.kakehashi.applications.remote.ApplicationProcesses;
import dev.kakehashi.applications.remote.ProcessSettings;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.engine.embedded.EmbeddedEngine;
import dev.kakehashi.engine.embedded.EngineConfig;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.queue.DurableQueues;
import dev.kakehashi.queue.push.PushTargets;
import dev.kakehashi.queue.push.PushingQueues;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.server.standby.DirectoryMark;
import dev.kakehashi.valuetext.time.Zone;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/// The engine that runs in this process, on the endpoint's scheduler.
public final class EmbeddedEngineFactory implements EngineFactory {
  /// Plans kept per engine.
  private static final int PLAN_CACHE_ENTRIES = 1000;

  @Override
  public String name() {
    return "embedded";
  }

  /// Where the engine's files are.
  static Path storeDirectory(Path data) {
    return data.resolve("store");
  }

  /// A store with its queues, none of which pushes: for who looks at the files.
  ///
  /// @param store its directory
  static StoreConfig storeConfig(Path store, long memoryBytes) {
    return new StoreConfig(store, memoryBytes, DurableQueues.opener());
  }

  @Override
  public Engine open(Settings settings, TaskScheduler scheduler) {
    String zone = settings.text(Setting.TIME_ZONE);
    if (Zone.find(zone) == null) {
      throw new SettingsException(
          "\"%s\": time zone \"%s\" not recognized".formatted(Setting.TIME_ZONE.key(), zone));
    }
    boolean isStandby = DirectoryMark.STANDBY.isSet(settings.dataDirectory());
    EngineConfig config =
        new EngineConfig(
                store(settings, isStandby),
                settings.number(Setting.STATEMENT_MEMORY),
                settings.number(Setting.TEMP_SPACE),
                settings.count(Setting.MAX_TRANSACTIONS),
                PLAN_CACHE_ENTRIES,
                settings.number(Setting.LOCK_TIMEOUT))
            .withConflictDelay(settings.number(Setting.STANDBY_CONFLICT_DELAY));
    if (!isStandby) {
      config =
          config.withApplications(() ->
              new NativeApplications(scheduler, new ApplicationProcesses(processes(settings))));
    }
    EmbeddedEngine engine = EmbeddedEngine.open(config, scheduler);
    engine.timeZone(zone);
    engine.standbyBacklog(settings.number(Setting.STANDBY_BACKLOG));
    if (!isStandby) {
      engine.synchronous(StandbySettings.synchronous(settings));
    }
    return engine;
  }

  private static StoreConfig store(Settings settings, boolean isStandby) {
    Path directory = storeDirectory(settings.dataDirectory());
    long memory = settings.number(Setting.MEMORY);
    StoreConfig config =
        isStandby
            ? storeConfig(directory, memory).asStandby()
            : new StoreConfig(directory, memory, PushingQueues.opener(pushTargets(settings)))
                .archivedTo(LogArchiveSettings.of(settings));
    return config.shared(isOn(settings, Setting.DIRECT_READS));
  }

  /// @throws SettingsException it is neither on nor off
  static boolean isOn(Settings settings, Setting setting) {
    String value = settings.text(setting);
    return switch (value) {
      case "on" -> true;
      case "off" -> false;
      default ->
          throw new SettingsException(
              "\"%s\" must be on or off: %s".formatted(setting.key(), value));
    };
  }

  /// Processes of applications have their shared memory below the runtime directory.
  private static ProcessSettings processes(Settings settings) {
    return ProcessSettings.of(
        settings.runtimeDirectory().resolve("applications"),
        settings.text(Setting.APPLICATION_USER),
        settings.text(Setting.APPLICATION_CGROUP));
  }

  private static PushTargets pushTargets(Settings settings) {
    try {
      return PushTargets.of(settings.text(Setting.QUEUE_PUSH_TARGETS));
    } catch (EngineException e) {
      throw new SettingsException(
          "\"%s\": %s".formatted(Setting.QUEUE_PUSH_TARGETS.key(), e.getMessage()));
    }
  }

  @Override
  public Set<String> changeable() {
    return Set.of(
        Setting.MEMORY.key(),
        Setting.STATEMENT_MEMORY.key(),
        Setting.TEMP_SPACE.key(),
        Setting.LOCK_TIMEOUT.key(),
        Setting.STANDBY_BACKLOG.key(),
        Setting.SYNCHRONOUS_STANDBY.key(),
        Setting.SYNCHRONOUS_LEVEL.key(),
        Setting.SYNCHRONOUS_AWAY.key(),
        Setting.SYNCHRONOUS_PATIENCE.key());
  }

  @Override
  public void change(Engine engine, Settings settings) {
    EmbeddedEngine embedded = (EmbeddedEngine) engine;
    embedded.limits(
        settings.number(Setting.MEMORY),
        settings.number(Setting.STATEMENT_MEMORY),
        settings.number(Setting.TEMP_SPACE),
        settings.number(Setting.LOCK_TIMEOUT));
    embedded.standbyBacklog(settings.number(Setting.STANDBY_BACKLOG));
    embedded.synchronous(StandbySettings.synchronous(settings));
  }

  @Override
  public void show(Engine engine, List<ShownSetting> settings, ShownSetting.Keeper host) {
    EmbeddedEngine embedded = (EmbeddedEngine) engine;
    embedded.showSettings(settings);
    embedded.settingsKeeper(host);
  }
}
