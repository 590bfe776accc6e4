package dev.kakehashi.server;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.List;
import java.util.Set;

/// Makes an engine; found by the service loader under its name in the setting `engine`.
public interface EngineFactory {
  String name();

  /// Opens the engine; its files lie below `settings.dataDirectory()`, which this process has locked.
  ///
  /// @param scheduler where it runs its work; closed after the engine
  Engine open(Settings settings, TaskScheduler scheduler);

  /// Keys of settings that [#change] takes over.
  default Set<String> changeable() {
    return Set.of();
  }

  /// Changes settings of an engine that runs.
  ///
  /// @param settings new values of those that are changeable; the others may be other ones than the engine has
  default void change(Engine engine, Settings settings) {}

  /// Lets an engine that runs show settings, and have them changed by ALTER SYSTEM.
  ///
  /// @param settings all of them
  default void show(Engine engine, List<ShownSetting> settings, ShownSetting.Keeper host) {}
}
