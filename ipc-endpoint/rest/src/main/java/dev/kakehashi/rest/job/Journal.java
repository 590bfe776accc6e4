package dev.kakehashi.rest.job;

import dev.kakehashi.protocol.file.RecordFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A file of records that is only appended to, and written anew when most of it is out of date. Thread-safe.
///
/// Records are gathered in memory; one thread writes and synchronises for all that wait. A write that has failed leaves the end of the file
/// unknown: the next one writes the whole file anew from what its user has in memory. The file is a [RecordFile].
///
/// Lock order: `disk` before the lock of the source, before `gathered`.
final class Journal implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Journal.class);

  /// Beyond what was live when it was written anew, the file grows by so many bytes at least.
  private static final long MIN_GROWTH_BYTES = 4L << 20;

  /// All that its user has in memory.
  ///
  /// @param upTo position of the journal that the records have; from [Journal#forget], under the lock under which records are appended
  record Live(List<byte[]> records, long upTo) {}

  private final Path file;
  private final Supplier<Live> live;

  private final ReentrantLock disk = new ReentrantLock();
  private @Nullable RecordFile out; // guarded by disk
  private boolean isClosed; // guarded by disk
  private long freshBytes; // guarded by disk: of the file when it was written anew
  private long writtenPosition; // guarded by disk
  private long forcedPosition; // guarded by disk

  /// Records that no file has.
  private final List<byte[]> gathered = new ArrayList<>(); // guarded by itself

  private long position; // guarded by gathered; counts records

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
    JournalFormat.KIND.requireFits(record);
    synchronized (gathered) {
      gathered.add(record);
      return ++position;
    }
  }

  /// Forgets what is gathered, because the live records have it.
  ///
  /// @return the position up to which they do
  long forget() {
    synchronized (gathered) {
      gathered.clear();
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
      RecordFile current = writeGathered();
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
  private @Nullable RecordFile writeGathered() throws IOException {
    RecordFile current = out;
    if (current == null || current.bytes() > 2 * freshBytes + MIN_GROWTH_BYTES) {
      rewrite();
      return null;
    }
    List<byte[]> records;
    long upTo;
    synchronized (gathered) {
      records = List.copyOf(gathered);
      gathered.clear();
      upTo = position;
    }
    try {
      for (byte[] record : records) {
        current.append(record);
      }
      current.flush();
    } catch (IOException e) {
      giveUp(e);
      throw e;
    }
    writtenPosition = upTo;
    return current;
  }

  private void sync(RecordFile current) throws IOException {
    try {
      current.force();
    } catch (IOException e) {
      // The system does not tell which bytes it has thrown away: nothing of the file is trusted
      // from now on.
      giveUp(e);
      throw e;
    }
  }

  private void giveUp(IOException why) {
    RecordFile current = out;
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
      Live now = live.get();
      // Records gathered since the live ones were taken are behind them.
      try {
        RecordFile next = RecordFile.replace(file, JournalFormat.KIND, now.records());
        giveUpQuietly();
        out = next;
        freshBytes = next.bytes();
        writtenPosition = Math.max(writtenPosition, now.upTo());
        forcedPosition = Math.max(forcedPosition, now.upTo());
      } catch (IOException e) {
        // Records that were forgotten for this file are in none: the next write writes all anew.
        giveUp(e);
        throw e;
      }
    } finally {
      disk.unlock();
    }
  }

  private void giveUpQuietly() {
    RecordFile before = out;
    out = null;
    if (before != null) {
      try {
        before.close();
      } catch (IOException e) {
        LOG.debug("the journal of before could not be closed", e);
      }
    }
  }

  /// Writes what is gathered. A second close does nothing.
  @Override
  public void close() throws IOException {
    disk.lock();
    try {
      if (isClosed) {
        return;
      }
      RecordFile current = writeGathered();
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
