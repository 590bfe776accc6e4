package dev.kakehashi.server;

import dev.kakehashi.engine.api.Engine;

/// Makes an engine; found by the service loader under its name in the setting `engine`.
public interface EngineFactory {
  String name();

  /// Opens the engine; its files lie below `settings.dataDirectory()`, which this process has locked.
  Engine open(Settings settings);
}
