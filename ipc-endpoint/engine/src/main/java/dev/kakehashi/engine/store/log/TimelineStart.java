package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Lets the log of a directory that nobody has open go on in a new timeline. Stateless.
public final class TimelineStart {
  private TimelineStart() {}

  /// Applies what the log has, and leaves its timeline at its end.
  ///
  /// @param queues null: there are none
  /// @return where the new timeline begins; null: the image is of a version without a log
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED, DISK_FULL, IO_ERROR
  public static @Nullable LogPosition leave(
      Path logDirectory, Path imageDirectory, @Nullable LogQueues queues) {
    try {
      try (RocksImage image = RocksImage.openReadOnly(imageDirectory)) {
        if (SegmentedLog.position(image).isEmpty()) {
          return null;
        }
      }
      long end;
      try (SegmentedLog log = SegmentedLog.open(logDirectory, imageDirectory, queues)) {
        end = log.end();
      }
      Timelines old;
      try (RocksImage image = RocksImage.openReadOnly(imageDirectory)) {
        old = Timelines.of(image, SegmentedLog.position(image).orElseThrow().format());
      }
      Timelines fresh = old.and(old.current().number() + 1, new SecureRandom().nextLong(), end);
      begin(logDirectory, imageDirectory, fresh, end);
      return fresh.position(fresh.current().begin());
    } catch (IOException e) {
      throw SegmentedLog.failure(
          "could not begin a timeline of the log in \"" + logDirectory + "\"", e);
    }
  }

  /// The log goes on in the last of the timelines.
  ///
  /// @param applied position that the image has to have
  static void begin(Path logDirectory, Path imageDirectory, Timelines timelines, long applied)
      throws IOException {
    LogFormat format = timelines.current().format();
    long start = timelines.current().begin();
    try (RocksImage image = RocksImage.open(imageDirectory)) {
      long found = SegmentedLog.position(image).orElseThrow().end();
      if (found != applied) {
        // Closing the log has said why.
        throw new IOException(
            "the base image has the log up to byte %d instead of %d".formatted(found, applied));
      }
      LogRecord position = SegmentedLog.position(format, start);
      position.put(Timelines.KEY, timelines.text().getBytes(StandardCharsets.UTF_8));
      Directories.deleteContent(logDirectory);
      new LogSegments(logDirectory, format, LogFile::open, List.of())
          .prepare(format.segment(start));
      LogEnd.begin(logDirectory, format, start);
      image.apply(List.of(), position, new SideFiles(logDirectory, format.logId(), LogFile::open));
      image.flush();
    }
  }
}
