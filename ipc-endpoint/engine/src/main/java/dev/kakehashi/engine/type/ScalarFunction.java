package dev.kakehashi.engine.type;

/// A function of PostgreSQL on words.
///
/// @param name as resolved, for displays
/// @param argumentOids declared types of the arguments
/// @param resultOid declared type of the result
/// @param strict null for any null argument, without a call
/// @param immutable may be folded at planning time
/// @param body the code
public record ScalarFunction(
    String name, int[] argumentOids, int resultOid, boolean strict, boolean immutable, Body body) {

  /// As many as there are bits for nulls.
  public static final int MAX_ARGUMENTS = Long.SIZE;

  /// Code of a function.
  @FunctionalInterface
  public interface Body {
    /// Computes one result word.
    ///
    /// @param arguments words, one per argument
    /// @param nulls bit i set: argument i is null (only for functions that are not strict)
    /// @param context heap for by-reference results; `resultIsNull` is set for a null result
    /// @throws dev.kakehashi.engine.api.EngineException with PostgreSQL's SQLSTATE for what PostgreSQL refuses
    long apply(long[] arguments, long nulls, FunctionContext context);
  }
}
