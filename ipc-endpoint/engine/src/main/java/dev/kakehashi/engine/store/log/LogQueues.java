package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.queue.QueueOpener;
import dev.kakehashi.engine.api.queue.QueueSystem;
import java.nio.file.Path;

/// The queues that share a log: opened when nobody else has the log's directory open.
///
/// @param directory theirs
public record LogQueues(Path directory, QueueOpener opener) {
  /// @throws dev.kakehashi.engine.api.error.EngineException see [QueueOpener#open]
  QueueSystem open() {
    return opener.open(directory);
  }
}
