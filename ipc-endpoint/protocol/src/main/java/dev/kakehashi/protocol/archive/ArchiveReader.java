package dev.kakehashi.protocol.archive;

import dev.kakehashi.protocol.file.RecordFileException;
import dev.kakehashi.protocol.file.RecordFileReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Reads an archive from its oldest record on. One thread.
public final class ArchiveReader implements AutoCloseable {
  private final ArrayDeque<Path> files;
  private @Nullable RecordFileReader input;
  private @Nullable OldArchiveFile old;
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
  /// @throws IOException when a file is not one of an archive, or is damaged before its last write
  public @Nullable ArchiveRecord next() throws IOException {
    while (true) {
      if (input == null && old == null && !open()) {
        return null;
      }
      try {
        byte[] record = read();
        if (record != null) {
          return ArchiveFormat.decode(record);
        }
      } catch (IOException e) {
        throw new IOException("\"" + file + "\": " + e.getMessage(), e);
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
    try {
      input = RecordFileReader.open(next, ArchiveFormat.KIND);
    } catch (RecordFileException e) {
      old = OldArchiveFile.open(next);
      if (old == null) {
        throw e;
      }
    }
    return true;
  }

  /// The next record of the file; null at its end.
  private byte @Nullable [] read() throws IOException {
    OldArchiveFile before = old;
    if (before != null) {
      byte[] record = before.next();
      cutOff += record == null && before.isCutOff() ? 1 : 0;
      return record;
    }
    RecordFileReader from = Objects.requireNonNull(input);
    byte[] record = from.next();
    if (record == null) {
      switch (from.end()) {
        case WHOLE -> {}
        case CUT_OFF -> cutOff++;
        case TORN, DAMAGED ->
            throw new IOException("checksum of a record is wrong, and there are others behind it");
      }
    }
    return record;
  }

  @Override
  public void close() throws IOException {
    if (input != null) {
      input.close();
      input = null;
    }
    if (old != null) {
      old.close();
      old = null;
    }
  }
}
