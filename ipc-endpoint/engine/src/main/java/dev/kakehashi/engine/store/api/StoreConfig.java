package dev.kakehashi.engine.store.api;

import dev.kakehashi.engine.api.queue.QueueOpener;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// How a store is opened.
///
/// @param directory data directory; made if it does not exist
/// @param memoryLimitBytes most native memory for rows, versions and indexes, at least 1 MB; changes get OUT_OF_MEMORY above, recovery does
///     not. A sixteenth, 128 kB to 256 MB, is for those who delete
/// @param queues opens the queues, which share the store's log; null: there are none, and a log that knows of some is refused
/// @param archive gets a copy of the log; null: there is none
/// @param isStandby whether its changes come from another store's log, and nobody else changes anything
/// @param isShared whether other processes may map its memory for reading
public record StoreConfig(
    Path directory,
    long memoryLimitBytes,
    @Nullable QueueOpener queues,
    @Nullable ArchiveConfig archive,
    boolean isStandby,
    boolean isShared) {
  private static final long LEAST_MEMORY_BYTES = 1 << 20;

  public StoreConfig {
    checkMemory(memoryLimitBytes);
  }

  /// A store without an archive.
  public StoreConfig(Path directory, long memoryLimitBytes, @Nullable QueueOpener queues) {
    this(directory, memoryLimitBytes, queues, null, false, false);
  }

  /// The same with an archive; null: none.
  public StoreConfig archivedTo(@Nullable ArchiveConfig to) {
    return new StoreConfig(directory, memoryLimitBytes, queues, to, isStandby, isShared);
  }

  /// The same as a standby.
  public StoreConfig asStandby() {
    return new StoreConfig(directory, memoryLimitBytes, queues, archive, true, isShared);
  }

  /// The same with memory that other processes may map, if so.
  public StoreConfig shared(boolean isShared) {
    return new StoreConfig(directory, memoryLimitBytes, queues, archive, isStandby, isShared);
  }

  /// A store without queues.
  public StoreConfig(Path directory, long memoryLimitBytes) {
    this(directory, memoryLimitBytes, null);
  }

  public static void checkMemory(long limitBytes) {
    if (limitBytes < LEAST_MEMORY_BYTES) {
      throw new IllegalArgumentException(
          "memoryLimitBytes must be at least %d: %d".formatted(LEAST_MEMORY_BYTES, limitBytes));
    }
  }

  /// With half of the machine's (or container's) memory as limit.
  public static StoreConfig of(Path directory) {
    long physical =
        java.lang.management.ManagementFactory.getOperatingSystemMXBean()
                instanceof com.sun.management.OperatingSystemMXBean system
            ? system.getTotalMemorySize()
            : Runtime.getRuntime().maxMemory() * 4;
    return new StoreConfig(directory, Math.max(LEAST_MEMORY_BYTES, physical / 2));
  }
}
