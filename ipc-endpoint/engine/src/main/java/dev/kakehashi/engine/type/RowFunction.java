package dev.kakehashi.engine.type;

/// A function of PostgreSQL that returns rows of one column.
///
/// It is strict: a null argument gives no rows.
///
/// @param name as resolved, for displays
/// @param argumentOids declared types of the arguments
/// @param resultOid type of the column
/// @param body the code
public record RowFunction(String name, int[] argumentOids, int resultOid, Body body) {
  /// Code of a function.
  @FunctionalInterface
  public interface Body {
    /// Begins the rows of a call.
    ///
    /// @param arguments words, valid as long as the rows are asked for
    /// @throws dev.kakehashi.engine.api.EngineException with PostgreSQL's SQLSTATE for what PostgreSQL refuses
    Rows open(long[] arguments, FunctionContext context);
  }

  /// Rows of a call, one after the other.
  @FunctionalInterface
  public interface Rows {
    /// Writes the next row's value.
    ///
    /// @param context heap for a by-reference value; `resultIsNull` is set for a null, the caller clears it before
    /// @return false: there is no further row, and nothing was written
    boolean next(long[] value, FunctionContext context);
  }
}
