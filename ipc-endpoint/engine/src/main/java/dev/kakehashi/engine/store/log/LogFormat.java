package dev.kakehashi.engine.store.log;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// Layout of the log: segments of one size, one after another, each with a header block and then frames. Numbers are little-endian.
///
/// A position counts bytes over all segments: `segment * segmentBytes + offset`. A group (the records of one flush) is one frame, or
/// several where it reaches into further segments; it is there when the last of them is.
///
/// | offset in a frame | bytes | what |
/// |---|---|---|
/// | 0 | 4 | CRC-32C of log identifier, checksum of the group's frame before (0: first), the header from here on, and the payload |
/// | 4 | 4 | length of the payload |
/// | 8 | 8 | position of this frame |
/// | 16 | 8 | position of the group's first frame |
/// | 24 | 4 | changes in the group |
/// | 28 | 4 | 1: last frame of the group |
/// | 32 | | payload, padded to 8 bytes |
///
/// Segments are used again with their old content: an old frame has another position, so it is not taken for a new one.
///
/// | offset in a header | bytes | what |
/// |---|---|---|
/// | 0 | 8 | magic, with the version of this layout |
/// | 8 | 8 | log identifier, random: a frame in a client's value is none of this log's |
/// | 16 | 8 | number of the segment |
/// | 24 | 4 | bytes of a segment |
/// | 28 | 4 | CRC-32C of the above |
/// | 32 | 4 | 1: a guarded segment, see below; 0 in those of older versions |
/// | 36 | 4 | CRC-32C of the above, if that is not 0 |
///
/// A guarded segment's file has its whole length before it has its name. The next segment is there before a frame fills this one. So a
/// short or missing file means that somebody has damaged the log: no crash leaves the like. The last segment of a backup ends where the log
/// does.
record LogFormat(long logId, int segmentBytes) {
  static final int HEADER_BYTES = 4096;
  static final int FRAME_HEADER_BYTES = 32;
  static final int ALIGNMENT = 8;
  static final int LAST = 1;

  private static final long MAGIC = 0x3130_474f_4c5f_484bL; // KH_LOG01
  private static final int HEADER_USED_BYTES = 32;
  private static final int GUARDED = 1;
  private static final int GUARD_USED_BYTES = 40;

  /// A frame's header.
  record Frame(int crc, int payloadBytes, long groupStart, int changes, boolean last) {
    /// Bytes up to the next frame.
    int bytes() {
      return aligned(FRAME_HEADER_BYTES + payloadBytes);
    }
  }

  static int aligned(int bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  long segment(long position) {
    return position / segmentBytes;
  }

  int offset(long position) {
    return (int) (position % segmentBytes);
  }

  /// First frame of a segment.
  long firstPosition(long segment) {
    return segment * segmentBytes + HEADER_BYTES;
  }

  /// Where the next frame is when the one before ends at `position`: there, or in the next segment.
  long frameStart(long position) {
    int offset = offset(position);
    if (offset == 0) {
      return position + HEADER_BYTES;
    }
    boolean room = segmentBytes - offset >= FRAME_HEADER_BYTES + ALIGNMENT;
    return room ? position : firstPosition(segment(position) + 1);
  }

  /// Longest payload of a frame at `position`.
  int room(long position) {
    return segmentBytes - offset(position) - FRAME_HEADER_BYTES;
  }

  ByteBuffer header(long segment) {
    ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    header.putLong(MAGIC).putLong(logId).putLong(segment).putInt(segmentBytes);
    header.putInt(crc(header, HEADER_USED_BYTES - Integer.BYTES));
    header.putInt(GUARDED);
    header.putInt(crc(header, GUARD_USED_BYTES - Integer.BYTES));
    return header.rewind();
  }

  /// Whether a header, which is one, is that of a guarded segment.
  static boolean isGuarded(ByteBuffer header) {
    return header.getInt(32) == GUARDED
        && header.getInt(36) == crc(header, GUARD_USED_BYTES - Integer.BYTES);
  }

  boolean isHeader(ByteBuffer header, long segment) {
    return equals(read(header)) && header.getLong(16) == segment;
  }

  /// Reads a header; null if it is none.
  static @Nullable LogFormat read(ByteBuffer header) {
    if (header.limit() < HEADER_USED_BYTES
        || header.getLong(0) != MAGIC
        || header.getInt(28) != crc(header, HEADER_USED_BYTES - Integer.BYTES)) {
      return null;
    }
    return new LogFormat(header.getLong(8), header.getInt(24));
  }

  private static int crc(ByteBuffer header, int bytes) {
    CRC32C crc = new CRC32C();
    crc.update(header.duplicate().limit(bytes).position(0));
    return (int) crc.getValue();
  }

  /// A checksum that has seen what every frame's begins with.
  CRC32C begin(int previousCrc) {
    CRC32C crc = new CRC32C();
    ByteBuffer prefix = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
    crc.update(prefix.putLong(logId).putInt(previousCrc).flip());
    return crc;
  }

  /// Whether a first frame of a group was begun at `position`, whose segment is in `bytes`.
  boolean isBegun(ByteBuffer bytes, long position) {
    int at = offset(position);
    return bytes.getLong(at + 8) == position && bytes.getLong(at + 16) == position;
  }

  /// Where a frame at `position` ends, by what its header says; -1: there is none. Its content is not looked at.
  ///
  /// @param at where it is in `bytes`
  long frameEnd(ByteBuffer bytes, int at, long position) {
    int payloadBytes = bytes.getInt(at + 4);
    return bytes.getLong(at + 8) == position && payloadBytes > 0 && payloadBytes <= room(position)
        ? position + aligned(FRAME_HEADER_BYTES + payloadBytes)
        : -1;
  }

  /// The frame at `position`, whose segment is in `bytes`; null if there is none that is whole.
  ///
  /// @param groupStart position of its group's first frame
  /// @param previousCrc checksum of the group's frame before, 0 for the first
  @Nullable Frame frame(ByteBuffer bytes, long position, long groupStart, int previousCrc) {
    int at = offset(position);
    int payloadBytes = bytes.getInt(at + 4);
    if (bytes.getLong(at + 8) != position
        || bytes.getLong(at + 16) != groupStart
        || payloadBytes <= 0
        || payloadBytes > room(position)) {
      return null;
    }
    CRC32C crc = begin(previousCrc);
    crc.update(bytes.duplicate().limit(at + FRAME_HEADER_BYTES + payloadBytes).position(at + 4));
    if ((int) crc.getValue() != bytes.getInt(at)) {
      return null;
    }
    return new Frame(
        bytes.getInt(at),
        payloadBytes,
        groupStart,
        bytes.getInt(at + 24),
        (bytes.getInt(at + 28) & LAST) != 0);
  }
}
