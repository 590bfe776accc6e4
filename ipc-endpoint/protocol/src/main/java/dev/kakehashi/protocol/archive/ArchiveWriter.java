package dev.kakehashi.protocol.archive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/// Appends records to an archive that never exceeds its limit: with the limit near, the oldest file goes.
///
/// Records are collected and written a few hundred kB at a time, or at [#flush()]; a kill of the process loses what has not been
/// written, never the form of what has. Thread-safe.
public final class ArchiveWriter implements AutoCloseable {
  /// An archive is kept in about this many files.
  private static final int FILES = 8;

  private static final int BUFFER_BYTES = 256 << 10;

  private final Path directory;
  private final long limitBytes;
  private final Supplier<List<ArchiveRecord>> preamble;
  private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
  private final ArrayDeque<Path> older = new ArrayDeque<>();
  private long olderBytes;
  private FileChannel channel;
  private Path file;
  private long fileBytes;

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
    for (Path path : ArchiveFormat.files(directory)) {
      older.add(path);
      olderBytes += Files.size(path);
    }
    long number = older.isEmpty() ? 1 : ArchiveFormat.number(older.getLast()) + 1;
    file = ArchiveFormat.file(directory, number);
    channel = begin();
  }

  private FileChannel begin() throws IOException {
    FileChannel opened =
        FileChannel.open(
            file,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    buffer.clear();
    buffer.order(ByteOrder.LITTLE_ENDIAN).putLong(ArchiveFormat.MAGIC);
    fileBytes = ArchiveFormat.HEADER_BYTES;
    return opened;
  }

  /// Appends one record.
  ///
  /// @throws IOException when the disk is full, for instance: the writer cannot be used any more
  public synchronized void append(ArchiveRecord record) throws IOException {
    ByteBuffer bytes = ArchiveFormat.encode(record);
    if (fileBytes + bytes.remaining() > limitBytes / FILES
        && fileBytes > ArchiveFormat.HEADER_BYTES) {
      roll();
    }
    put(bytes);
  }

  private void put(ByteBuffer bytes) throws IOException {
    fileBytes += bytes.remaining();
    if (bytes.remaining() > buffer.remaining()) {
      flush();
    }
    if (bytes.remaining() > buffer.remaining()) {
      write(bytes);
    } else {
      buffer.put(bytes);
    }
  }

  private void roll() throws IOException {
    flush();
    channel.close();
    older.add(file);
    olderBytes += fileBytes;
    // The new file may grow to its share before anybody looks again.
    while (!older.isEmpty() && olderBytes > limitBytes - limitBytes / FILES) {
      Path oldest = older.removeFirst();
      olderBytes -= Files.size(oldest);
      Files.delete(oldest);
    }
    file = ArchiveFormat.file(directory, ArchiveFormat.number(file) + 1);
    channel = begin();
    for (ArchiveRecord record : preamble.get()) {
      put(ArchiveFormat.encode(record));
    }
  }

  /// Hands everything to the operating system.
  public synchronized void flush() throws IOException {
    buffer.flip();
    write(buffer);
    buffer.clear();
  }

  private void write(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  @Override
  public synchronized void close() throws IOException {
    try (FileChannel closing = channel) {
      if (closing.isOpen()) {
        flush();
      }
    }
  }
}
