package dev.kakehashi.protocol.archive;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// Reads an archive from its oldest record on. One thread.
public final class ArchiveReader implements AutoCloseable {
  /// Longer than any record: a frame and an inbound batch.
  private static final int MAX_RECORD_BYTES = 1 << 30;

  private final ArrayDeque<Path> files;
  private @Nullable InputStream input;
  private Path file;
  private int cutOff;

  /// @param directory of the archive
  /// @throws IOException when there is none
  public ArchiveReader(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      throw new NoSuchFileException(directory.toString(), null, "there is no archive");
    }
    this.files = new ArrayDeque<>(ArchiveFormat.files(directory));
    this.file = directory;
  }

  /// The next record; null at the end.
  ///
  /// @throws IOException when a file is not one of an archive
  public @Nullable ArchiveRecord next() throws IOException {
    while (true) {
      if (input == null && !open()) {
        return null;
      }
      ArchiveRecord record = read();
      if (record != null) {
        return record;
      }
      close();
    }
  }

  /// Files that end with a part of a record, because the endpoint was killed or still writes.
  public int cutOffFiles() {
    return cutOff;
  }

  private boolean open() throws IOException {
    Path next = files.poll();
    if (next == null) {
      return false;
    }
    file = next;
    InputStream opened = new BufferedInputStream(Files.newInputStream(next), 1 << 18);
    input = opened;
    byte[] magic = opened.readNBytes(ArchiveFormat.HEADER_BYTES);
    if (magic.length > 0
        && (magic.length < ArchiveFormat.HEADER_BYTES
            || ByteBuffer.wrap(magic).order(ByteOrder.LITTLE_ENDIAN).getLong()
                != ArchiveFormat.MAGIC)) {
      throw new IOException("\"" + next + "\" is no file of a request archive");
    }
    return true;
  }

  /// The next record of the file; null at its end.
  private @Nullable ArchiveRecord read() throws IOException {
    InputStream from = java.util.Objects.requireNonNull(input);
    byte[] header = from.readNBytes(ArchiveFormat.RECORD_HEADER_BYTES);
    if (header.length == 0) {
      return null;
    }
    try {
      if (header.length < ArchiveFormat.RECORD_HEADER_BYTES) {
        throw new EOFException();
      }
      int length = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt();
      if (length < 1 || length > MAX_RECORD_BYTES) {
        throw new IOException("record of " + length + " bytes");
      }
      byte[] content = from.readNBytes(length);
      if (content.length < length) {
        throw new EOFException();
      }
      ByteBuffer record = ByteBuffer.allocate(header.length + length);
      return ArchiveFormat.decode(record.put(header).put(content).flip());
    } catch (EOFException e) {
      cutOff++;
      return null;
    } catch (IOException e) {
      throw new IOException("\"" + file + "\": " + e.getMessage(), e);
    }
  }

  @Override
  public void close() throws IOException {
    if (input != null) {
      input.close();
      input = null;
    }
  }
}
