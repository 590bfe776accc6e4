package dev.kakehashi.protocol.archive;

import dev.kakehashi.protocol.file.RecordFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Supplier;

/// Appends records to an archive that never exceeds its limit: with the limit near, the oldest file goes.
///
/// Records are collected and written a few hundred kB at a time, or at [#flush()]; a kill of the process loses what has not been
/// written, never the form of what has. Thread-safe.
public final class ArchiveWriter implements AutoCloseable {
  /// An archive is kept in about this many files.
  private static final int FILES = 8;

  private final Path directory;
  private final long limitBytes;
  private final Supplier<List<ArchiveRecord>> preamble;
  private final ArrayDeque<Path> older = new ArrayDeque<>();
  private long olderBytes;
  private RecordFile file;
  private Path path;
  private boolean isEmpty = true;

  /// @param directory made if need be; files of earlier runs stay, within the limit
  /// @param limitBytes of all files together; at least 64 kB
  /// @param preamble what a reader has to know that begins with a new file; called under the lock of this writer
  public ArchiveWriter(Path directory, long limitBytes, Supplier<List<ArchiveRecord>> preamble)
      throws IOException {
    this.directory = directory;
    this.limitBytes = limitBytes;
    this.preamble = preamble;
    Files.createDirectories(
        directory,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    for (Path each : ArchiveFormat.files(directory)) {
      older.add(each);
      olderBytes += Files.size(each);
    }
    long number = older.isEmpty() ? 1 : ArchiveFormat.number(older.getLast()) + 1;
    path = ArchiveFormat.file(directory, number);
    file = RecordFile.create(path, ArchiveFormat.KIND);
  }

  /// Appends one record.
  ///
  /// @throws IOException when the disk is full, for instance: the writer cannot be used any more
  public synchronized void append(ArchiveRecord record) throws IOException {
    byte[] bytes = ArchiveFormat.encode(record);
    if (!isEmpty && file.bytes() + RecordFile.bytes(bytes) > limitBytes / FILES) {
      roll();
    }
    file.append(bytes);
    isEmpty = false;
  }

  private void roll() throws IOException {
    file.close();
    older.add(path);
    olderBytes += file.bytes();
    // The new file may grow to its share before anybody looks again.
    while (!older.isEmpty() && olderBytes > limitBytes - limitBytes / FILES) {
      Path oldest = older.removeFirst();
      olderBytes -= Files.size(oldest);
      Files.delete(oldest);
    }
    path = ArchiveFormat.file(directory, ArchiveFormat.number(path) + 1);
    file = RecordFile.create(path, ArchiveFormat.KIND);
    isEmpty = true;
    for (ArchiveRecord record : preamble.get()) {
      file.append(ArchiveFormat.encode(record));
      isEmpty = false;
    }
  }

  /// Hands everything to the operating system.
  public synchronized void flush() throws IOException {
    file.flush();
  }

  @Override
  public synchronized void close() throws IOException {
    file.close();
  }
}
