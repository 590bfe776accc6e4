package dev.kakehashi.bulk.csv;

import dev.kakehashi.bulk.csv.CsvOptions.Compression;
import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.coding.Coding;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Bytes of a file from its beginning to its end, decompressed. Not thread-safe.
final class ByteSource implements AutoCloseable {
  private static final int COMPRESSED_BUFFER = 1 << 16;

  private final FileInput file;
  private final @Nullable InputStream decoded;
  private long position;

  /// @throws EngineException BAD_COPY_FILE_FORMAT when the file is not compressed so
  ByteSource(FileInput file, Compression compression) {
    this.file = file;
    Compression known =
        compression == Compression.AUTO ? Compression.ofName(file.name()) : compression;
    Coding coding = known.coding();
    if (coding == Coding.IDENTITY) {
      decoded = null;
      return;
    }
    try {
      // Decompressed bytes are bounded where they are held: a file that grows without end costs
      // time, which a cancel ends.
      decoded = coding.decode(new Raw(), Long.MAX_VALUE);
    } catch (IOException e) {
      throw broken(e);
    }
  }

  /// Fills a part of an array.
  ///
  /// @return bytes; fewer than wanted at the end alone
  /// @throws EngineException BAD_COPY_FILE_FORMAT, IO_ERROR
  int read(byte[] into, int from, int count) {
    if (decoded == null) {
      int got = (int) Math.min(count, file.sizeBytes() - position);
      if (got > 0) {
        file.read(position, MemorySegment.ofArray(into).asSlice(from, got));
        position += got;
      }
      return got;
    }
    try {
      return decoded.readNBytes(into, from, count);
    } catch (IOException e) {
      throw broken(e);
    }
  }

  private EngineException broken(IOException e) {
    return new EngineException(
        ErrorCode.BAD_COPY_FILE_FORMAT,
        "compressed file \"" + file.name() + "\" is broken: " + e.getMessage(),
        e);
  }

  /// Bytes of the file that were read.
  long position() {
    return position;
  }

  @Override
  public void close() {
    if (decoded != null) {
      try {
        decoded.close();
      } catch (IOException e) {
        throw broken(e);
      }
    }
  }

  /// The file as a stream.
  private final class Raw extends InputStream {
    private final byte[] buffer = new byte[COMPRESSED_BUFFER];
    private int at;
    private int end;

    private boolean fill() {
      if (at == end) {
        int got = (int) Math.min(buffer.length, file.sizeBytes() - position);
        if (got <= 0) {
          return false;
        }
        file.read(position, MemorySegment.ofArray(buffer).asSlice(0, got));
        position += got;
        at = 0;
        end = got;
      }
      return true;
    }

    @Override
    public int read() {
      return fill() ? buffer[at++] & 0xFF : -1;
    }

    @Override
    public int read(byte[] into, int from, int count) {
      if (count == 0) {
        return 0;
      }
      if (!fill()) {
        return -1;
      }
      int got = Math.min(count, end - at);
      System.arraycopy(buffer, at, into, from, got);
      at += got;
      return got;
    }

    /// How the reader of gzip knows that another member may follow.
    @Override
    public int available() {
      return (int) Math.min(Integer.MAX_VALUE, end - at + file.sizeBytes() - position);
    }
  }
}
