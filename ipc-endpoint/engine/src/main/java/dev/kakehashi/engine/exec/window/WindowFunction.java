package dev.kakehashi.engine.exec.window;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.rows.IndexedRows;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.plan.PlanNode.WindowCall;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import org.jspecify.annotations.Nullable;

/// Computes one window function for the rows of a partition, in their order. Confined to one task.
abstract class WindowFunction {
  final WindowCall call;

  WindowFunction(WindowCall call) {
    this.call = call;
  }

  /// Begins a partition.
  void begin(WindowPartition partition) {}

  /// Sets row `row` of `out` to the value at a position; positions come in order.
  abstract void evaluate(
      WindowPartition partition, int position, ColumnVector out, int row, FunctionContext context);

  void close() {}

  /// @param memory of the statement
  static WindowFunction of(WindowCall call, FrameRuns frame, MemoryAccount memory) {
    if (call.aggregate()) {
      return new WindowAggregate(call, frame, memory);
    }
    return switch (call.name()) {
      case "row_number" ->
          new Ranking(call) {
            @Override
            long number(WindowPartition partition, int position) {
              return position + 1L;
            }
          };
      case "rank" ->
          new Ranking(call) {
            @Override
            long number(WindowPartition partition, int position) {
              return partition.peersStart(position) + 1L;
            }
          };
      case "dense_rank" ->
          new Ranking(call) {
            @Override
            long number(WindowPartition partition, int position) {
              return partition.group(position) + 1L;
            }
          };
      case "percent_rank" ->
          new Ranking(call) {
            @Override
            long number(WindowPartition partition, int position) {
              double others = partition.size() - 1.0;
              return Double.doubleToRawLongBits(
                  others <= 0 ? 0 : partition.peersStart(position) / others);
            }
          };
      case "cume_dist" ->
          new Ranking(call) {
            @Override
            long number(WindowPartition partition, int position) {
              return Double.doubleToRawLongBits(
                  partition.peersEnd(position) / (double) partition.size());
            }
          };
      case "ntile" -> new Ntile(call);
      case "lag" -> new Neighbour(call, -1, memory);
      case "lead" -> new Neighbour(call, 1, memory);
      case "first_value", "last_value", "nth_value" -> new FrameValue(call, frame, memory);
      default -> throw new IllegalStateException("no window function " + call.name());
    };
  }

  /// A number that depends on the position alone.
  private abstract static class Ranking extends WindowFunction {
    Ranking(WindowCall call) {
      super(call);
    }

    abstract long number(WindowPartition partition, int position);

    @Override
    void evaluate(
        WindowPartition partition,
        int position,
        ColumnVector out,
        int row,
        FunctionContext context) {
      out.words[row] = number(partition, position);
    }
  }

  /// Copies a column of a row of the partition; the value stays where it is, if it stays there at all.
  static void copy(
      WindowPartition partition,
      int column,
      int position,
      ColumnVector out,
      int row,
      VarHeap heap) {
    int from = partition.row(position);
    IndexedRows rows = partition.rows();
    if (rows.isNull(column, from)) {
      out.setNull(row);
      return;
    }
    long word = rows.word(column, from);
    ColumnKind kind = rows.kind(column);
    out.words[row] = partition.isTransient() ? MaterializedRows.copied(heap, kind, word) : word;
  }

  /// ntile(n): the number of buckets is that of the partition's first row.
  private static final class Ntile extends WindowFunction {
    private long buckets;

    Ntile(WindowCall call) {
      super(call);
    }

    @Override
    void begin(WindowPartition partition) {
      int column = call.arguments()[0];
      int first = partition.row(0);
      buckets = partition.rows().isNull(column, first) ? 0 : partition.rows().word(column, first);
      if (buckets <= 0 && !partition.rows().isNull(column, first)) {
        throw new EngineException(
            ErrorCode.INVALID_ARGUMENT_FOR_NTILE, "argument of ntile must be greater than zero");
      }
    }

    @Override
    void evaluate(
        WindowPartition partition,
        int position,
        ColumnVector out,
        int row,
        FunctionContext context) {
      if (buckets == 0) {
        out.setNull(row);
        return;
      }
      long size = partition.size() / buckets;
      long larger = partition.size() % buckets;
      long inLarger = larger * (size + 1);
      out.words[row] =
          position < inLarger
              ? position / (size + 1) + 1
              : larger + (position - inLarger) / Math.max(size, 1) + 1;
    }
  }

  /// A function that takes the value of one row of the partition.
  private abstract static class RowValue extends WindowFunction {
    /// Null: rows without a value count like others.
    final @Nullable NonNullRows nonNull;

    RowValue(WindowCall call, MemoryAccount memory) {
      super(call);
      this.nonNull =
          call.ignoresNulls() ? new NonNullRows(call.arguments()[0], memory.user()) : null;
    }

    @Override
    void begin(WindowPartition partition) {
      if (nonNull != null) {
        nonNull.begin(partition);
      }
    }

    @Override
    void close() {
      if (nonNull != null) {
        nonNull.close();
      }
    }
  }

  /// lag and lead with offset and default.
  private static final class Neighbour extends RowValue {
    private final int direction;

    Neighbour(WindowCall call, int direction, MemoryAccount memory) {
      super(call, memory);
      this.direction = direction;
    }

    @Override
    void evaluate(
        WindowPartition partition,
        int position,
        ColumnVector out,
        int row,
        FunctionContext context) {
      int[] arguments = call.arguments();
      long offset = 1;
      if (arguments.length > 1) {
        int from = partition.row(position);
        if (partition.rows().isNull(arguments[1], from)) {
          out.setNull(row);
          return;
        }
        offset = partition.rows().word(arguments[1], from);
      }
      long target = target(partition, position, direction * offset);
      if (target >= 0 && target < partition.size()) {
        copy(partition, arguments[0], (int) target, out, row, context.heap);
      } else if (arguments.length > 2) {
        copy(partition, arguments[2], position, out, row, context.heap);
      } else {
        out.setNull(row);
      }
    }

    /// The position so many rows away, those without a value left out; outside of the partition: there is none. The row itself counts
    /// with its null, as in PostgreSQL.
    private long target(WindowPartition partition, int position, long distance) {
      if (nonNull == null || distance == 0) {
        return position + distance;
      }
      int first = distance > 0 ? position + 1 : 0;
      int end = distance > 0 ? partition.size() : position;
      int count = nonNull.count(first, end);
      long number = distance > 0 ? distance - 1 : count + distance;
      return number < 0 || number >= count ? -1 : nonNull.position(first, number);
    }
  }

  /// first_value, last_value, nth_value.
  private static final class FrameValue extends RowValue {
    private final FrameRuns frame;

    FrameValue(WindowCall call, FrameRuns frame, MemoryAccount memory) {
      super(call, memory);
      this.frame = frame;
    }

    @Override
    void evaluate(
        WindowPartition partition,
        int position,
        ColumnVector out,
        int row,
        FunctionContext context) {
      frame.move(partition, position);
      long wanted = 0;
      if (call.name().equals("nth_value")) {
        int column = call.arguments()[1];
        int from = partition.row(position);
        if (partition.rows().isNull(column, from)) {
          out.setNull(row);
          return;
        }
        wanted = partition.rows().word(column, from) - 1;
        if (wanted < 0) {
          throw new EngineException(
              ErrorCode.INVALID_ARGUMENT_FOR_NTH_VALUE,
              "argument of nth_value must be greater than zero");
        }
      }
      long count = nonNull == null ? frame.count() : frame.count(nonNull);
      if (call.name().equals("last_value")) {
        wanted = count - 1;
      }
      if (wanted < 0 || wanted >= count) {
        out.setNull(row);
      } else {
        int found = nonNull == null ? frame.position(wanted) : frame.position(nonNull, wanted);
        copy(partition, call.arguments()[0], found, out, row, context.heap);
      }
    }
  }
}
