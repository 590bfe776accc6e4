package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.api.queue.QueueOpener;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.durable.DataDirectory;
import dev.kakehashi.engine.store.log.ArchiveRestore;
import dev.kakehashi.engine.store.log.LogQueues;
import dev.kakehashi.engine.store.log.LogRejoin;
import dev.kakehashi.engine.store.log.TimelineStart;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Brings the store of a restored backup on to a later moment. Stateless.
public final class StoreRestore {
  private StoreRestore() {}

  /// Lets the log of a restored backup, or of a standby, go on in a timeline of its own.
  ///
  /// @param config the store, with its queues; nobody has it open
  /// @return where that begins; null: it has no log, as that of an old version
  public static @Nullable LogPosition leaveTimeline(StoreConfig config) throws IOException {
    Path directory = config.directory();
    DataDirectory.checkFormat(directory);
    LogPosition begin =
        TimelineStart.leave(
            DataDirectory.log(directory), DataDirectory.database(directory), queues(config));
    if (begin != null) {
      DataDirectory.upgrade(directory);
    }
    return begin;
  }

  /// Whether another endpoint goes on from the log of a store that nobody has open.
  ///
  /// @param theirs the other one's timelines
  /// @return null: it does not
  public static TimelineStart.@Nullable Fork fork(Path directory, String theirs) {
    return TimelineStart.fork(DataDirectory.database(directory), theirs);
  }

  /// How a store that nobody has open can follow another endpoint that has left its timeline.
  ///
  /// @param theirs the other one's timelines
  /// @return null: it is in the other one's timeline already
  /// @throws dev.kakehashi.engine.api.error.EngineException see [LogRejoin#look]
  public static @Nullable LogRejoin rejoin(Path directory, String theirs) throws IOException {
    DataDirectory.checkFormat(directory);
    return LogRejoin.look(DataDirectory.log(directory), DataDirectory.database(directory), theirs);
  }

  /// Throws away what the other endpoint never had, and goes on with its timeline.
  ///
  /// @param config the store, with its queues; nobody has it open
  public static void run(StoreConfig config, LogRejoin rejoin) {
    rejoin.run(queues(config));
  }

  private static @Nullable LogQueues queues(StoreConfig config) {
    QueueOpener opener = config.queues();
    return opener == null ? null : new LogQueues(DataDirectory.queues(config.directory()), opener);
  }

  /// Applies what an archive has beyond the backup, and begins a new timeline. Nobody has the store open.
  ///
  /// @param config the restored store, with its queues
  /// @throws dev.kakehashi.engine.api.error.EngineException see [ArchiveRestore#run]
  public static ArchiveRestore.Result run(
      StoreConfig config, Path archive, ArchiveRestore.Target target) throws IOException {
    Path directory = config.directory();
    DataDirectory.checkFormat(directory);
    return new ArchiveRestore(
            DataDirectory.log(directory),
            DataDirectory.database(directory),
            queues(config),
            archive,
            target)
        .run();
  }
}
