package dev.kakehashi.engine.store.version;

import dev.kakehashi.engine.store.index.KeyBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads of a serializable transaction: tables as a whole, or ranges of their indexes. Thread-safe: cursors on several threads add to it.
///
/// Validation asks for each row that others have committed since the snapshot whether its version before or after lies in what was read
/// ("precision locking", Jordan, Banerjee, Batman 1981; as in HyPer). So there are no false negatives, and false positives only through
/// filters that the store does not know.
public final class ReadSet {
  /// More ranges than this on one table count as the whole table.
  static final int MAX_RANGES = 4096;

  /// Encoded entries `[from, to)` of an index; an absent bound is null.
  public record Range(long indexId, byte[] from, byte @Nullable [] to) {
    /// The entries of one key.
    public static Range of(long indexId, byte[] key, int length) {
      byte[] from = Arrays.copyOf(key, length);
      int last = length;
      while (last > 0 && from[last - 1] == (byte) 0xff) {
        last--;
      }
      if (last == 0) {
        return new Range(indexId, from, null);
      }
      byte[] to = Arrays.copyOf(from, last);
      to[last - 1]++;
      return new Range(indexId, from, to);
    }

    boolean contains(KeyBuffer key) {
      return Arrays.compareUnsigned(key.bytes, 0, key.length, from, 0, from.length) >= 0
          && (to == null || Arrays.compareUnsigned(key.bytes, 0, key.length, to, 0, to.length) < 0);
    }
  }

  private final Set<Long> tables = new HashSet<>();
  private final Map<Long, List<Range>> ranges = new HashMap<>();

  /// Read set of which this is a part; null: it is no part.
  private final @Nullable ReadSet whole;

  /// The part of it that was read as of later commits than the snapshot; null: nothing so far. Guarded by this.
  private @Nullable ReadSet newest;

  public ReadSet() {
    this(null);
  }

  private ReadSet(@Nullable ReadSet whole) {
    this.whole = whole;
  }

  /// Where reads are noted that see commits after the snapshot, as those of foreign keys do: they are valid only if nothing has changed
  /// since the snapshot.
  public synchronized ReadSet newest() {
    ReadSet present = newest;
    if (present == null) {
      present = new ReadSet(this);
      newest = present;
    }
    return present;
  }

  /// Reads that were noted as of later commits than the snapshot; null: none.
  public synchronized @Nullable ReadSet presentNewest() {
    return newest;
  }

  public void addTable(long tableId) {
    if (whole != null) {
      whole.addTable(tableId);
    }
    noteTable(tableId);
  }

  private synchronized void noteTable(long tableId) {
    tables.add(tableId);
    ranges.remove(tableId);
  }

  public void addRange(long tableId, Range range) {
    if (whole != null) {
      whole.addRange(tableId, range);
    }
    noteRange(tableId, range);
  }

  private synchronized void noteRange(long tableId, Range range) {
    if (tables.contains(tableId)) {
      return;
    }
    List<Range> present = ranges.computeIfAbsent(tableId, t -> new ArrayList<>());
    present.add(range);
    if (present.size() > MAX_RANGES) {
      noteTable(tableId);
    }
  }

  public synchronized boolean hasTable(long tableId) {
    return tables.contains(tableId);
  }

  /// Whether anything of the table was read.
  public synchronized boolean touches(long tableId) {
    return tables.contains(tableId) || ranges.containsKey(tableId);
  }

  /// Ranges read of a table that was not read as a whole.
  public synchronized List<Range> ranges(long tableId) {
    return List.copyOf(ranges.getOrDefault(tableId, List.of()));
  }

  /// Tables read as a whole.
  public synchronized List<Long> tables() {
    return List.copyOf(tables);
  }

  /// Tables of which ranges were read.
  public synchronized List<Long> rangedTables() {
    return List.copyOf(ranges.keySet());
  }

  public synchronized boolean isEmpty() {
    return tables.isEmpty() && ranges.isEmpty();
  }
}
