package dev.kakehashi.engine.api.queue;

import java.nio.file.Path;

/// Opens the queue system of a data directory; the engine does so when it opens its store, because it replays one log for both.
@FunctionalInterface
public interface QueueOpener {
  /// @param directory made if it is not there
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED, IO_ERROR, DISK_FULL
  QueueSystem open(Path directory);
}
