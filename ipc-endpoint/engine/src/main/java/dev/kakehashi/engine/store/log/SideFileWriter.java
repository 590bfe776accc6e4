package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.store.log.file.LogFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/// Writes a [SideFile]. Used by one thread, which closes it; a file that was not finished is gone then.
public final class SideFileWriter implements AutoCloseable {
  /// Bytes of a piece, unless one change is longer.
  public static final int PIECE_BYTES = 1 << 20;

  private final SideFiles files;
  private final Path path;
  private final long number;
  private final LogFile file;
  private long at;
  private long changes;
  private int checksum;
  private boolean finished;

  SideFileWriter(SideFiles files, LogFile.Opener opener, long logId, long number)
      throws IOException {
    this.files = files;
    this.number = number;
    this.path = files.path(number);
    this.file = opener.open(path);
    ByteBuffer header = SideFile.header(logId, number);
    checksum = header.getInt(SideFile.HEADER_BYTES - Integer.BYTES);
    boolean written = false;
    try {
      write(header);
      written = true;
    } finally {
      if (!written) {
        close();
      }
    }
  }

  /// Writes the changes of a record, behind all before, and empties it.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, IO_ERROR
  public void append(LogRecord piece) {
    if (piece.length() == 0) {
      return;
    }
    ByteBuffer header =
        SideFile.pieceHeader(checksum, piece.bytes(), piece.length(), piece.count());
    int next = header.getInt(0);
    try {
      write(header);
      write(ByteBuffer.wrap(piece.bytes(), 0, piece.length()));
    } catch (IOException e) {
      throw SegmentedLog.failure("could not write to \"" + path + "\"", e);
    }
    checksum = next;
    changes += piece.count();
    piece.clear();
  }

  private void write(ByteBuffer bytes) throws IOException {
    int count = bytes.remaining();
    file.write(bytes, at);
    at += count;
  }

  /// Returns when the file survives power loss; lets a record name it.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DISK_FULL, IO_ERROR
  public void finish(LogRecord name) {
    try {
      file.force();
      files.force();
    } catch (IOException e) {
      throw SegmentedLog.failure("could not write to \"" + path + "\"", e);
    }
    name.name(new SideFile(number, at, changes, checksum));
    finished = true;
  }

  @Override
  public void close() {
    try {
      file.close();
      if (!finished) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      // The file that is left is swept when the log is opened again.
      SideFiles.LOG.warn("could not remove \"{}\"", path, e);
    }
  }
}
