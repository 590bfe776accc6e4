package dev.kakehashi.protocol.archive;

import dev.kakehashi.protocol.file.RecordKind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// Files of the archive, `<number>.archive`, and their records: type (1 byte), content. Little endian. Each is a file of records
/// ([RecordFile]); where it is cut off, the endpoint was killed.
final class ArchiveFormat {
  static final String SUFFIX = ".archive";

  /// Longer than any record: a frame and an inbound batch.
  private static final int MAX_RECORD_BYTES = 1 << 30;

  static final RecordKind KIND =
      new RecordKind("ARCH", 1, MAX_RECORD_BYTES, "file of a request archive");

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

  /// Bytes of a record.
  @SuppressWarnings("ByteBufferBackingArray") // made by allocate() below, of this size
  static byte[] encode(ArchiveRecord record) {
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
    return content.array();
  }

  private static ByteBuffer allocate(byte type, int bytes) {
    return ByteBuffer.allocate(1 + bytes).order(ByteOrder.LITTLE_ENDIAN).put(type);
  }

  /// Decodes a record.
  ///
  /// @throws IOException when its form is wrong
  static ArchiveRecord decode(byte[] bytes) throws IOException {
    ByteBuffer record = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
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
