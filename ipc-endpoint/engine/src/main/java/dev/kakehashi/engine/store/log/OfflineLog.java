package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.store.log.file.LogFile;
import dev.kakehashi.engine.store.memory.NativeInput;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Log and base image of a directory that nobody has open, as one map, without a change of any file: what the log has beyond the image lies
/// over it in memory. Thread-safe once it is open.
public final class OfflineLog implements DurableLog {
  /// Changes that lie over the base image, and over older layers, of it. Thread-safe once the log is open.
  interface Layer {
    /// A change of one key.
    ///
    /// @param value null: deleted
    record Change(byte[] key, byte @Nullable [] value) {}

    /// Goes over changes in the order of their keys. Confined to one thread.
    interface Cursor {
      /// The change; null at the end.
      @Nullable Change change();

      void advance();
    }

    /// The changes of keys `[from, to)`, without deleted ranges.
    Cursor changes(byte[] from, byte[] to);

    /// The change of a key; null: there is none.
    @Nullable Change find(byte[] key);

    /// The greatest key in `[from, to)` that has a change; null: there is none.
    byte @Nullable [] lastKey(byte[] from, byte[] to);

    /// Beginning of the deleted range that a key of a lower layer lies in; null: it lies in none.
    byte @Nullable [] deletedFrom(byte[] key);
  }

  private final RocksImage image;

  /// Layers of the log beyond the image; each lies over those before it.
  private final List<Layer> layers = new ArrayList<>();

  private final Extent extent;
  private final @Nullable QueueSystem queues;

  /// Extent of the log that was read.
  ///
  /// @param segments files
  /// @param groups flushes that the image lacks
  /// @param bytes of their changes
  /// @param cutOff a write at the end that is not whole; empty: there is none
  public record Extent(int segments, long groups, long bytes, String cutOff) {}

  private OfflineLog(RocksImage image, Path directory, @Nullable QueueSystem queues)
      throws IOException {
    this.image = image;
    this.queues = queues;
    Optional<SegmentedLog.Position> position = SegmentedLog.position(image);
    if (position.isEmpty()) {
      SegmentedLog.refuseLostImage(directory, image.directory());
      extent = new Extent(0, 0, 0, "");
      return;
    }
    LogFormat format = position.get().format();
    List<Long> numbers = LogSegments.list(directory);
    LogSegments segments = new LogSegments(directory, format, LogFile::openReadOnly, numbers);
    SideFiles files = new SideFiles(directory, format.logId(), LogFile::openReadOnly);
    long[] read = new long[2];
    long start = position.get().end();
    LogReader reader = new LogReader(format, segments, LogFile::openReadOnly);
    reader.requireReached(start);
    long end =
        reader.replay(
            start,
            (group, groupEnd) -> {
              read[0]++;
              read[1] += group.length();
              lay(group, files);
              if (queues != null) {
                group.sideFiles();
                group.forEachQueueChange(queues::replay);
              }
            });
    LogEnd.require(LogEnd.read(directory), segments, format, end);
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
    return open(logDirectory, imageDirectory, null);
  }

  /// The same, with queues, which get what they may lack, and are closed with it; null: changes of queues are left out. They are closed
  /// also if it cannot be opened.
  public static OfflineLog open(
      Path logDirectory, Path imageDirectory, @Nullable QueueSystem queues) {
    RocksImage image = RocksImage.openReadOnly(imageDirectory);
    boolean opened = false;
    try {
      OfflineLog log = new OfflineLog(image, logDirectory, queues);
      opened = true;
      return log;
    } catch (IOException e) {
      throw SegmentedLog.failure("could not read the store's log in \"" + logDirectory + "\"", e);
    } finally {
      if (!opened) {
        try (image) {
          if (queues != null) {
            queues.close();
          }
        }
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

  private void lay(LogRecord group, SideFiles files) {
    try {
      group.forEach(
          new LogRecord.Changes() {
            @Override
            public void put(byte[] key, byte[] value) {
              if (SideFile.isName(key, 0, key.length)) {
                lay(SideFile.of(value, 0, value.length), files);
              } else if (!LogRecord.isQueue(key, 0, key.length)) {
                top().put(key, value);
              }
            }

            @Override
            public void delete(byte[] key) {
              top().delete(key);
            }

            @Override
            public void deleteRange(byte[] from, byte[] to) {
              top().deleteRange(from, to);
            }
          });
    } catch (IllegalArgumentException e) {
      throw LogReader.corrupted("a group of the log cannot be read: " + e.getMessage());
    }
  }

  private void lay(SideFile file, SideFiles files) {
    try {
      layers.add(new OfflineFile(files, file));
    } catch (IOException e) {
      throw SegmentedLog.failure("could not read a file of the store's log", e);
    }
  }

  private OfflineChanges top() {
    if (!layers.isEmpty() && layers.getLast() instanceof OfflineChanges changes) {
      return changes;
    }
    OfflineChanges changes = new OfflineChanges();
    layers.add(changes);
    return changes;
  }

  /// Whether a layer above a number of layers has deleted a range with the key.
  private boolean isDeletedAbove(int layer, byte[] key) {
    for (int i = layer; i < layers.size(); i++) {
      if (layers.get(i).deletedFrom(key) != null) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void write(List<LogRecord> records) {
    throw new EngineException(
        ErrorCode.INTERNAL_ERROR, "a store that is being checked is not changed");
  }

  @Override
  public void read(byte[] from, byte[] to, EntryVisitor visitor) {
    Merge merge = new Merge(from, to, visitor);
    image.read(from, to, merge::ofImage);
    merge.rest();
  }

  /// Entries of the image and of what lies over it, in order.
  private final class Merge {
    private final List<Layer.Cursor> above = new ArrayList<>();
    private final EntryVisitor visitor;

    /// The least change of all layers, of the highest that has the key, and the number of layers up to that; null at the end.
    private Layer.@Nullable Change next;

    private int layersOfNext;
    private ByteBuffer direct = ByteBuffer.allocateDirect(4096);
    private final NativeInput keyInput = new NativeInput();
    private final NativeInput valueInput = new NativeInput();

    Merge(byte[] from, byte[] to, EntryVisitor visitor) {
      this.visitor = visitor;
      layers.forEach(layer -> above.add(layer.changes(from, to)));
      find();
    }

    private void find() {
      next = null;
      for (int i = 0; i < above.size(); i++) {
        Layer.Change change = above.get(i).change();
        if (change != null
            && (next == null || Arrays.compareUnsigned(change.key(), next.key()) <= 0)) {
          next = change;
          layersOfNext = i + 1;
        }
      }
    }

    private void advance() {
      byte[] key = Objects.requireNonNull(next).key();
      for (Layer.Cursor cursor : above) {
        Layer.Change change = cursor.change();
        if (change != null && Arrays.equals(change.key(), key)) {
          cursor.advance();
        }
      }
      find();
    }

    void ofImage(NativeInput key, NativeInput value) {
      byte[] bytes = key.toArray();
      int order = orderOfNext(bytes);
      while (order < 0) {
        deliver(Objects.requireNonNull(next));
        advance();
        order = orderOfNext(bytes);
      }
      if (order == 0) {
        deliver(Objects.requireNonNull(next));
        advance();
      } else if (!isDeletedAbove(0, bytes)) {
        visitor.entry(key, value);
      }
    }

    private int orderOfNext(byte[] key) {
      return next == null ? 1 : Arrays.compareUnsigned(next.key(), key);
    }

    void rest() {
      while (next != null) {
        deliver(next);
        advance();
      }
    }

    private void deliver(Layer.Change change) {
      byte[] key = change.key();
      byte[] value = change.value();
      if (value == null || isDeletedAbove(layersOfNext, key)) {
        return;
      }
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
    byte[] end = to;
    while (Arrays.compareUnsigned(from, end) < 0) {
      byte[] last = image.lastKey(from, end).orElse(null);
      int top = 0;
      for (int i = 0; i < layers.size(); i++) {
        byte[] found = layers.get(i).lastKey(from, end);
        if (found != null && (last == null || Arrays.compareUnsigned(found, last) >= 0)) {
          last = found;
          top = i + 1;
        }
      }
      if (last == null) {
        return Optional.empty();
      }
      Layer.Change change = top == 0 ? null : layers.get(top - 1).find(last);
      boolean deleted = change != null && change.value() == null;
      end = last;
      for (int i = top; i < layers.size(); i++) {
        byte[] start = layers.get(i).deletedFrom(last);
        deleted |= start != null;
        if (start != null && !hasAnyFrom(i, start, end)) {
          end = start;
        }
      }
      if (!deleted) {
        return Optional.of(last);
      }
    }
    return Optional.empty();
  }

  /// Whether a layer, or one above it, changes a key in `[from, to)`.
  private boolean hasAnyFrom(int layer, byte[] from, byte[] to) {
    for (int i = layer; i < layers.size(); i++) {
      if (layers.get(i).lastKey(from, to) != null) {
        return true;
      }
    }
    return false;
  }

  @Override
  public @Nullable QueueSystem queues() {
    return queues;
  }

  @Override
  public void close() {
    try (image) {
      if (queues != null) {
        queues.close();
      }
    }
  }
}
