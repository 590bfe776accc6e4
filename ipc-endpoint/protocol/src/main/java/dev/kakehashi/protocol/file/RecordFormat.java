package dev.kakehashi.protocol.file;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/// Layout of a file of records: a header, then frames at multiples of 8. Numbers are little-endian.
///
/// | offset in the header | bytes | what |
/// |---|---|---|
/// | 0 | 8 | magic |
/// | 8 | 2 | version of this layout; magic, version and checksum are at these places in every version |
/// | 10 | 2 | version of the records |
/// | 12 | 4 | kind of the records, four letters |
/// | 16 | 8 | bytes of the file when it got its name, all durable; the header alone: it has had its name from the beginning |
/// | 24 | 4 | salt, random |
/// | 28 | 4 | CRC-32C of the above |
///
/// | offset in a frame | bytes | what |
/// |---|---|---|
/// | 0 | 4 | mark: [#PLAIN], or [#AFTER_FORCE] if all records before were durable when it was written |
/// | 4 | 4 | length of the record |
/// | 8 | 4 | CRC-32C of salt, mark, length and record |
/// | 12 | | record, with zeros up to a multiple of 8 |
///
/// A mark lets a reader find frames behind broken bytes. Because of the salt, a frame within a client's value is none of this file's.
/// The second kind of mark tells damage from a write that power loss has torn. Pages of one write may come to the disk in any order, those
/// of a write after a force only after it.
///
/// @param wholeBytes see above
/// @param isSound whether the header's checksum is right
record RecordFormat(long wholeBytes, int salt, boolean isSound) {
  static final int HEADER_BYTES = 32;
  static final int FRAME_BYTES = 12;
  static final int ALIGNMENT = 8;

  static final int PLAIN = 0x44434bb1;
  static final int AFTER_FORCE = 0x46434bb2;

  static final int VERSION = 1;

  private static final long MAGIC = 0x4452_4f43_4552_484bL; // the bytes KHRECORD
  private static final int CHECKED_BYTES = HEADER_BYTES - Integer.BYTES;

  /// Bytes that a record takes in a file.
  static int framedBytes(int recordBytes) {
    return aligned(FRAME_BYTES + recordBytes);
  }

  private static int aligned(int bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  static boolean isMark(int mark) {
    return mark == PLAIN || mark == AFTER_FORCE;
  }

  static ByteBuffer header(RecordKind kind, long wholeBytes, int salt) {
    return header(kind, VERSION, wholeBytes, salt);
  }

  static ByteBuffer header(RecordKind kind, int version, long wholeBytes, int salt) {
    ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    header.putLong(MAGIC).putShort((short) version).putShort((short) kind.version());
    header.put(kind.letters().getBytes(StandardCharsets.US_ASCII)).putLong(wholeBytes);
    header.putInt(salt);
    return header.putInt(checksum(header.array())).flip();
  }

  private static int checksum(byte[] header) {
    CRC32C crc = new CRC32C();
    crc.update(header, 0, CHECKED_BYTES);
    return (int) crc.getValue();
  }

  /// Whether bytes that are too few for a header could be the beginning of one.
  static boolean mayBegin(byte[] bytes) {
    for (int at = 0; at < Math.min(bytes.length, Long.BYTES); at++) {
      if (bytes[at] != (byte) (MAGIC >>> (Byte.SIZE * at))) {
        return false;
      }
    }
    return true;
  }

  /// Reads a header. One whose checksum is wrong is taken for a damaged one of ours if magic or kind are right.
  static RecordFormat read(byte[] header, RecordKind kind, Path file) throws RecordFileException {
    ByteBuffer from = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    boolean isOurs = from.getLong(0) == MAGIC;
    String letters = new String(header, 12, 4, StandardCharsets.ISO_8859_1);
    if (from.getInt(CHECKED_BYTES) != checksum(header)) {
      if (!isOurs && !letters.equals(kind.letters())) {
        throw RecordFileException.foreign(file, kind);
      }
      return new RecordFormat(HEADER_BYTES, from.getInt(24), false);
    }
    if (!isOurs) {
      throw RecordFileException.foreign(file, kind);
    }
    if (from.getShort(8) > VERSION) {
      throw RecordFileException.newer(file, kind, from.getShort(8), VERSION);
    }
    if (!letters.equals(kind.letters())) {
      throw RecordFileException.foreign(file, kind);
    }
    if (from.getShort(10) > kind.version()) {
      throw RecordFileException.newer(file, kind, from.getShort(10), kind.version());
    }
    return new RecordFormat(from.getLong(16), from.getInt(24), true);
  }

  /// Writes a frame into zeros.
  void frame(byte[] into, int at, int mark, byte[] record) {
    ByteBuffer frame = ByteBuffer.wrap(into).order(ByteOrder.LITTLE_ENDIAN);
    frame.putInt(at, mark).putInt(at + 4, record.length);
    frame.putInt(at + 8, checksum(mark, record)).put(at + FRAME_BYTES, record);
  }

  int checksum(int mark, byte[] record) {
    ByteBuffer prefix = ByteBuffer.allocate(3 * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    prefix.putInt(salt).putInt(mark).putInt(record.length).flip();
    CRC32C crc = new CRC32C();
    crc.update(prefix);
    crc.update(record, 0, record.length);
    return (int) crc.getValue();
  }

  /// A frame that is whole.
  record Frame(int mark, byte[] content) {
    int bytes() {
      return framedBytes(content.length);
    }
  }
}
