package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.queue.QueueOpener;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.durable.DataDirectory;
import dev.kakehashi.engine.store.log.ArchiveRestore;
import dev.kakehashi.engine.store.log.LogQueues;
import java.io.IOException;
import java.nio.file.Path;

/// Brings the store of a restored backup on to a later moment. Stateless.
public final class StoreRestore {
  private StoreRestore() {}

  /// Applies what an archive has beyond the backup, and begins a new timeline. Nobody has the store open.
  ///
  /// @param config the restored store, with its queues
  /// @throws dev.kakehashi.engine.api.error.EngineException see [ArchiveRestore#run]
  public static ArchiveRestore.Result run(
      StoreConfig config, Path archive, ArchiveRestore.Target target) throws IOException {
    Path directory = config.directory();
    DataDirectory.checkFormat(directory);
    QueueOpener queues = config.queues();
    return new ArchiveRestore(
            DataDirectory.log(directory),
            DataDirectory.database(directory),
            queues == null ? null : new LogQueues(DataDirectory.queues(directory), queues),
            archive,
            target)
        .run();
  }
}
