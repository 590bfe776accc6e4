package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.value.Ordering;
import java.util.List;

/// Order of materialised rows by sort keys, and a stable sort of their positions.
public final class RowOrder {
  private static final int INSERTION = 16;
  private static final int PREFIX_BYTES = 8;
  private static final long SIGN_OF_SMALL = 1L << 31;

  private final List<SortKey> keys;
  private final MemoryAccount memory;

  public RowOrder(List<SortKey> keys, MemoryAccount memory) {
    this.keys = keys;
    this.memory = memory;
  }

  /// Negative, zero or positive.
  public int compare(IndexedRows a, int rowA, IndexedRows b, int rowB) {
    for (SortKey key : keys) {
      int column = key.column();
      boolean nullA = a.isNull(column, rowA);
      boolean nullB = b.isNull(column, rowB);
      int order =
          nullA || nullB
              ? nulls(key, nullA, nullB)
              : values(key, a.kind(column), a.word(column, rowA), b.word(column, rowB));
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  /// The same for the current rows of two inputs of a merge.
  public int compare(SortedRows a, SortedRows b) {
    for (SortKey key : keys) {
      int column = key.column();
      boolean nullA = a.isNull(column);
      boolean nullB = b.isNull(column);
      int order =
          nullA || nullB
              ? nulls(key, nullA, nullB)
              : values(key, a.kind(column), a.word(column), b.word(column));
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  private static int nulls(SortKey key, boolean nullA, boolean nullB) {
    return nullA == nullB ? 0 : nullA == key.nullsFirst() ? -1 : 1;
  }

  private static int values(SortKey key, ColumnKind kind, long wordA, long wordB) {
    int order = Ordering.compare(kind, wordA, wordB);
    return key.descending() ? Integer.compare(0, order) : order;
  }

  /// Bytes that sorting `rows` rows takes: their positions twice, and a prefix of each.
  public static long sortBytes(int rows) {
    return 16L * rows;
  }

  /// Positions `0 .. size-1` in order; equal rows keep their order.
  ///
  /// @param user whose memory it takes while it sorts; the positions stay the caller's
  public int[] sort(MaterializedRows rows, MemoryAccount user) {
    int size = rows.size();
    user.add(sortBytes(size));
    try {
      int[] order = new int[size];
      for (int i = 0; i < size; i++) {
        order[i] = i;
      }
      if (size > 1 && !keys.isEmpty()) {
        long[] prefixes = prefixes(rows);
        mergeSort(rows, prefixes, order, order.clone(), 0, size);
      }
      return order;
    } finally {
      user.add(-sortBytes(size));
    }
  }

  private int compare(MaterializedRows rows, long[] prefixes, int a, int b) {
    int order = Long.compare(prefixes[a], prefixes[b]);
    return order != 0 ? order : compare(rows, a, rows, b);
  }

  /// Sorts `[from, to)` of `from` into `into`; both hold the same positions at the start.
  private void mergeSort(
      MaterializedRows rows, long[] prefixes, int[] into, int[] scratch, int from, int to) {
    if (to - from <= INSERTION) {
      for (int i = from + 1; i < to; i++) {
        int row = into[i];
        int j = i;
        while (j > from && compare(rows, prefixes, into[j - 1], row) > 0) {
          into[j] = into[j - 1];
          j--;
        }
        into[j] = row;
      }
      return;
    }
    int middle = (from + to) >>> 1;
    mergeSort(rows, prefixes, scratch, into, from, middle);
    mergeSort(rows, prefixes, scratch, into, middle, to);
    int a = from;
    int b = middle;
    for (int i = from; i < to; i++) {
      memory.checkCanceled(i);
      boolean takeA =
          b >= to || (a < middle && compare(rows, prefixes, scratch[a], scratch[b]) <= 0);
      into[i] = takeA ? scratch[a++] : scratch[b++];
    }
  }

  /// One word per row that orders rows by the first keys as far as it goes: if prefixes differ, they decide.
  private long[] prefixes(MaterializedRows rows) {
    SortKey key = keys.getFirst();
    long[] prefixes = new long[rows.size()];
    boolean small = rows.kind(key.column()) == ColumnKind.INTEGER && keys.size() > 1;
    for (int row = 0; row < prefixes.length; row++) {
      memory.checkCanceled(row);
      prefixes[row] = prefix(rows, key, row);
      small &= isSmall(prefixes[row]);
    }
    if (small) {
      // Numbers of groups, above all: the second key has place, too.
      addSecond(rows, keys.get(1), prefixes);
    }
    return prefixes;
  }

  private void addSecond(MaterializedRows rows, SortKey key, long[] prefixes) {
    boolean small = true;
    for (int row = 0; row < prefixes.length && small; row++) {
      memory.checkCanceled(row);
      small = isSmall(prefix(rows, key, row));
    }
    for (int row = 0; row < prefixes.length; row++) {
      memory.checkCanceled(row);
      long second = prefix(rows, key, row);
      long digits = small ? second ^ SIGN_OF_SMALL : (second ^ Long.MIN_VALUE) >>> 32;
      prefixes[row] = prefixes[row] << 32 | (digits & 0xFFFFFFFFL);
    }
  }

  private static boolean isSmall(long word) {
    return word == (int) word;
  }

  private static long prefix(MaterializedRows rows, SortKey key, int row) {
    if (rows.isNull(key.column(), row)) {
      return key.nullsFirst() ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
    long prefix = prefix(rows.kind(key.column()), rows.word(key.column(), row));
    return key.descending() ? ~prefix : prefix;
  }

  private static long prefix(ColumnKind kind, long word) {
    return switch (kind) {
      case INTEGER -> word;
      case VARLENA -> firstBytes(Varlena.data(word), Varlena.length(word));
      case UUID -> RawMemory.getLongBigEndian(word) ^ Long.MIN_VALUE;
      default -> 0;
    };
  }

  private static long firstBytes(long address, int length) {
    long prefix = 0;
    for (int i = 0; i < PREFIX_BYTES; i++) {
      prefix = (prefix << 8) | (i < length ? RawMemory.getByte(address + i) & 0xFF : 0);
    }
    return prefix ^ Long.MIN_VALUE;
  }
}
