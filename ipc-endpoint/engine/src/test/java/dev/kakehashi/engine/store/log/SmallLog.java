package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.store.api.ArchiveConfig;
import dev.kakehashi.engine.store.log.file.LogFile;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// A log that goes through all that a long one does after little: segments are filled and used again, the base image follows and is
/// flushed.
public final class SmallLog {
  private static final int SEGMENT_BYTES = 64 << 10;
  private static final long APPLY_BYTES = 16 << 10;
  private static final long CHECKPOINT_BYTES = 256 << 10;
  private static final long LONG_RECORD_BYTES = 48 << 10;

  private SmallLog() {}

  /// See [SegmentedLog#open].
  public static DurableLog open(
      Path logDirectory, Path imageDirectory, @Nullable LogQueues queues) {
    return open(logDirectory, imageDirectory, queues, null);
  }

  /// The same with an archive; null: none.
  public static DurableLog open(
      Path logDirectory,
      Path imageDirectory,
      @Nullable LogQueues queues,
      @Nullable ArchiveConfig archive) {
    return SegmentedLog.open(
        logDirectory,
        imageDirectory,
        new SegmentedLog.Options(
                SEGMENT_BYTES, APPLY_BYTES, CHECKPOINT_BYTES, LONG_RECORD_BYTES, LogFile::open)
            .archivedTo(archive),
        queues);
  }
}
