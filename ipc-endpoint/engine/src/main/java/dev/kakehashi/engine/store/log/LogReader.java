package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.log.file.LogFile;
import dev.kakehashi.engine.store.memory.HeapRoom;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Reads the log from a position to its end.
///
/// The end is the first group that is not whole: a write that was under way at a crash. As the next group is begun only when the one before
/// survives power loss, nothing whole can follow it; where something does, an acknowledged commit is damaged, and the log is refused. In
/// the last segment of a standby's log groups may follow, see [ReceivedGroups]: nobody has been told of them.
final class LogReader {
  /// Takes a group.
  interface Visitor {
    /// @param end where the next group begins
    void group(LogRecord group, long end);
  }

  /// Says how far a log is read.
  interface Limit {
    /// Whether a group and all behind it are left out.
    ///
    /// @param end of the group
    boolean isBeyond(LogRecord group, long end);
  }

  /// Has segments that a log has given up. Used by the thread that reads.
  interface Older {
    /// Reads all of a segment.
    ///
    /// @param bytes gets it; as long as a segment, of the heap
    /// @return false: nobody has it
    /// @throws EngineException DATA_CORRUPTED if it should be there, and is missing or damaged
    boolean read(long number, ByteBuffer bytes) throws IOException;
  }

  static final Limit NO_LIMIT = (group, end) -> false;
  static final Older NOTHING_OLDER = (number, bytes) -> false;

  private final LogFormat format;
  private final LogSegments segments;
  private final LogFile.Opener opener;
  private final Older older;
  private final ByteBuffer bytes;
  private long loaded = -1;

  /// Bytes of the file of the segment in `bytes`.
  private long loadedBytes;

  private boolean cutOff;

  /// Where the frame was looked for that is not whole.
  private long brokenAt;

  /// Up to where a log that grows may be read, and what of the segment is in `bytes`. 0: the log does not grow.
  private long durable;

  private int loadedFrom;
  private int loadedTo;
  private long wantedFrom;

  LogReader(LogFormat format, LogSegments segments, LogFile.Opener opener) {
    this(format, segments, opener, NOTHING_OLDER);
  }

  /// @param older is asked, by those who read a log that grows, for segments that are not there any more
  LogReader(LogFormat format, LogSegments segments, LogFile.Opener opener, Older older) {
    this.older = older;
    this.format = format;
    this.segments = segments;
    this.opener = opener;
    this.bytes = ByteBuffer.allocate(format.segmentBytes()).order(ByteOrder.LITTLE_ENDIAN);
  }

  /// Calls `visitor` for every whole group from `start` on; returns where the next one has to be written.
  ///
  /// @throws EngineException DATA_CORRUPTED
  long replay(long start, Visitor visitor) throws IOException {
    return replay(start, NO_LIMIT, visitor);
  }

  /// The same up to the first group that is beyond a limit: what follows is not looked at.
  ///
  /// @throws EngineException DATA_CORRUPTED
  long replay(long start, Limit limit, Visitor visitor) throws IOException {
    long at = format.frameStart(start);
    while (true) {
      long groupStart = at;
      Group group = new Group();
      at = read(groupStart, group);
      if (at < 0) {
        refuseIfMoreFollows(groupStart);
        return groupStart;
      }
      LogRecord read = LogRecord.of(group.payload, group.length, group.changes);
      if (limit.isBeyond(read, at)) {
        return groupStart;
      }
      visitor.group(read, at);
      at = format.frameStart(at);
    }
  }

  /// A group of the log, and where it ends.
  record Read(LogRecord group, long end) {}

  /// Reads one group that is durable, of a log that grows: no more of its files than is new.
  ///
  /// @param from where the one before ends
  /// @param durableEnd up to where the log is durable, behind the group
  /// @throws EngineException DATA_CORRUPTED
  Read next(long from, long durableEnd) throws IOException {
    durable = durableEnd;
    long at = format.frameStart(from);
    wantedFrom = at;
    Group group = new Group();
    long end = read(at, group);
    if (end < 0) {
      throw corrupted(
          "log segment \"%s\" is damaged at byte %d"
              .formatted(segments.path(format.segment(at)), format.offset(at)));
    }
    return new Read(LogRecord.of(group.payload, group.length, group.changes), end);
  }

  /// The header of a frame that is durable, of a log that grows; zeros: there is no room for one. Null: its segment has gone.
  ///
  /// @throws EngineException DATA_CORRUPTED if the segment should be there
  @Nullable ByteBuffer frameHeader(long at) throws IOException {
    int offset = format.offset(at);
    if (format.segmentBytes() - offset < LogFormat.FRAME_HEADER_BYTES) {
      return ByteBuffer.allocate(LogFormat.FRAME_HEADER_BYTES);
    }
    durable = at + LogFormat.FRAME_HEADER_BYTES;
    wantedFrom = at;
    return loadPart(format.segment(at))
        ? bytes.slice(offset, LogFormat.FRAME_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN)
        : null;
  }

  /// Whether the log that was read ends with a write that is not whole. Nothing is known of a write that was cut off before its first bytes
  /// were there.
  boolean isCutOff() {
    return cutOff;
  }

  private static final class Group {
    byte[] payload = new byte[0];
    int length;
    int changes;
    private boolean cutOff;

    /// Whether it is so long that its payload should not be copied again and again, and longer than it was taken for.
    boolean isLongerThanExpected(int more) {
      return length >= HeapRoom.LONG_BYTES && payload.length - length < more && !cutOff;
    }

    /// @param more bytes of payload; negative: it is not whole, so nobody will ask for them
    /// @throws EngineException OUT_OF_MEMORY
    void expect(long more) {
      if (more < 0) {
        cutOff = true;
        return;
      }
      byte[] larger = HeapRoom.allocateAgain(Math.toIntExact(length + more));
      System.arraycopy(payload, 0, larger, 0, length);
      payload = larger;
    }

    void add(ByteBuffer segment, int offset, int bytes) {
      if (cutOff) {
        return;
      }
      int needed = Math.addExact(length, bytes);
      if (needed > payload.length) {
        // A long row has many frames.
        long larger = (long) payload.length + payload.length / 2;
        payload = Arrays.copyOf(payload, Math.clamp(larger, needed, LogRecord.MAX_BYTES));
      }
      segment.get(offset, payload, length, bytes);
      length = needed;
    }
  }

  /// Reads the frames of a group; returns its end, or -1 if it is not whole.
  private long read(long groupStart, Group group) throws IOException {
    long at = groupStart;
    int previousCrc = 0;
    while (true) {
      LogFormat.Frame frame = enter(at) ? format.frame(bytes, at, groupStart, previousCrc) : null;
      if (frame == null) {
        cutOff = at != groupStart || (loaded >= 0 && format.isBegun(bytes, at));
        brokenAt = at;
        refuseShort(groupStart, at);
        return -1;
      }
      if (group.isLongerThanExpected(frame.payloadBytes())) {
        group.expect(payloadBytesFrom(at, groupStart, previousCrc));
        enter(at);
      }
      group.add(bytes, format.offset(at) + LogFormat.FRAME_HEADER_BYTES, frame.payloadBytes());
      group.changes = frame.changes();
      at += frame.bytes();
      if (frame.last()) {
        return at;
      }
      previousCrc = frame.crc();
      at = format.frameStart(at);
    }
  }

  /// Bytes of the frames of a group from a position on; -1: it is not whole.
  private long payloadBytesFrom(long from, long groupStart, int crcBefore) throws IOException {
    long at = from;
    int previousCrc = crcBefore;
    long sum = 0;
    while (true) {
      LogFormat.Frame frame = enter(at) ? format.frame(bytes, at, groupStart, previousCrc) : null;
      if (frame == null) {
        return -1;
      }
      sum += frame.payloadBytes();
      if (frame.last()) {
        return sum;
      }
      previousCrc = frame.crc();
      at = format.frameStart(at + frame.bytes());
    }
  }

  /// Brings the segment in which the log goes on at a position into `bytes`; false if there is none, which older versions could leave.
  private boolean enter(long at) throws IOException {
    long number = format.segment(at);
    if (load(number)) {
      return true;
    }
    if (segments.has(number)) {
      throw corrupted("log segment \"%s\" has no valid header".formatted(segments.path(number)));
    }
    boolean first = at == format.firstPosition(number);
    if (!first || number == 0 || !load(number - 1) || LogFormat.isGuarded(bytes)) {
      throw corrupted("log segment \"%s\" is missing".formatted(segments.path(number)));
    }
    loaded = -1;
    return false;
  }

  /// Refuses a file that is shorter than it was made, unless the log ends with it, as in a backup.
  private void refuseShort(long groupStart, long at) {
    if (loaded < 0 || !LogFormat.isGuarded(bytes) || loadedBytes >= format.segmentBytes()) {
      return;
    }
    if (at != groupStart || loadedBytes != format.offset(at)) {
      throw corrupted(
          "log segment \"%s\" has %d bytes instead of %d"
              .formatted(segments.path(loaded), loadedBytes, format.segmentBytes()));
    }
  }

  /// Brings a segment into `bytes`; what the file lacks is zero. False if there is no such segment, or it has no header of its own.
  private boolean load(long number) throws IOException {
    if (durable > 0) {
      return loadPart(number);
    }
    if (loaded == number) {
      return true;
    }
    if (!segments.has(number)) {
      return false;
    }
    loaded = -1;
    Arrays.fill(bytes.array(), (byte) 0);
    bytes.clear();
    try (LogFile file = opener.open(segments.path(number))) {
      loadedBytes = file.size();
      file.read(bytes, 0);
    }
    bytes.clear();
    loaded = number;
    return format.isHeader(bytes, number);
  }

  /// Brings what is durable of a segment into `bytes`, from the wanted group on; the rest of them means nothing.
  private boolean loadPart(long number) throws IOException {
    int from =
        number == format.segment(wantedFrom) ? format.offset(wantedFrom) : LogFormat.HEADER_BYTES;
    int to = number == format.segment(durable) ? format.offset(durable) : format.segmentBytes();
    if (loaded == number && loadedFrom <= from && loadedTo >= to) {
      return true;
    }
    loaded = -1;
    bytes.clear();
    loadedFrom = from;
    loadedTo = to;
    if (!loadPresent(number)) {
      // A segment that is given up was durable to its end.
      if (!older.read(number, bytes)) {
        return false;
      }
      loadedBytes = format.segmentBytes();
      loadedFrom = LogFormat.HEADER_BYTES;
      loadedTo = format.segmentBytes();
    }
    loaded = number;
    return format.isHeader(bytes, number);
  }

  /// Brings what is wanted of a segment into `bytes`; false: it is not there, or was given up meanwhile, and its file may be another one's.
  private boolean loadPresent(long number) throws IOException {
    if (!segments.has(number)) {
      return false;
    }
    try (LogFile file = opener.open(segments.path(number))) {
      loadedBytes = file.size();
      file.read(bytes.slice(0, LogFormat.HEADER_BYTES), 0);
      if (loadedTo > loadedFrom) {
        file.read(bytes.slice(loadedFrom, loadedTo - loadedFrom), loadedFrom);
      }
    } catch (NoSuchFileException e) {
      if (segments.has(number)) {
        throw e;
      }
      return false;
    }
    return segments.has(number);
  }

  private void refuseIfMoreFollows(long end) throws IOException {
    long last = segments.last();
    LogEnd.Mark mark = LogEnd.read(segments.directory());
    boolean mayFollow = mark != null && mark.isFollower();
    long first = mayFollow ? format.segment(brokenAt) + 1 : format.segment(end);
    for (long number = first; number <= last; number++) {
      if (!segments.has(number)) {
        continue;
      }
      loaded = -1;
      boolean hasHeader = load(number);
      int from = LogFormat.HEADER_BYTES;
      if (number == format.segment(end)) {
        // The group that begins at the end itself was seen to be incomplete, unless it was not
        // looked at.
        from = format.offset(end) + (hasHeader ? LogFormat.ALIGNMENT : 0);
      }
      Long found = firstGroup(number, from);
      if (found != null) {
        throw corrupted(
            "log segment \"%s\" is damaged at byte %d: commits follow at byte %d of \"%s\""
                .formatted(
                    segments.path(format.segment(end)),
                    format.offset(end),
                    format.offset(found),
                    segments.path(number).getFileName()));
      }
    }
  }

  private @Nullable Long firstGroup(long number, int from) {
    int to = format.segmentBytes() - LogFormat.FRAME_HEADER_BYTES;
    for (int offset = from; offset < to; offset += LogFormat.ALIGNMENT) {
      long position = number * format.segmentBytes() + offset;
      if (bytes.getLong(offset + 8) == position
          && format.frame(bytes, position, position, 0) != null) {
        return position;
      }
    }
    return null;
  }

  /// Refuses a segment that is older than the image: one that does not have the group which ends at the image's position. Groups of the log
  /// after that one would be lost without a word.
  ///
  /// @param position up to where the image has the log, which has reached it
  /// @throws EngineException DATA_CORRUPTED
  void requireReached(long position) throws IOException {
    int end = format.offset(position);
    if (end <= LogFormat.HEADER_BYTES || !load(format.segment(position))) {
      return;
    }
    if (tail(position) == null) {
      throw corrupted(
          "log segment \"%s\" is damaged, or an older copy: the base image was made of it up to byte %d"
              .formatted(segments.path(format.segment(position)), end),
          "Put the newest files of the log back, or restore the data directory from a backup.");
    }
  }

  /// A frame before a position.
  ///
  /// @param at where it begins
  record Tail(long at, int crc) {}

  /// Finds the frame that ends at a position. Its checksum is not looked at, for that needs those before, which may be gone.
  ///
  /// @return null: none does, or its segment is not there
  @Nullable Tail tail(long position) throws IOException {
    long number = format.segment(position - 1);
    long base = number * format.segmentBytes();
    int end = (int) (position - base);
    if (end <= LogFormat.HEADER_BYTES || !load(number)) {
      return null;
    }
    for (int at = end - LogFormat.FRAME_HEADER_BYTES - LogFormat.ALIGNMENT;
        at >= LogFormat.HEADER_BYTES;
        at -= LogFormat.ALIGNMENT) {
      if (format.frameEnd(bytes, at, base + at) == position) {
        return new Tail(base + at, bytes.getInt(at));
      }
    }
    return null;
  }

  static EngineException corrupted(String what) {
    return corrupted(what, "Restore the data directory from a backup.");
  }

  static EngineException corrupted(String what, String hint) {
    return new EngineException(ErrorCode.DATA_CORRUPTED, "store is corrupted: " + what)
        .withHint(hint);
  }
}
