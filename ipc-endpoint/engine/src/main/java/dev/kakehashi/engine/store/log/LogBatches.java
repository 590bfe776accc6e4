package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.LogFrame;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.log.file.LogFile;
import dev.kakehashi.protocol.ErrorCode;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reads what a standby lacks, and writes it in batches. The archive, where there is one, has the segments that the log has given up.
///
/// It has whole segments of the same bytes, and the log keeps those that it lacks. So groups follow each other over the border as within
/// the log. Nobody who commits waits for a batch, for no lock is held while files are read. Thread-safe.
///
/// | to a standby, most significant byte first | what |
/// |---|---|
/// | 8 bytes | [#MAGIC], at the beginning of the stream |
/// | `S`, 8 bytes number, 8 bytes length, content | a side file, before the group that names it |
/// | `G`, 8 bytes end, 4 bytes changes, 4 bytes length, payload, 4 bytes CRC-32C of it | a group |
/// | `E`, 8 bytes up to where the log is durable, 1 byte | end of a batch; 1: commits wait until readers of the standby see it |
///
/// | from a standby, after each batch | what |
/// |---|---|
/// | `A`, 8 bytes, 8 bytes | up to where it has the log durably, and up to where its readers see it |
final class LogBatches {
  static final long MAGIC = 0x4b48_4645_4544_3033L; // KHFEED03
  static final byte SIDE_FILE = 'S';
  static final byte GROUP = 'G';
  static final byte END = 'E';
  static final byte ACKNOWLEDGED = 'A';
  static final int ACKNOWLEDGEMENT_BYTES = 1 + 2 * Long.BYTES;

  private static final Logger LOG = LoggerFactory.getLogger(LogBatches.class);

  /// Payloads of a batch, unless one group has more.
  private static final long MOST_BYTES = 8 << 20;

  private static final String ANEW = "Make the standby anew by \"kakehashi standby init\".";

  private static final String ARCHIVE =
      "Bring the file back, or make the standby anew by \"kakehashi standby init\".";

  private final Timelines timelines;
  private final LogFormat format;
  private final LogSegments segments;
  private final SideFiles sideFiles;
  private final @Nullable ArchiveDirectory archive;

  /// Readers that nobody uses: each has memory for a segment.
  private final ConcurrentLinkedQueue<LogReader> readers = new ConcurrentLinkedQueue<>();

  /// Positions of groups whose side files were found damaged while they were sent.
  private final Set<Long> doubtful = ConcurrentHashMap.newKeySet();

  /// @param archive of the log; null: there is none
  LogBatches(
      Timelines timelines,
      LogSegments segments,
      SideFiles sideFiles,
      @Nullable ArchiveDirectory archive) {
    this.timelines = timelines;
    this.format = timelines.current().format();
    this.segments = segments;
    this.sideFiles = sideFiles;
    this.archive = archive;
  }

  /// A refusal of a standby that another one has to take the place of.
  static EngineException refused(String what) {
    return refused(what, ANEW);
  }

  static EngineException refused(String what, String hint) {
    return new EngineException(ErrorCode.NOT_IN_PREREQUISITE_STATE, what).withHint(hint);
  }

  /// Refuses a standby that lacks a segment which neither log nor archive have.
  ///
  /// @param at position behind which it lacks the log
  /// @param durable up to where the log is durable
  /// @param isBegin of a stream: later the first segment alone is looked for, and reading finds the others
  /// @return number of segments that the archive has been asked for
  /// @throws EngineException NOT_IN_PREREQUISITE_STATE
  long requireSegments(String name, long at, long durable, boolean isBegin) {
    Timelines.Timeline timeline = timelines.current();
    long first = format.segment(format.frameStart(at));
    long older = 0;
    long end = isBegin ? format.segment(durable) : Math.min(first + 1, format.segment(durable));
    for (long number = first; number < end; number++) {
      if (segments.has(number)) {
        continue;
      }
      if (archive == null || !archive.hasSegment(timeline, number)) {
        String what =
            "standby \"%s\" is at %s, and the log here does not have that any more"
                .formatted(name, timelines.position(at));
        if (archive == null) {
          throw refused(what);
        }
        Path missing = archive.whole(timeline.number(), number);
        throw refused(what + "; file \"%s\" of the archive is missing".formatted(missing), ARCHIVE);
      }
      older++;
    }
    return older;
  }

  /// Refuses a standby whose log is another one at the same place. Where neither log nor archive have the segment, nothing can be compared:
  /// then identifier, timeline and position alone say that the logs are one.
  ///
  /// @param at position of its last frame
  /// @param end where that ends
  /// @throws EngineException NOT_IN_PREREQUISITE_STATE
  void requireSame(String name, LogFrame last, long at, long end) throws IOException {
    LogReader reader = reader();
    ByteBuffer header;
    try {
      header = reader.frameHeader(at);
    } catch (IOException | EngineException e) {
      if (segments.has(format.segment(at))) {
        throw e;
      }
      // Where it is needed, too, it is refused as soon as it is read.
      LOG.debug("the log of standby \"{}\" could not be compared at {}", name, last, e);
      return;
    }
    if (header != null) {
      boolean isFrame = format.frameEnd(header, 0, at) == end;
      int checksum = header.getInt(0);
      if (!isFrame || checksum != last.checksum()) {
        throw refused(
            "standby \"%s\" is at %s, and its log is of another history: what it has before that is at %s, and the log here has %s"
                .formatted(
                    name,
                    timelines.position(end),
                    last,
                    isFrame ? new LogFrame(last.at(), checksum) : "nothing that ends there"));
      }
    }
    readers.add(reader);
  }

  private LogReader reader() {
    LogReader idle = readers.poll();
    return idle != null
        ? idle
        : new LogReader(
            format,
            segments,
            LogFile::openReadOnly,
            archive == null ? LogReader.NOTHING_OLDER : archive.older(timelines.current()));
  }

  /// Refuses a standby whose next group cannot be had.
  ///
  /// @param from position behind which it lacks the log
  /// @param end up to where the log is durable
  /// @throws EngineException NOT_IN_PREREQUISITE_STATE naming position and file
  void requireNext(String name, long from, long end) {
    if (from < end) {
      LogReader reader = reader();
      next(reader, name, from, end);
      readers.add(reader);
    }
  }

  /// Writes a batch, which ends early where what follows cannot be had.
  ///
  /// @param from position behind which the standby lacks the log
  /// @param end up to where the log is durable
  /// @return up to where the standby has got it
  /// @throws EngineException NOT_IN_PREREQUISITE_STATE naming position and file, if not even one group can be had
  /// @throws IOException if the standby does not take it
  long write(String name, long from, long end, boolean afterApplied, DataOutputStream out)
      throws IOException {
    LogReader reader = reader();
    LogReader.Read read = from < end ? next(reader, name, from, end) : null;
    long at = from;
    long bytes = 0;
    while (read != null) {
      for (SideFile side : read.group().sideFiles()) {
        send(side, at, read.end(), out);
        bytes += side.bytes();
      }
      LogRecord group = read.group();
      out.writeByte(GROUP);
      out.writeLong(read.end());
      out.writeInt(group.count());
      out.writeInt(group.length());
      out.write(group.bytes(), 0, group.length());
      CRC32C crc = new CRC32C();
      crc.update(group.bytes(), 0, group.length());
      out.writeInt((int) crc.getValue());
      bytes += group.length();
      at = read.end();
      read = at < end && bytes < MOST_BYTES ? nextUnlessRefused(reader, name, at, end) : null;
    }
    out.writeByte(END);
    out.writeLong(end);
    out.writeBoolean(afterApplied);
    out.flush();
    readers.add(reader);
    return at;
  }

  /// Reads the next group, whose side files are there.
  ///
  /// @throws EngineException NOT_IN_PREREQUISITE_STATE if log or archive are damaged there, or cannot be read
  private LogReader.Read next(LogReader reader, String name, long at, long end) {
    try {
      LogReader.Read read = reader.next(at, end);
      for (SideFile side : read.group().sideFiles()) {
        Path place = place(side, read.end());
        if (Files.notExists(place)) {
          throw LogReader.corrupted("file \"%s\" is missing".formatted(place));
        }
        if (doubtful.contains(at)) {
          sideFiles.read(place, side, (from, changes) -> {});
        }
      }
      doubtful.remove(at);
      return read;
    } catch (IOException | EngineException e) {
      EngineException reason = SegmentedLog.failure("could not read the log", e);
      if (e instanceof EngineException && reason.code() != ErrorCode.DATA_CORRUPTED) {
        throw reason;
      }
      throw refused(
          "standby \"%s\" is at %s, and what follows cannot be had: %s"
              .formatted(name, timelines.position(at), reason.getMessage()),
          archive == null ? ANEW : ARCHIVE);
    }
  }

  /// The same behind other groups; null: the next batch says what is wrong.
  private LogReader.@Nullable Read nextUnlessRefused(
      LogReader reader, String name, long at, long end) {
    try {
      return next(reader, name, at, end);
    } catch (EngineException e) {
      LOG.debug("a batch for standby \"{}\" ends early", name, e);
      return null;
    }
  }

  /// Where a side file is, or should be.
  ///
  /// @param end of the group that names it
  private Path place(SideFile side, long end) {
    Path kept = sideFiles.kept().path(end, side.number());
    if (Files.exists(kept)) {
      return kept;
    }
    Path own = sideFiles.path(side.number());
    return archive == null || Files.exists(own)
        ? own
        : archive.side(timelines.current(), end, side);
  }

  /// @param at where the group begins that ends at `end`
  private void send(SideFile side, long at, long end, DataOutputStream out) throws IOException {
    Path place = place(side, end);
    out.writeByte(SIDE_FILE);
    out.writeLong(side.number());
    out.writeLong(side.bytes());
    try {
      sideFiles.copy(place, side, out);
    } catch (EngineException e) {
      // The stream is cut off here. The next one looks at the file first, and says what is wrong.
      doubtful.add(at);
      throw e;
    }
  }
}
