package dev.kakehashi.protocol.archive;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// Reads a file of an archive of a build before there were files of records: a magic number of 8 bytes, then records of length (4 bytes, of
/// the content), checksum (4 bytes, CRC-32C of the content), content. Little endian. One thread.
final class OldArchiveFile implements AutoCloseable {
  private static final long MAGIC = 0x3130484352414b4bL; // the bytes KKARCH01
  private static final int HEADER_BYTES = 2 * Integer.BYTES;

  private final InputStream input;
  private boolean isCutOff;

  private OldArchiveFile(InputStream input) {
    this.input = input;
  }

  /// Opens a file.
  ///
  /// @return null: it is none of these
  static @Nullable OldArchiveFile open(Path file) throws IOException {
    InputStream opened = new BufferedInputStream(Files.newInputStream(file), 1 << 18);
    OldArchiveFile found = null;
    try {
      byte[] magic = opened.readNBytes(Long.BYTES);
      if (magic.length == Long.BYTES
          && ByteBuffer.wrap(magic).order(ByteOrder.LITTLE_ENDIAN).getLong() == MAGIC) {
        found = new OldArchiveFile(opened);
      }
      return found;
    } finally {
      if (found == null) {
        opened.close();
      }
    }
  }

  /// The next record; null at the end.
  ///
  /// @throws IOException when its checksum is wrong
  byte @Nullable [] next() throws IOException {
    byte[] header = input.readNBytes(HEADER_BYTES);
    if (header.length < HEADER_BYTES) {
      isCutOff = header.length > 0;
      return null;
    }
    ByteBuffer numbers = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    int length = numbers.getInt();
    if (length < 1 || length > ArchiveFormat.KIND.maxRecordBytes()) {
      throw new IOException("record of " + length + " bytes");
    }
    byte[] content = input.readNBytes(length);
    if (content.length < length) {
      isCutOff = true;
      return null;
    }
    CRC32C crc = new CRC32C();
    crc.update(content);
    if (numbers.getInt() != (int) crc.getValue()) {
      throw new IOException("checksum of a record is wrong");
    }
    return content;
  }

  /// Whether it ends with a part of a record.
  boolean isCutOff() {
    return isCutOff;
  }

  @Override
  public void close() throws IOException {
    input.close();
  }
}
