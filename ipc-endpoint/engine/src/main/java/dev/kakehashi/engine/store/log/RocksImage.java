package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.log.file.DiskErrors;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Checkpoint;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.SstFileReader;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import org.rocksdb.util.StdErrLogger;

/// The base image: the state of the store at some position of the log, in RocksDB's sorted files, whose checksums guard it.
///
/// It is written without RocksDB's own log: what has been applied survives a crash from the next [#flush()] on, and until then is in ours.
/// Each step is applied together with its position, and files are written in the order of the steps, so after a crash the image is the
/// state at the position that it names.
///
/// Sized to be small: the live data is in the store's pages, RocksDB is read at recovery only. So the block cache only serves compaction
/// and recovery, and the write buffers hold what was applied since the last flush to a sorted file.
final class RocksImage implements AutoCloseable {
  private static final long BLOCK_CACHE_BYTES = 4 << 20;
  private static final long WRITE_BUFFER_BYTES = 16 << 20;
  private static final long INFO_LOG_BYTES = 1 << 20;
  private static final int BATCH_HEADER_BYTES = 12;

  /// Names the file that lists all others.
  private static final String CURRENT_FILE = "CURRENT";

  /// Written at once: the heap has it twice, and RocksDB once more.
  private static final int PIECE_BYTES = 16 << 20;

  private final LRUCache cache;
  private final Options options;
  private final WriteOptions unlogged;
  private final FlushOptions flushed;
  private final RocksDB database;
  private final Path directory;

  private interface Opener {
    RocksDB open(Options options, String directory) throws RocksDBException;
  }

  /// Whether a directory has an image, or a part of one without which RocksDB would make a new one in its place.
  ///
  /// @throws EngineException DATA_CORRUPTED if it is a part
  static boolean isThere(Path directory) {
    if (Files.exists(directory.resolve(CURRENT_FILE))) {
      return true;
    }
    try {
      if (Files.exists(directory) && !sortedFiles(directory).isEmpty()) {
        throw LogReader.corrupted(
            "base image \"%s\" has no file \"%s\"".formatted(directory, CURRENT_FILE));
      }
    } catch (IOException e) {
      throw SegmentedLog.failure("could not open store in \"" + directory + "\"", e);
    }
    return false;
  }

  /// Opens an image, or makes one.
  ///
  /// @throws EngineException DATA_CORRUPTED if a checksum does not hold or a file is missing, CANNOT_CONNECT if another process has it open
  static RocksImage open(Path directory) {
    return new RocksImage(directory, RocksDB::open);
  }

  /// Opens an image that is there and changes nothing in its directory. The caller sees to it that nobody else does.
  ///
  /// @throws EngineException DATA_CORRUPTED if a checksum does not hold or a file is missing
  static RocksImage openReadOnly(Path directory) {
    return new RocksImage(
        directory,
        (options, name) -> {
          // RocksDB's own log of events would be a file in the directory.
          try (StdErrLogger fatal = new StdErrLogger(InfoLogLevel.FATAL_LEVEL)) {
            options.setCreateIfMissing(false).setLogger(fatal);
            return RocksDB.openReadOnly(options, name);
          }
        });
  }

  private RocksImage(Path directory, Opener opener) {
    RocksLibrary.load();
    this.directory = directory;
    cache = new LRUCache(BLOCK_CACHE_BYTES);
    options =
        new Options()
            .setCreateIfMissing(true)
            .setParanoidChecks(true)
            .setWriteBufferSize(WRITE_BUFFER_BYTES)
            .setMaxWriteBufferNumber(3)
            .setMaxBackgroundJobs(2)
            .setMaxOpenFiles(256)
            .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
            .setMaxLogFileSize(INFO_LOG_BYTES)
            .setKeepLogFileNum(2)
            .setStatsDumpPeriodSec(0)
            .setStatsPersistPeriodSec(0)
            .setCompressionType(CompressionType.LZ4_COMPRESSION)
            .setLevelCompactionDynamicLevelBytes(true)
            .setBytesPerSync(1 << 20)
            .setTableFormatConfig(
                new BlockBasedTableConfig()
                    .setBlockCache(cache)
                    .setBlockSize(16 << 10)
                    .setFormatVersion(5));
    unlogged = new WriteOptions().setDisableWAL(true);
    flushed = new FlushOptions().setWaitForFlush(true);
    try {
      database = opener.open(options, directory.toString());
    } catch (RocksDBException e) {
      unlogged.close();
      flushed.close();
      options.close();
      cache.close();
      throw failure("could not open store in \"" + directory + "\"", e);
    }
  }

  Path directory() {
    return directory;
  }

  /// Applies the records in order and then `position`, all of them or none. Long records are applied in pieces, `position` with the last.
  /// Until that is there the log has all of them, from the position before, and applying changes again does no harm.
  ///
  /// @throws EngineException DISK_FULL, IO_ERROR or INTERNAL_ERROR; the same records may be tried again
  ///
  /// @param position empty: it stays as it is
  /// @param files that records may name
  void apply(List<LogRecord> records, LogRecord position, SideFiles files) {
    long bytes = (long) BATCH_HEADER_BYTES + position.length();
    int count = position.count();
    boolean named = false;
    for (LogRecord record : records) {
      bytes += record.imageBytes();
      count += record.imageCount();
      named |= record.namesFiles();
    }
    if (named || bytes > PIECE_BYTES) {
      records.forEach(record -> applyPieces(record, files));
      apply(List.of(), position, files);
      return;
    }
    byte[] batch = new byte[Math.toIntExact(bytes)];
    ByteBuffer.wrap(batch).order(ByteOrder.LITTLE_ENDIAN).putInt(8, count);
    int at = BATCH_HEADER_BYTES;
    for (LogRecord record : records) {
      record.copyForImage(batch, at);
      at += record.imageBytes();
    }
    System.arraycopy(position.bytes(), 0, batch, at, position.length());
    write(batch);
  }

  private void applyFile(SideFile file, SideFiles files) {
    try {
      files.read(file, (at, changes) -> applyPieces(changes, files));
    } catch (IOException e) {
      throw SegmentedLog.failure("could not read a file of the store's log", e);
    }
  }

  private void applyPieces(LogRecord record, SideFiles files) {
    record.forEachPiece(
        PIECE_BYTES,
        new LogRecord.Pieces() {
          @Override
          public void changes(int from, int length, int count) {
            byte[] batch = new byte[BATCH_HEADER_BYTES + length];
            ByteBuffer.wrap(batch).order(ByteOrder.LITTLE_ENDIAN).putInt(8, count);
            System.arraycopy(record.bytes(), from, batch, BATCH_HEADER_BYTES, length);
            write(batch);
          }

          @Override
          public void longPut(int key, int keyLength, int value, int valueLength) {
            byte[] bytes = record.bytes();
            try {
              database.put(unlogged, bytes, key, keyLength, bytes, value, valueLength);
            } catch (RocksDBException e) {
              throw failure("could not write to the store's base image", e);
            }
          }

          @Override
          public void sideFile(SideFile file) {
            applyFile(file, files);
          }
        });
  }

  private void write(byte[] batch) {
    try (WriteBatch writes = new WriteBatch(batch)) {
      database.write(unlogged, writes);
    } catch (RocksDBException e) {
      throw failure("could not write to the store's base image", e);
    }
  }

  /// Returns when all that was applied survives power loss.
  ///
  /// @throws EngineException DISK_FULL, IO_ERROR or INTERNAL_ERROR
  void flush() {
    try {
      database.flush(flushed);
    } catch (RocksDBException e) {
      throw failure("could not write to the store's base image", e);
    }
  }

  /// Makes a directory with the image as it is now: its sorted files by another name, the rest copied.
  ///
  /// @throws EngineException DISK_FULL, IO_ERROR or INTERNAL_ERROR
  void checkpoint(Path target) {
    flush();
    try (Checkpoint checkpoint = Checkpoint.create(database)) {
      checkpoint.createCheckpoint(target.toString());
    } catch (RocksDBException e) {
      throw failure("could not copy the store's base image", e);
    }
  }

  /// @throws EngineException DATA_CORRUPTED
  Optional<byte[]> get(byte[] key) {
    try {
      return Optional.ofNullable(database.get(key));
    } catch (RocksDBException e) {
      throw failure("could not read the store", e);
    }
  }

  /// See [DurableLog#read].
  void read(byte[] from, byte[] to, DurableLog.EntryVisitor visitor) {
    try (Slice upper = new Slice(to);
        ReadOptions reads =
            new ReadOptions()
                .setIterateUpperBound(upper)
                .setVerifyChecksums(true)
                .setFillCache(false)
                .setReadaheadSize(2 << 20);
        RocksIterator iterator = database.newIterator(reads)) {
      iterator.seek(from);
      try (RocksEntries entries = new RocksEntries(iterator)) {
        for (; entries.isValid(); entries.next()) {
          visitor.entry(entries.key(), entries.value());
        }
      }
      iterator.status();
    } catch (RocksDBException e) {
      throw failure("could not read the store", e);
    }
  }

  /// See [DurableLog#lastKey].
  Optional<byte[]> lastKey(byte[] from, byte[] to) {
    try (Slice lower = new Slice(from);
        ReadOptions reads = new ReadOptions().setIterateLowerBound(lower).setFillCache(false);
        RocksIterator iterator = database.newIterator(reads)) {
      iterator.seekForPrev(to);
      if (iterator.isValid() && Arrays.equals(iterator.key(), to)) {
        iterator.prev();
      }
      iterator.status();
      return iterator.isValid() ? Optional.of(iterator.key()) : Optional.empty();
    } catch (RocksDBException e) {
      throw failure("could not read the store", e);
    }
  }

  /// Looks at every block of every sorted file of an image, one after another. Files that a kill has left unfinished, or that were replaced
  /// and not yet deleted, are not the image's, unless it cannot be opened: then nobody knows.
  ///
  /// @return what is wrong, by file; empty if all checksums hold
  /// @throws EngineException DATA_CORRUPTED if there is no image
  static Map<Path, String> verifyFiles(Path directory) throws IOException {
    if (!isThere(directory)) {
      throw LogReader.corrupted("base image \"%s\" is missing".formatted(directory));
    }
    List<Path> files;
    try (RocksImage image = openReadOnly(directory)) {
      files = image.files();
    } catch (EngineException e) {
      // The next opening of the image reports this error; here it is found out which file it is.
      files = sortedFiles(directory);
    }
    Map<Path, String> problems = new TreeMap<>();
    for (Path file : files) {
      try (Options options = new Options();
          SstFileReader reader = new SstFileReader(options)) {
        reader.open(file.toString());
        reader.verifyChecksum();
      } catch (RocksDBException e) {
        problems.put(file, String.valueOf(e.getMessage()));
      }
    }
    return problems;
  }

  /// The sorted files that the image consists of.
  List<Path> files() {
    return database.getLiveFilesMetaData().stream()
        .map(file -> Path.of(file.path() + file.fileName()))
        .sorted()
        .toList();
  }

  private static List<Path> sortedFiles(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(".sst")).sorted().toList();
    }
  }

  @Override
  public void close() {
    database.close();
    unlogged.close();
    flushed.close();
    options.close();
    cache.close();
  }

  private static EngineException failure(String what, RocksDBException e) {
    Status status = e.getStatus();
    Status.Code code = status == null ? Status.Code.Undefined : status.getCode();
    String reason = String.valueOf(e.getMessage());
    // A file that a list of files names, and that is not there.
    boolean missing = reason.contains("No such file or directory");
    if (code == Status.Code.Corruption || missing) {
      return new EngineException(ErrorCode.DATA_CORRUPTED, what + ": " + reason, e)
          .withHint("Restore the data directory from a backup.");
    }
    ErrorCode disk =
        status != null && status.getSubCode() == Status.SubCode.NoSpace
            ? ErrorCode.DISK_FULL
            : DiskErrors.code(reason);
    if (disk == ErrorCode.INTERNAL_ERROR
        && (reason.contains("lock hold by") || reason.contains("While lock file"))) {
      return new EngineException(ErrorCode.CANNOT_CONNECT, what + ": it is in use: " + reason, e);
    }
    // Whatever the system has said of the file: read-only, stale, gone with its disk.
    boolean io = disk == ErrorCode.INTERNAL_ERROR && code == Status.Code.IOError;
    return new EngineException(io ? ErrorCode.IO_ERROR : disk, what + ": " + reason, e);
  }
}
