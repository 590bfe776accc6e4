package dev.kakehashi.rest.job;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// Bytes of a journal: a magic number of 8 bytes, then records at multiples of 8: mark (4 bytes), length of the content (4), CRC-32C of
/// length and content (4), content, zeros up to the next multiple of 8. Little endian. The mark lets a reader find records behind damage.
final class JournalFormat {
  static final long MAGIC = 0x3130424f4a484b4bL; // the bytes KKHJOB01
  static final int HEADER_BYTES = 8;

  private static final int MARK = 0x434552bb;
  private static final int RECORD_HEADER_BYTES = 12;

  /// Longer than any record: one of a job with a thousand files.
  private static final int MAX_RECORD_BYTES = 1 << 20;

  /// Files beyond that are none of ours.
  private static final long MAX_FILE_BYTES = 1L << 30;

  /// Content of a journal.
  ///
  /// @param records whole ones, in their order
  /// @param isDamaged whether there is a whole record behind bytes that are none, or the file is none of a journal
  /// @param isCutOff whether the file ends with bytes that are no record, as a crash leaves them
  record Content(List<byte[]> records, boolean isDamaged, boolean isCutOff) {}

  private JournalFormat() {}

  /// A record with its header.
  static byte[] frame(byte[] record) {
    if (record.length > MAX_RECORD_BYTES) {
      throw new IllegalArgumentException("a record of " + record.length + " bytes");
    }
    byte[] framed = new byte[aligned(RECORD_HEADER_BYTES + record.length)];
    ByteBuffer.wrap(framed)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(MARK)
        .putInt(record.length)
        .putInt(checksum(record))
        .put(record);
    return framed;
  }

  private static int aligned(int bytes) {
    return bytes + 7 & ~7;
  }

  private static int checksum(byte[] record) {
    CRC32C crc = new CRC32C();
    crc.update(ByteBuffer.allocate(Integer.BYTES).putInt(record.length).flip());
    crc.update(record);
    return (int) crc.getValue();
  }

  /// Reads a journal as far as it can be read.
  static Content read(Path file) throws IOException {
    if (Files.notExists(file)) {
      return new Content(List.of(), false, false);
    }
    if (Files.size(file) > MAX_FILE_BYTES) {
      return new Content(List.of(), true, false);
    }
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    boolean isOurs = bytes.limit() >= HEADER_BYTES && bytes.getLong(0) == MAGIC;
    List<byte[]> records = new ArrayList<>();
    boolean isDamaged = !isOurs && bytes.limit() > 0;
    boolean isSkipping = false;
    int at = HEADER_BYTES;
    while (at + RECORD_HEADER_BYTES <= bytes.limit()) {
      byte[] record = recordAt(bytes, at);
      if (record == null) {
        isSkipping = true;
        at += 8;
      } else {
        isDamaged |= isSkipping;
        isSkipping = false;
        records.add(record);
        at += aligned(RECORD_HEADER_BYTES + record.length);
      }
    }
    return new Content(records, isDamaged, isSkipping || at < bytes.limit());
  }

  private static byte @Nullable [] recordAt(ByteBuffer bytes, int at) {
    int length = bytes.getInt(at + 4);
    if (bytes.getInt(at) != MARK
        || length < 0
        || length > MAX_RECORD_BYTES
        || length > bytes.limit() - at - RECORD_HEADER_BYTES) {
      return null;
    }
    byte[] record = new byte[length];
    bytes.get(at + RECORD_HEADER_BYTES, record);
    return checksum(record) == bytes.getInt(at + 8) ? record : null;
  }
}
