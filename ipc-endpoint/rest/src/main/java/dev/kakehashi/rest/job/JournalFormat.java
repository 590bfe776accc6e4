package dev.kakehashi.rest.job;

import dev.kakehashi.protocol.file.RecordFileException;
import dev.kakehashi.protocol.file.RecordFileReader;
import dev.kakehashi.protocol.file.RecordKind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// Reads a journal: a file of records ([RecordFileReader]), or one of a build before these were there.
///
/// The older layout, little endian: a magic number of 8 bytes, then records at multiples of 8: mark (4 bytes), length of the content (4),
/// CRC-32C of length and content (4), content, zeros up to the next multiple of 8.
final class JournalFormat {
  /// Longer than any record: one of a job with a thousand files.
  private static final int MAX_RECORD_BYTES = 1 << 20;

  static final RecordKind KIND = new RecordKind("JOBS", 1, MAX_RECORD_BYTES, "journal of jobs");

  private static final long OLD_MAGIC = 0x3130424f4a484b4bL; // the bytes KKHJOB01
  private static final int OLD_HEADER_BYTES = 8;
  private static final int OLD_MARK = 0x434552bb;
  private static final int OLD_FRAME_BYTES = 12;

  /// Files beyond that are none of ours.
  private static final long MAX_FILE_BYTES = 1L << 30;

  /// Content of a journal.
  ///
  /// @param records whole ones, in their order
  /// @param isDamaged whether records are missing that were durable, or the file is none of a journal
  /// @param isCutOff whether the last write is not whole, as a crash leaves it
  record Content(List<byte[]> records, boolean isDamaged, boolean isCutOff) {}

  private JournalFormat() {}

  /// Reads a journal as far as it can be read, around damage.
  ///
  /// @throws RecordFileException a newer program has written it
  static Content read(Path file) throws IOException {
    if (Files.notExists(file)) {
      return new Content(List.of(), false, false);
    }
    if (Files.size(file) > MAX_FILE_BYTES) {
      return new Content(List.of(), true, false);
    }
    List<byte[]> records = new ArrayList<>();
    try (RecordFileReader reader = RecordFileReader.open(file, KIND)) {
      boolean isDamaged = false;
      boolean isCutOff = false;
      do {
        for (byte[] record = reader.next(); record != null; record = reader.next()) {
          records.add(record);
        }
        switch (reader.end()) {
          case WHOLE -> {}
          case CUT_OFF, TORN -> isCutOff = true;
          case DAMAGED -> isDamaged = true;
        }
      } while (reader.resume());
      return new Content(records, isDamaged, isCutOff);
    } catch (RecordFileException e) {
      if (e.isNewer()) {
        throw e;
      }
      return readOld(file);
    }
  }

  private static Content readOld(Path file) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    List<byte[]> records = new ArrayList<>();
    boolean isDamaged = bytes.limit() < OLD_HEADER_BYTES || bytes.getLong(0) != OLD_MAGIC;
    boolean isSkipping = false;
    int at = OLD_HEADER_BYTES;
    while (at + OLD_FRAME_BYTES <= bytes.limit()) {
      byte[] record = oldRecord(bytes, at);
      if (record == null) {
        isSkipping = true;
        at += 8;
      } else {
        isDamaged |= isSkipping;
        isSkipping = false;
        records.add(record);
        at += OLD_FRAME_BYTES + record.length + 7 & ~7;
      }
    }
    return new Content(records, isDamaged, isSkipping || at < bytes.limit());
  }

  private static byte @Nullable [] oldRecord(ByteBuffer bytes, int at) {
    int length = bytes.getInt(at + 4);
    if (bytes.getInt(at) != OLD_MARK
        || length < 0
        || length > MAX_RECORD_BYTES
        || length > bytes.limit() - at - OLD_FRAME_BYTES) {
      return null;
    }
    byte[] record = new byte[length];
    bytes.get(at + OLD_FRAME_BYTES, record);
    CRC32C crc = new CRC32C();
    crc.update(ByteBuffer.allocate(Integer.BYTES).putInt(length).flip());
    crc.update(record);
    return (int) crc.getValue() == bytes.getInt(at + 8) ? record : null;
  }
}
