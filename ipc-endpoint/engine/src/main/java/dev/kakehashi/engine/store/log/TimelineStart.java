package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.store.log.file.LogFile;
import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Lets the log of a directory that nobody has open go on in a new timeline. Stateless.
public final class TimelineStart {
  private static final Logger LOG = LoggerFactory.getLogger(TimelineStart.class);

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

  /// Where a later timeline has left the history of a directory.
  ///
  /// @param timeline number of the later one
  /// @param at position of the fork
  /// @param end up to where the directory's image has its log, at least
  public record Fork(int timeline, LogPosition at, LogPosition end) {}

  /// Whether another endpoint goes on from the log of a directory that nobody has open.
  ///
  /// @param theirs the timelines of the other one, as [SegmentedLog] says them
  /// @return null: it does not, or the directory has no log
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED
  public static @Nullable Fork fork(Path imageDirectory, String theirs) {
    if (!RocksImage.isThere(imageDirectory)) {
      return null;
    }
    List<Timelines.Timeline> others = Timelines.parse(theirs).all();
    try (RocksImage image = RocksImage.openReadOnly(imageDirectory)) {
      SegmentedLog.Position position = SegmentedLog.position(image).orElse(null);
      if (position == null) {
        return null;
      }
      Timelines.Timeline own = Timelines.of(image, position.format()).current();
      for (int i = 0; i + 1 < others.size(); i++) {
        if (others.get(i).number() == own.number() && others.get(i).format().equals(own.format())) {
          Timelines.Timeline next = others.get(i + 1);
          return new Fork(
              next.number(),
              Timelines.position(own, next.forked()),
              Timelines.position(own, position.end()));
        }
      }
      return null;
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
      image.apply(List.of(), position, new SideFiles(logDirectory, format.logId(), LogFile::open));
      image.flush();
    }
    // It has all of the log that is removed, and says what comes next: a crash in between is made
    // good by complete().
    makeFiles(logDirectory, timelines);
  }

  private static void makeFiles(Path logDirectory, Timelines timelines) throws IOException {
    LogFormat format = timelines.current().format();
    long start = timelines.current().begin();
    Directories.deleteContent(logDirectory);
    new LogSegments(logDirectory, format, LogFile::open, List.of()).prepare(format.segment(start));
    LogEnd.begin(logDirectory, format, start);
  }

  /// Ends the beginning of a timeline, if one was interrupted: the image is at its first position, and the mark of the log's end is
  /// still that of an earlier timeline. A log of the new one in which something was written is never touched.
  ///
  /// @param position up to where the image has the log
  static void complete(Path logDirectory, Timelines timelines, long position) throws IOException {
    Timelines.Timeline current = timelines.current();
    LogEnd.Mark mark = LogEnd.read(logDirectory);
    boolean isEarlier =
        mark != null
            && timelines.all().stream()
                .anyMatch(each -> !each.equals(current) && each.format().logId() == mark.logId());
    if (position != current.begin() || !isEarlier) {
      return;
    }
    LogFormat format = current.format();
    for (long number : LogSegments.list(logDirectory)) {
      Path file = LogSegments.path(logDirectory, number);
      if (format.isHeader(head(file), number) && !LogSegments.isUnused(file)) {
        return;
      }
    }
    LOG.info("the beginning of timeline {} was interrupted, and is ended now", current.number());
    makeFiles(logDirectory, timelines);
  }

  private static ByteBuffer head(Path file) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(LogFormat.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    try (LogFile opened = LogFile.openReadOnly(file)) {
      opened.read(bytes, 0);
    }
    return bytes;
  }
}
