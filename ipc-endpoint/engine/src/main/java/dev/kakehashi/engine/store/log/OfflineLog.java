package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.store.memory.NativeInput;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Log and base image of a directory that nobody has open, as one map, without a change of any file: what the log has beyond the image lies over it in
/// memory. Thread-safe once it is open.
public final class OfflineLog implements DurableLog {
  private final RocksImage image;
  private final TreeMap<byte[], Entry> overlay = new TreeMap<>(Arrays::compareUnsigned);

  /// Ranges of the image that the log has deleted; none touches another.
  private final TreeMap<byte[], byte[]> deletedRanges = new TreeMap<>(Arrays::compareUnsigned);

  private final Extent extent;

  /// @param value null: deleted
  private record Entry(byte @Nullable [] value) {}

  /// What of the log was read.
  ///
  /// @param segments files
  /// @param groups flushes that the image lacks
  /// @param bytes of their changes
  /// @param cutOff a write at the end that is not whole; empty: there is none
  public record Extent(int segments, long groups, long bytes, String cutOff) {}

  private OfflineLog(RocksImage image, Path directory) throws IOException {
    this.image = image;
    Optional<SegmentedLog.Position> position = SegmentedLog.position(image);
    if (position.isEmpty()) {
      SegmentedLog.refuseLostImage(directory, image.directory());
      extent = new Extent(0, 0, 0, "");
      return;
    }
    LogFormat format = position.get().format();
    List<Long> numbers = LogSegments.list(directory);
    LogSegments segments = new LogSegments(directory, format, LogFile::openReadOnly, numbers);
    long[] read = new long[2];
    long start = position.get().end();
    LogReader reader = new LogReader(format, segments, LogFile::openReadOnly);
    long end =
        reader.replay(
            start,
            (group, groupEnd) -> {
              read[0]++;
              read[1] += group.length();
              lay(group);
            });
    extent =
        new Extent(
            (int) (format.segment(end) - format.segment(start) + 1),
            read[0],
            read[1],
            reader.isCutOff() ? segments.describeCutOff(end) : "");
  }

  /// Opens log and image of a directory; all of the log that the image lacks is read and its checksums hold.
  ///
  /// @throws EngineException DATA_CORRUPTED if a checksum does not hold or a file is missing
  public static OfflineLog open(Path logDirectory, Path imageDirectory) {
    RocksImage image = RocksImage.openReadOnly(imageDirectory);
    boolean opened = false;
    try {
      OfflineLog log = new OfflineLog(image, logDirectory);
      opened = true;
      return log;
    } catch (IOException e) {
      throw SegmentedLog.failure("could not read the store's log in \"" + logDirectory + "\"", e);
    } finally {
      if (!opened) {
        image.close();
      }
    }
  }

  /// Verifies every sorted file of a base image.
  ///
  /// @return what is wrong, by file
  public static Map<Path, String> verifyImage(Path imageDirectory) throws IOException {
    return RocksImage.verifyFiles(imageDirectory);
  }

  /// Number of sorted files of the base image.
  public int imageFiles() {
    return image.files().size();
  }

  public Extent extent() {
    return extent;
  }

  private void lay(LogRecord group) {
    try {
      group.forEach(
          new LogRecord.Changes() {
            @Override
            public void put(byte[] key, byte[] value) {
              overlay.put(key, new Entry(value));
            }

            @Override
            public void delete(byte[] key) {
              overlay.put(key, new Entry(null));
            }

            @Override
            public void deleteRange(byte[] from, byte[] to) {
              overlay.subMap(from, to).clear();
              addRange(from, to);
            }
          });
    } catch (IllegalArgumentException e) {
      throw LogReader.corrupted("a group of the log cannot be read: " + e.getMessage());
    }
  }

  private void addRange(byte[] from, byte[] to) {
    byte[] start = from;
    byte[] end = to;
    Map.Entry<byte[], byte[]> before = deletedRanges.floorEntry(from);
    if (before != null && Arrays.compareUnsigned(before.getValue(), from) >= 0) {
      start = before.getKey();
    }
    Map.Entry<byte[], byte[]> last = deletedRanges.floorEntry(to);
    if (last != null && Arrays.compareUnsigned(last.getValue(), to) > 0) {
      end = last.getValue();
    }
    deletedRanges.subMap(start, true, to, true).clear();
    deletedRanges.put(start, end);
  }

  private boolean isDeleted(byte[] key) {
    Map.Entry<byte[], byte[]> range = deletedRanges.floorEntry(key);
    return range != null && Arrays.compareUnsigned(key, range.getValue()) < 0;
  }

  @Override
  public void write(List<LogRecord> records) {
    throw new EngineException(
        ErrorCode.INTERNAL_ERROR, "a store that is being checked is not changed");
  }

  @Override
  public void read(byte[] from, byte[] to, EntryVisitor visitor) {
    Merge merge = new Merge(overlay.subMap(from, to).entrySet().iterator(), visitor);
    image.read(from, to, merge::ofImage);
    merge.rest();
  }

  /// Entries of the image and of what lies over it, in order.
  private final class Merge {
    private final Iterator<Map.Entry<byte[], Entry>> above;
    private final EntryVisitor visitor;
    private Map.@Nullable Entry<byte[], Entry> next;
    private ByteBuffer direct = ByteBuffer.allocateDirect(4096);
    private final NativeInput keyInput = new NativeInput();
    private final NativeInput valueInput = new NativeInput();

    Merge(Iterator<Map.Entry<byte[], Entry>> above, EntryVisitor visitor) {
      this.above = above;
      this.visitor = visitor;
      advance();
    }

    private void advance() {
      next = above.hasNext() ? above.next() : null;
    }

    void ofImage(NativeInput key, NativeInput value) {
      byte[] bytes = key.toArray();
      int order = next == null ? 1 : Arrays.compareUnsigned(next.getKey(), bytes);
      while (next != null && order < 0) {
        deliver(next);
        advance();
        order = next == null ? 1 : Arrays.compareUnsigned(next.getKey(), bytes);
      }
      if (next != null && order == 0) {
        deliver(next);
        advance();
      } else if (!isDeleted(bytes)) {
        visitor.entry(key, value);
      }
    }

    void rest() {
      while (next != null) {
        deliver(next);
        advance();
      }
    }

    private void deliver(Map.Entry<byte[], Entry> entry) {
      byte[] value = entry.getValue().value();
      if (value == null) {
        return;
      }
      byte[] key = entry.getKey();
      if (direct.capacity() < key.length + value.length) {
        direct = ByteBuffer.allocateDirect(2 * (key.length + value.length));
      }
      direct.clear().put(key).put(value);
      long address = MemorySegment.ofBuffer(direct.rewind()).address();
      keyInput.set(address, key.length);
      valueInput.set(address + key.length, value.length);
      try {
        visitor.entry(keyInput, valueInput);
      } finally {
        Reference.reachabilityFence(direct);
      }
    }
  }

  @Override
  public Optional<byte[]> lastKey(byte[] from, byte[] to) {
    byte[] last = new byte[0];
    for (Map.Entry<byte[], Entry> entry :
        overlay.subMap(from, true, to, false).descendingMap().entrySet()) {
      if (entry.getValue().value() != null) {
        last = entry.getKey();
        break;
      }
    }
    byte[] end = to;
    while (true) {
      Optional<byte[]> found = image.lastKey(from, end);
      if (found.isEmpty() || Arrays.compareUnsigned(found.get(), last) <= 0) {
        return last.length == 0 ? Optional.empty() : Optional.of(last);
      }
      byte[] key = found.get();
      if (!overlay.containsKey(key) && !isDeleted(key)) {
        return found;
      }
      Map.Entry<byte[], byte[]> range = deletedRanges.floorEntry(key);
      end = range != null && isDeleted(key) ? range.getKey() : key;
      if (Arrays.compareUnsigned(end, from) <= 0) {
        return last.length == 0 ? Optional.empty() : Optional.of(last);
      }
    }
  }

  @Override
  public void close() {
    image.close();
  }
}
