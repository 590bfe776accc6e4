package dev.kakehashi.fuzz;

import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.archive.ArchiveReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/// A file of a request archive. If the first byte is odd, records get the checksums that a writer would have given them.
final class ArchiveTarget implements FuzzTarget {
  private static final int FILE_HEADER_BYTES = 8;
  private static final int RECORD_HEADER_BYTES = 8;

  private final Path directory;

  ArchiveTarget() throws IOException {
    directory = Files.createTempDirectory("kakehashi-fuzz-");
  }

  @Override
  public void run(byte[] input) throws IOException {
    if (input.length == 0) {
      return;
    }
    ByteBuffer file = ByteBuffer.wrap(input, 1, input.length - 1).slice();
    if ((input[0] & 1) != 0) {
      seal(file.order(ByteOrder.LITTLE_ENDIAN));
    }
    byte[] bytes = new byte[file.capacity()];
    file.get(0, bytes);
    Files.write(directory.resolve("0000000001.archive"), bytes);
    try (ArchiveReader reader = new ArchiveReader(directory)) {
      boolean more = true;
      while (more) {
        more = reader.next() != null;
      }
    } catch (IOException e) {
      // Declared for a file that is none.
      if (e.getMessage() == null) {
        throw e;
      }
    }
  }

  private static void seal(ByteBuffer file) {
    int at = FILE_HEADER_BYTES;
    while (file.capacity() - at >= RECORD_HEADER_BYTES) {
      int length = file.getInt(at);
      if (length < 1 || length > file.capacity() - at - RECORD_HEADER_BYTES) {
        return;
      }
      CRC32C crc = new CRC32C();
      crc.update(
          file.duplicate()
              .position(at + RECORD_HEADER_BYTES)
              .limit(at + RECORD_HEADER_BYTES + length));
      file.putInt(at + Integer.BYTES, (int) crc.getValue());
      at += RECORD_HEADER_BYTES + length;
    }
  }

  @Override
  public void close() throws IOException {
    Directories.delete(directory);
  }
}
