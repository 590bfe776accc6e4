package dev.kakehashi.engine.store.log;

import dev.kakehashi.protocol.file.ReplacedFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// How far the log is known to be durable, in a file beside the log's directory: a log that ends before it has lost groups that were
/// acknowledged. The log alone cannot tell an older copy of its last segment, or damage to its last group, from a write that a crash has
/// cut off.
///
/// The file is mapped, and a group costs one store into it after its flush: no system call, and no flush of its own. So the mark is never
/// ahead of what is durable. A kill of the process leaves it exact; after power loss it is what the system has written back, or a clean end
/// has forced.
///
/// It lies beside the directory and not in it, so that an older copy of the whole directory is noticed too. A directory without it, as of
/// an older version or a restored backup, gets one.
///
/// | offset | bytes | what, little-endian |
/// |---|---|---|
/// | 0 | 8 | magic |
/// | 8 | 8 | log identifier |
/// | 16 | 8 | CRC-32C of the above |
/// | 24 | 8 | position that is durable; stored at once, so it needs no checksum against a kill |
/// | 32 | 8 | 1: the log of a standby, see [ReceivedGroups] |
///
/// Used by one thread at a time.
final class LogEnd implements AutoCloseable {
  static final int BYTES = 4096;

  private static final String SUFFIX = ".end";
  private static final long MAGIC = 0x3130_444e_455f_484bL; // KH_END01
  private static final int HEADER_BYTES = 16;
  private static final int POSITION = 24;
  private static final int FOLLOWER = 32;
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final Logger LOG = LoggerFactory.getLogger(LogEnd.class);

  private final Arena arena = Arena.ofShared();
  private final MemorySegment map;
  private boolean failed;

  private LogEnd(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      map = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
    }
  }

  /// The file of a log.
  static Path path(Path logDirectory) {
    return logDirectory.resolveSibling(logDirectory.getFileName() + SUFFIX);
  }

  /// Opens the mark of a log, or makes it.
  ///
  /// @param end up to where the log is durable
  static LogEnd open(Path logDirectory, LogFormat format, long end) throws IOException {
    Path file = path(logDirectory);
    if (Files.notExists(file)) {
      make(file, format, end);
    }
    LogEnd opened = new LogEnd(file);
    opened.set(end);
    return opened;
  }

  /// Begins the mark of a new log, in place of that of one that never came to be.
  static void begin(Path logDirectory, LogFormat format, long end) throws IOException {
    make(path(logDirectory), format, end);
  }

  private static void make(Path file, LogFormat format, long end) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(MAGIC).putLong(format.logId());
    bytes.putLong(HEADER_BYTES, crc(bytes)).putLong(POSITION, end);
    ReplacedFile.write(file, bytes.array());
  }

  /// Reads the mark of a log.
  ///
  /// @return null: there is no mark
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED
  static @Nullable Mark read(Path logDirectory) throws IOException {
    Path file = path(logDirectory);
    if (Files.notExists(file)) {
      return null;
    }
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    if (bytes.limit() != BYTES
        || bytes.getLong(0) != MAGIC
        || bytes.getLong(HEADER_BYTES) != crc(bytes)) {
      throw LogReader.corrupted(
          "\"%s\", which says where the log ends, is damaged".formatted(file),
          "If only this file is damaged, remove it. Otherwise restore the data directory from a"
              + " backup.");
    }
    return new Mark(bytes.getLong(8), bytes.getLong(POSITION), bytes.getLong(FOLLOWER) != 0);
  }

  /// @param logId of the log that it belongs to
  /// @param position up to where that is durable
  /// @param isFollower groups of its last segment may be there without those before
  record Mark(long logId, long position, boolean isFollower) {}

  /// Refuses a log that has lost its end.
  ///
  /// @param mark null: nothing is known
  /// @param end of what the log has
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED
  static void require(@Nullable Mark mark, LogSegments segments, LogFormat format, long end) {
    if (mark == null) {
      return;
    }
    if (mark.logId() != format.logId()) {
      throw LogReader.corrupted(
          "log and base image belong to another log than \"%s\"".formatted(segments.endFile()),
          "Put all files of one data directory back, or restore it from a backup.");
    }
    if (end < mark.position()) {
      throw LogReader.corrupted(
          ("log segment \"%s\" is damaged, or an older copy: its commits end at byte %d, and"
                  + " commits up to byte %d of \"%s\" were durable")
              .formatted(
                  segments.path(format.segment(end)),
                  format.offset(end),
                  format.offset(mark.position()),
                  segments.path(format.segment(mark.position())).getFileName()),
          "Put the newest files of the log back, or restore the data directory from a backup. To go"
              + " on without these commits, remove \"%s\".".formatted(segments.endFile()));
    }
  }

  private static long crc(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.duplicate().limit(HEADER_BYTES).position(0));
    return crc.getValue();
  }

  /// Notes that the log is durable up to `end`.
  void set(long end) {
    try {
      map.set(LONG, POSITION, end);
    } catch (InternalError e) {
      // A page of the file could not be had. The group is in the log; the mark stays behind, which
      // is no harm.
      if (!failed) {
        LOG.warn("could not note where the store's log ends", e);
      }
      failed = true;
    }
  }

  /// Notes durably that the log is a standby's from now on. A log that leaves its timeline gets another mark.
  void follow() {
    map.set(LONG, FOLLOWER, 1);
    map.force();
  }

  /// After a clean end it survives power loss, too.
  @Override
  public void close() {
    try {
      map.force();
    } finally {
      arena.close();
    }
  }
}
