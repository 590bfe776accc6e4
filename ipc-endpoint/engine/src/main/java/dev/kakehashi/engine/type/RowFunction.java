package dev.kakehashi.engine.type;

import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A function of PostgreSQL that returns rows.
///
/// @param name as resolved, for displays
/// @param argumentOids declared types of the arguments
/// @param columns what a row has
/// @param strict a null argument gives no rows; otherwise its word is 0, and the context says which arguments are null
/// @param body the code
public record RowFunction(
    String name, int[] argumentOids, List<Column> columns, boolean strict, Body body) {
  /// A column.
  ///
  /// @param name empty: that of the function, or of its alias
  public record Column(String name, int oid) {}

  /// A strict function of rows of one column.
  public RowFunction(String name, int[] argumentOids, int resultOid, Body body) {
    this(name, argumentOids, List.of(new Column("", resultOid)), true, body);
  }

  /// Code of a function.
  @FunctionalInterface
  public interface Body {
    /// Begins the rows of a call.
    ///
    /// @param arguments words, valid as long as the rows are asked for
    /// @throws dev.kakehashi.engine.api.error.EngineException with PostgreSQL's SQLSTATE for what PostgreSQL refuses
    Rows open(long[] arguments, FunctionContext context);

    /// How many rows a call usually gives; -1: nobody has said.
    default long rowEstimate() {
      return -1;
    }
  }

  /// Rows of a call, one after the other.
  @FunctionalInterface
  public interface Rows {
    /// Writes the next row's values.
    ///
    /// @param context heap for by-reference values; `resultIsNull` is set when the last column is null, and `nullColumns` for any; the
    ///     caller clears both before
    /// @return false: there is no further row, and nothing was written
    boolean next(long[] values, FunctionContext context);

    /// One row for each item.
    static <T extends @Nullable Object> Rows of(Iterable<T> items, RowWriter<T> writer) {
      Iterator<T> iterator = items.iterator();
      return (values, context) -> {
        if (!iterator.hasNext()) {
          return false;
        }
        writer.write(iterator.next(), values, context);
        return true;
      };
    }
  }

  /// Writes the row of an item, as [Rows#next] does.
  @FunctionalInterface
  public interface RowWriter<T extends @Nullable Object> {
    void write(T item, long[] values, FunctionContext context);
  }
}
