package dev.kakehashi.rest.job;

import dev.kakehashi.protocol.Directories;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A file of records that is only appended to, and written anew when most of it is out of date. Thread-safe.
///
/// Records are gathered in memory; one thread writes and synchronises for all that wait. A write that has failed leaves the end of the file
/// unknown: the next one writes the whole file anew from what its user has in memory. Files are written by [RandomAccessFile], because an
/// interrupt would close a channel.
///
/// Lock order: `disk` before the lock of the source, before `gathered`.
final class Journal implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Journal.class);

  /// Beyond what was live when it was written anew, the file grows by so many bytes at least.
  private static final long MIN_GROWTH_BYTES = 4L << 20;

  private static final int CHUNK_BYTES = 1 << 16;

  /// All that its user has in memory.
  ///
  /// @param upTo position of the journal that the records have; from [Journal#forget], under the lock under which records are appended
  record Live(List<byte[]> records, long upTo) {}

  private final Path file;
  private final Supplier<Live> live;

  private final ReentrantLock disk = new ReentrantLock();
  private @Nullable RandomAccessFile out; // guarded by disk
  private boolean isClosed; // guarded by disk
  private long fileBytes; // guarded by disk
  private long freshBytes; // guarded by disk: of the file when it was written anew
  private long writtenPosition; // guarded by disk
  private long forcedPosition; // guarded by disk

  private final ByteArrayOutputStream gathered = new ByteArrayOutputStream(); // guarded by itself
  private long position; // guarded by gathered

  /// Nothing is on disk before [#rewrite].
  ///
  /// @param live called without other locks of this than `disk`
  Journal(Path file, Supplier<Live> live) {
    this.file = file;
    this.live = live;
  }

  /// Gathers a record.
  ///
  /// @return what [#force] takes
  long append(byte[] record) {
    byte[] framed = JournalFormat.frame(record);
    synchronized (gathered) {
      gathered.write(framed, 0, framed.length);
      position += framed.length;
      return position;
    }
  }

  /// Forgets what is gathered, because the live records have it.
  ///
  /// @return the position up to which they do
  long forget() {
    synchronized (gathered) {
      gathered.reset();
      return position;
    }
  }

  /// Returns when the record is durable. Not to be called under the lock of the source.
  void force(long upTo) throws IOException {
    disk.lock();
    try {
      if (forcedPosition >= upTo) {
        return;
      }
      RandomAccessFile current = writeGathered();
      if (current != null) {
        sync(current);
        forcedPosition = Math.max(forcedPosition, writtenPosition);
      }
    } finally {
      disk.unlock();
    }
  }

  /// Hands what is gathered to the operating system: it survives this process. Does nothing after the close.
  void write() throws IOException {
    disk.lock();
    try {
      if (!isClosed) {
        writeGathered();
      }
    } finally {
      disk.unlock();
    }
  }

  /// @return the file to synchronise; null: it has been written anew, and is durable
  private @Nullable RandomAccessFile writeGathered() throws IOException {
    RandomAccessFile current = out;
    if (current == null || fileBytes > 2 * freshBytes + MIN_GROWTH_BYTES) {
      rewrite();
      return null;
    }
    byte[] bytes;
    long upTo;
    synchronized (gathered) {
      bytes = gathered.toByteArray();
      gathered.reset();
      upTo = position;
    }
    try {
      current.write(bytes);
    } catch (IOException e) {
      giveUp(e);
      throw e;
    }
    fileBytes += bytes.length;
    writtenPosition = upTo;
    return current;
  }

  private void sync(RandomAccessFile current) throws IOException {
    try {
      current.getFD().sync();
    } catch (IOException e) {
      // The system does not tell which bytes it has thrown away: nothing of the file is trusted
      // from now on.
      giveUp(e);
      throw e;
    }
  }

  private void giveUp(IOException why) {
    RandomAccessFile current = out;
    out = null;
    if (current != null) {
      try {
        current.close();
      } catch (IOException e) {
        why.addSuppressed(e);
      }
    }
  }

  /// Writes the file anew from the live records; durable when this returns. The file of before stays if it fails.
  void rewrite() throws IOException {
    disk.lock();
    try {
      if (isClosed) {
        throw new IOException("the journal is closed");
      }
      Path fresh = file.resolveSibling(file.getFileName() + ".new");
      Live now = live.get();
      // Records gathered since the live ones were taken are behind them.
      RandomAccessFile next = null;
      try {
        next = new RandomAccessFile(fresh.toFile(), "rw");
        next.setLength(0);
        long bytes = writeAll(next, now.records());
        next.getFD().sync();
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
        Directories.force(parent());
        giveUpQuietly();
        out = next;
        fileBytes = bytes;
        freshBytes = bytes;
        writtenPosition = Math.max(writtenPosition, now.upTo());
        forcedPosition = Math.max(forcedPosition, now.upTo());
      } catch (IOException e) {
        // Records that were forgotten for this file are in none: the next write writes all anew.
        giveUp(e);
        close(next, e);
        throw e;
      }
    } finally {
      disk.unlock();
    }
  }

  private static long writeAll(RandomAccessFile next, List<byte[]> records) throws IOException {
    ByteArrayOutputStream chunk = new ByteArrayOutputStream(CHUNK_BYTES);
    byte[] magic = new byte[JournalFormat.HEADER_BYTES];
    ByteBuffer.wrap(magic).order(ByteOrder.LITTLE_ENDIAN).putLong(JournalFormat.MAGIC);
    chunk.writeBytes(magic);
    long bytes = magic.length;
    for (byte[] record : records) {
      byte[] framed = JournalFormat.frame(record);
      bytes += framed.length;
      chunk.writeBytes(framed);
      if (chunk.size() >= CHUNK_BYTES) {
        next.write(chunk.toByteArray());
        chunk.reset();
      }
    }
    next.write(chunk.toByteArray());
    return bytes;
  }

  private void giveUpQuietly() {
    RandomAccessFile before = out;
    out = null;
    if (before != null) {
      try {
        before.close();
      } catch (IOException e) {
        LOG.debug("the journal of before could not be closed", e);
      }
    }
  }

  private static void close(@Nullable RandomAccessFile file, IOException why) {
    if (file != null) {
      try {
        file.close();
      } catch (IOException e) {
        why.addSuppressed(e);
      }
    }
  }

  private Path parent() {
    Path parent = file.toAbsolutePath().getParent();
    return parent == null ? file.toAbsolutePath() : parent;
  }

  /// Writes what is gathered. A second close does nothing.
  @Override
  public void close() throws IOException {
    disk.lock();
    try {
      if (isClosed) {
        return;
      }
      RandomAccessFile current = writeGathered();
      if (current != null) {
        sync(current);
      }
    } finally {
      isClosed = true;
      giveUpQuietly();
      disk.unlock();
    }
  }
}
