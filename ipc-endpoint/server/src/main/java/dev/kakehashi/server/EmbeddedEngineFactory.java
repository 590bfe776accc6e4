package dev.kakehashi.server;

import dev.kakehashi.engine.EmbeddedEngine;
import dev.kakehashi.engine.EngineConfig;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.store.StoreConfig;
import dev.kakehashi.scheduler.TaskScheduler;
import java.nio.file.Path;

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

  @Override
  public Engine open(Settings settings, TaskScheduler scheduler) {
    EngineConfig config =
        new EngineConfig(
            new StoreConfig(
                storeDirectory(settings.dataDirectory()), settings.number(Setting.MEMORY)),
            settings.number(Setting.STATEMENT_MEMORY),
            settings.count(Setting.MAX_TRANSACTIONS),
            PLAN_CACHE_ENTRIES);
    return EmbeddedEngine.open(config, scheduler);
  }
}
