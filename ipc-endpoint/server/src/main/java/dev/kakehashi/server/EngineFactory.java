package dev.kakehashi.server;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.scheduler.TaskScheduler;

/// Makes an engine; found by the service loader under its name in the setting `engine`.
public interface EngineFactory {
  String name();

  /// Opens the engine; its files lie below `settings.dataDirectory()`, which this process has locked.
  ///
  /// @param scheduler where it runs its work; closed after the engine
  Engine open(Settings settings, TaskScheduler scheduler);
}
