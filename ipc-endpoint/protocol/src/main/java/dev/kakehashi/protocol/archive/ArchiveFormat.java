package dev.kakehashi.protocol.archive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/// Bytes of the archive: files `<number>.archive`, each a magic number of 8 bytes and then records of
/// length (4 bytes, of what follows the checksum), checksum (4 bytes, CRC-32C), type (1 byte), content. Little endian. A record that
/// is cut off or does not fit its checksum ends its file: that is where the endpoint was killed.
final class ArchiveFormat {
  static final String SUFFIX = ".archive";
  static final long MAGIC = 0x3130484352414b4bL; // the bytes KKARCH01
  static final int HEADER_BYTES = Long.BYTES;
  static final int RECORD_HEADER_BYTES = 2 * Integer.BYTES;

  private static final byte SESSION_BEGAN = 1;
  private static final byte SESSION_ENDED = 2;
  private static final byte STATEMENT_KEPT = 3;
  private static final byte REQUESTED = 4;
  private static final byte FINISHED = 5;

  private ArchiveFormat() {}

  /// The files of an archive, oldest first.
  static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.getFileName().toString().matches("\\d{10}\\.archive"))
          .sorted()
          .toList();
    }
  }

  static Path file(Path directory, long number) {
    return directory.resolve("%010d".formatted(number) + SUFFIX);
  }

  static long number(Path file) {
    return Long.parseLong(file.getFileName().toString().replace(SUFFIX, ""));
  }

  /// A record with its header.
  static ByteBuffer encode(ArchiveRecord record) {
    ByteBuffer content =
        switch (record) {
          case ArchiveRecord.SessionBegan began -> {
            byte[] user = began.userName().getBytes(StandardCharsets.UTF_8);
            byte[] application = began.applicationName().getBytes(StandardCharsets.UTF_8);
            ByteBuffer b = allocate(SESSION_BEGAN, 8 + 4 + user.length + 4 + application.length);
            b.putLong(began.sessionId());
            b.putInt(user.length).put(user).putInt(application.length).put(application);
            yield b;
          }
          case ArchiveRecord.SessionEnded ended ->
              allocate(SESSION_ENDED, 8).putLong(ended.sessionId());
          case ArchiveRecord.StatementKept kept ->
              allocate(STATEMENT_KEPT, kept.frame().length).put(kept.frame());
          case ArchiveRecord.Requested requested -> {
            byte[] frame = requested.frame();
            byte[] inbound = requested.inbound();
            yield allocate(REQUESTED, 8 + 4 + frame.length + inbound.length)
                .putLong(requested.epochMicros())
                .putInt(frame.length)
                .put(frame)
                .put(inbound);
          }
          case ArchiveRecord.Finished finished -> {
            List<Long> granted = finished.granted();
            ByteBuffer b =
                allocate(FINISHED, 4 * 8 + 4 + 8 * granted.size() + finished.sqlstate().length());
            b.putLong(finished.sessionId()).putLong(finished.requestId());
            b.putLong(finished.transactionHandle()).putLong(finished.rowsAffected());
            b.putInt(granted.size());
            granted.forEach(b::putLong);
            yield b.put(finished.sqlstate().getBytes(StandardCharsets.US_ASCII));
          }
        };
    content.flip();
    content.putInt(0, content.limit() - RECORD_HEADER_BYTES);
    content.putInt(4, checksum(content));
    return content;
  }

  private static ByteBuffer allocate(byte type, int bytes) {
    return ByteBuffer.allocate(RECORD_HEADER_BYTES + 1 + bytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .position(RECORD_HEADER_BYTES)
        .put(type);
  }

  private static int checksum(ByteBuffer record) {
    CRC32C crc = new CRC32C();
    crc.update(record.slice(RECORD_HEADER_BYTES, record.limit() - RECORD_HEADER_BYTES));
    return (int) crc.getValue();
  }

  /// Decodes a whole record.
  ///
  /// @throws IOException when its checksum or its form is wrong
  static ArchiveRecord decode(ByteBuffer record) throws IOException {
    record.order(ByteOrder.LITTLE_ENDIAN);
    if (record.getInt(4) != checksum(record)) {
      throw new IOException("checksum of a record is wrong");
    }
    record.position(RECORD_HEADER_BYTES);
    try {
      byte type = record.get();
      return switch (type) {
        case SESSION_BEGAN ->
            new ArchiveRecord.SessionBegan(
                record.getLong(), text(record, record.getInt()), text(record, record.getInt()));
        case SESSION_ENDED -> new ArchiveRecord.SessionEnded(record.getLong());
        case STATEMENT_KEPT -> new ArchiveRecord.StatementKept(bytes(record, record.remaining()));
        case REQUESTED ->
            new ArchiveRecord.Requested(
                record.getLong(),
                bytes(record, record.getInt()),
                bytes(record, record.remaining()));
        case FINISHED -> {
          long sessionId = record.getLong();
          long requestId = record.getLong();
          long handle = record.getLong();
          long rows = record.getLong();
          List<Long> granted = longs(record, record.getInt());
          String sqlstate = text(record, record.remaining());
          yield new ArchiveRecord.Finished(sessionId, requestId, handle, rows, sqlstate, granted);
        }
        default -> throw new IOException("record of unknown type " + type);
      };
    } catch (java.nio.BufferUnderflowException | IllegalArgumentException e) {
      throw new IOException("record is malformed: " + e, e);
    }
  }

  private static byte[] bytes(ByteBuffer from, int length) {
    if (length < 0 || length > from.remaining()) {
      throw new IllegalArgumentException("field of " + length + " bytes");
    }
    byte[] bytes = new byte[length];
    from.get(bytes);
    return bytes;
  }

  private static List<Long> longs(ByteBuffer from, int count) {
    if (count < 0 || count > from.remaining() / Long.BYTES) {
      throw new IllegalArgumentException("list of " + count + " entries");
    }
    List<Long> longs = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      longs.add(from.getLong());
    }
    return longs;
  }

  private static String text(ByteBuffer from, int length) {
    return new String(bytes(from, length), StandardCharsets.UTF_8);
  }
}
