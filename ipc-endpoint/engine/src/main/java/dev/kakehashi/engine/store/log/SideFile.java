package dev.kakehashi.engine.store.log;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/// A file beside the log with the changes of one record that are too many for it, in the order of their keys. The record names it by a put,
/// which never gets into the base image; the file survives power loss before the record is written.
///
/// The name in a record is a put of 9 bytes, [#NAME_KEY] and the number, and 28 bytes: number, bytes, changes, checksum. Numbers in names
/// have the most significant byte first.
///
/// | offset in the file | bytes | what |
/// |---|---|---|
/// | 0 | 8 | magic, with the version of this layout |
/// | 8 | 8 | log identifier |
/// | 16 | 8 | number of the file |
/// | 24 | 4 | 0 |
/// | 28 | 4 | CRC-32C of the above |
///
/// Then pieces, each with changes as in a [LogRecord]. Numbers are little-endian.
///
/// | offset in a piece | bytes | what |
/// |---|---|---|
/// | 0 | 4 | CRC-32C of the checksum before (of the piece before, or the header), the header from here on, and the payload |
/// | 4 | 4 | length of the payload |
/// | 8 | 4 | changes |
/// | 12 | 4 | 0 |
/// | 16 | | payload |
///
/// So the checksum of the last piece, which the name has, says that all of them are there.
///
/// @param number of the file in its log
/// @param bytes of the file
/// @param changes in the file
/// @param checksum of the last piece
record SideFile(long number, long bytes, long changes, int checksum) {
  /// First byte of a name's key: below all keys of the store, and above the image's own.
  static final byte NAME_KEY = 1;

  static final int NAME_KEY_BYTES = 1 + Long.BYTES;
  static final int HEADER_BYTES = 32;
  static final int PIECE_HEADER_BYTES = 16;

  private static final long MAGIC = 0x3130_4544_4953_484bL; // KHSIDE01
  private static final int NAME_BYTES = 3 * Long.BYTES + Integer.BYTES;
  private static final String SUFFIX = ".side";

  static Path path(Path directory, long number) {
    return directory.resolve("%016x%s".formatted(number, SUFFIX));
  }

  /// Matches the files' names.
  static String glob() {
    return "*" + SUFFIX;
  }

  /// Number of a file; throws NumberFormatException if that is none.
  static long number(Path file) {
    String name = file.getFileName().toString();
    return Long.parseUnsignedLong(name.substring(0, name.length() - SUFFIX.length()), 16);
  }

  static boolean isName(byte[] bytes, int key, int keyLength) {
    return keyLength == NAME_KEY_BYTES && bytes[key] == NAME_KEY;
  }

  byte[] nameKey() {
    return ByteBuffer.allocate(NAME_KEY_BYTES).put(NAME_KEY).putLong(number).array();
  }

  byte[] name() {
    return ByteBuffer.allocate(NAME_BYTES)
        .putLong(number)
        .putLong(bytes)
        .putLong(changes)
        .putInt(checksum)
        .array();
  }

  /// Reads a name.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED
  static SideFile of(byte[] bytes, int offset, int length) {
    if (length != NAME_BYTES) {
      throw LogReader.corrupted("a record names a side file by %d bytes".formatted(length));
    }
    ByteBuffer from = ByteBuffer.wrap(bytes, offset, length);
    return new SideFile(from.getLong(), from.getLong(), from.getLong(), from.getInt());
  }

  static ByteBuffer header(long logId, long number) {
    ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    header.putLong(MAGIC).putLong(logId).putLong(number).putInt(0);
    CRC32C crc = new CRC32C();
    crc.update(header.array(), 0, HEADER_BYTES - Integer.BYTES);
    return header.putInt((int) crc.getValue()).flip();
  }

  /// The header of a piece whose payload are the first `length` bytes.
  static ByteBuffer pieceHeader(int checksumBefore, byte[] payload, int length, int changes) {
    ByteBuffer header = ByteBuffer.allocate(PIECE_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    header.putInt(checksumBefore).putInt(length).putInt(changes).putInt(0);
    CRC32C crc = new CRC32C();
    crc.update(header.array(), 0, PIECE_HEADER_BYTES);
    crc.update(payload, 0, length);
    return header.putInt(0, (int) crc.getValue()).flip();
  }
}
