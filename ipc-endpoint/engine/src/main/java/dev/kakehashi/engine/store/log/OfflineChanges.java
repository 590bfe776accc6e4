package dev.kakehashi.engine.store.log;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A layer of changes in memory.
final class OfflineChanges implements OfflineLog.Layer, LogRecord.Changes {
  private final TreeMap<byte[], Change> changes = new TreeMap<>(Arrays::compareUnsigned);

  /// Ranges of lower layers that are deleted; none touches another.
  private final TreeMap<byte[], byte[]> deletedRanges = new TreeMap<>(Arrays::compareUnsigned);

  boolean isEmpty() {
    return changes.isEmpty() && deletedRanges.isEmpty();
  }

  @Override
  public void put(byte[] key, byte[] value) {
    changes.put(key, new Change(key, value));
  }

  @Override
  public void delete(byte[] key) {
    changes.put(key, new Change(key, null));
  }

  @Override
  public void deleteRange(byte[] from, byte[] to) {
    changes.subMap(from, to).clear();
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

  @Override
  public Cursor changes(byte[] from, byte[] to) {
    Iterator<Change> found = changes.subMap(from, to).values().iterator();
    return new Cursor() {
      private @Nullable Change next = found.hasNext() ? found.next() : null;

      @Override
      public @Nullable Change change() {
        return next;
      }

      @Override
      public void advance() {
        next = found.hasNext() ? found.next() : null;
      }
    };
  }

  @Override
  public @Nullable Change find(byte[] key) {
    return changes.get(key);
  }

  @Override
  public byte @Nullable [] lastKey(byte[] from, byte[] to) {
    byte[] last = changes.lowerKey(to);
    return last == null || Arrays.compareUnsigned(last, from) < 0 ? null : last;
  }

  @Override
  public byte @Nullable [] deletedFrom(byte[] key) {
    Map.Entry<byte[], byte[]> range = deletedRanges.floorEntry(key);
    return range != null && Arrays.compareUnsigned(key, range.getValue()) < 0
        ? range.getKey()
        : null;
  }
}
