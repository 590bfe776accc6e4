package dev.kakehashi.engine.exec.window;

import dev.kakehashi.engine.exec.rows.IndexedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.RowOrder;
import dev.kakehashi.engine.plan.PlanNode.Frame;
import dev.kakehashi.engine.plan.PlanNode.FrameBound;
import dev.kakehashi.engine.plan.PlanNode.FrameBoundKind;
import dev.kakehashi.engine.plan.PlanNode.FrameMode;
import dev.kakehashi.engine.type.value.Ordering;
import org.jspecify.annotations.Nullable;

/// The rows of one partition in their order, and which of them are peers. Positions count from 0 at the partition's first row.
final class WindowPartition {
  private final IndexedRows rows;

  /// Where in `rows` the position is, from `from` on; null: at the same place.
  private final int @Nullable [] order;

  private final boolean descending;
  private final MemoryAccount memory;
  private int from;
  private int size;

  /// Number of a row's group of peers; `groupStarts` has one entry more than there are groups.
  private int[] groups = new int[64];

  private int[] groupStarts = new int[64];
  private int groupCount;

  /// @param order positions of the rows of all partitions; null: `rows` are those of one partition, in their order
  /// @param descending whether the first key's great values come first
  WindowPartition(
      IndexedRows rows, int @Nullable [] order, boolean descending, MemoryAccount memory) {
    this.rows = rows;
    this.order = order;
    this.descending = descending;
    this.memory = memory;
    memory.add(groupBytes());
  }

  private long groupBytes() {
    return 4L * (groups.length + groupStarts.length);
  }

  /// Frees what it holds besides the rows.
  void close() {
    memory.add(-groupBytes());
  }

  /// Whether values of the rows may go before the result is read.
  boolean isTransient() {
    return order == null;
  }

  /// Moves to the rows `[first, end)` of the order.
  void move(int first, int end, RowOrder peers) {
    from = first;
    size = end - first;
    memory.add(-groupBytes());
    if (groups.length < size) {
      groups = new int[Math.max(size, 2 * groups.length)];
      groupStarts = new int[groups.length + 1];
    } else if (groupStarts.length < size + 1) {
      groupStarts = new int[groups.length + 1];
    }
    memory.add(groupBytes());
    groupCount = 0;
    for (int i = 0; i < size; i++) {
      memory.checkCanceled(i);
      if (i == 0 || peers.compare(rows, row(i - 1), rows, row(i)) != 0) {
        groupStarts[groupCount++] = i;
      }
      groups[i] = groupCount - 1;
    }
    groupStarts[groupCount] = size;
  }

  IndexedRows rows() {
    return rows;
  }

  int size() {
    return size;
  }

  /// Where the materialised row of a position is.
  int row(int position) {
    return order == null ? position : order[from + position];
  }

  int group(int position) {
    return groups[position];
  }

  int peersStart(int position) {
    return groupStarts[groups[position]];
  }

  int peersEnd(int position) {
    return groupStarts[groups[position] + 1];
  }

  /// First position of a frame.
  ///
  /// @param offset value of the bound's offset in ROWS and GROUPS mode
  int frameStart(Frame frame, int position, long offset) {
    FrameBound bound = frame.start();
    return switch (bound.kind()) {
      case UNBOUNDED_PRECEDING -> 0;
      case UNBOUNDED_FOLLOWING -> size;
      case CURRENT_ROW -> frame.mode() == FrameMode.ROWS ? position : peersStart(position);
      case PRECEDING, FOLLOWING ->
          switch (frame.mode()) {
            case ROWS -> clamp(moved(position, bound, offset));
            case GROUPS -> groupStart(moved(groups[position], bound, offset));
            case RANGE -> rangeLimit(bound, position, true);
          };
    };
  }

  /// Position after the last one of a frame.
  int frameEnd(Frame frame, int position, long offset) {
    FrameBound bound = frame.end();
    return switch (bound.kind()) {
      case UNBOUNDED_PRECEDING -> 0;
      case UNBOUNDED_FOLLOWING -> size;
      case CURRENT_ROW -> frame.mode() == FrameMode.ROWS ? position + 1 : peersEnd(position);
      case PRECEDING, FOLLOWING ->
          switch (frame.mode()) {
            case ROWS -> clamp(moved(position, bound, offset) + 1);
            case GROUPS -> groupStart(moved(groups[position], bound, offset) + 1);
            case RANGE -> rangeLimit(bound, position, false);
          };
    };
  }

  private static long moved(int position, FrameBound bound, long offset) {
    long far = Math.min(offset, Integer.MAX_VALUE);
    return bound.kind() == FrameBoundKind.PRECEDING ? position - far : position + far;
  }

  private int clamp(long position) {
    return (int) Math.clamp(position, 0L, (long) size);
  }

  private int groupStart(long group) {
    return groupStarts[(int) Math.clamp(group, 0L, (long) groupCount)];
  }

  /// First position whose key is not before the limit (start), or behind it (end). Nulls are peers of each other only. A limit that is null
  /// is beyond all keys.
  private int rangeLimit(FrameBound bound, int position, boolean start) {
    int key = bound.keyColumn();
    int row = row(position);
    if (rows.isNull(key, row)) {
      return start ? peersStart(position) : peersEnd(position);
    }
    int low = 0;
    int high = size;
    while (low < high && rows.isNull(key, row(low))) {
      low = groupStarts[groups[low] + 1];
    }
    while (low < high && rows.isNull(key, row(high - 1))) {
      high = groupStarts[groups[high - 1]];
    }
    if (rows.isNull(bound.limitColumn(), row)) {
      return bound.kind() == FrameBoundKind.PRECEDING ? low : high;
    }
    while (low < high) {
      int middle = (low + high) >>> 1;
      int order = compare(key, row(middle), bound.limitColumn(), row);
      order = descending ? Integer.compare(0, order) : order;
      if (start ? order < 0 : order <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private int compare(int columnA, int rowA, int columnB, int rowB) {
    return Ordering.compare(rows.kind(columnA), rows.word(columnA, rowA), rows.word(columnB, rowB));
  }
}
