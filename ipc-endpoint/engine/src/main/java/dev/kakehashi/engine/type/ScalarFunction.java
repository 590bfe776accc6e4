package dev.kakehashi.engine.type;

import dev.kakehashi.engine.type.registry.VolatileFunctions;

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

  /// Whether calls must be neither repeated nor left out.
  public boolean isVolatile() {
    return body.isVolatile() || VolatileFunctions.contains(name);
  }

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
    /// @throws dev.kakehashi.engine.api.error.EngineException with PostgreSQL's SQLSTATE for what PostgreSQL refuses
    long apply(long[] arguments, long nulls, FunctionContext context);

    /// Whether calls must be neither repeated nor left out, whatever [VolatileFunctions] says of the name.
    default boolean isVolatile() {
      return false;
    }

    /// Cost of one call; 1 is that of comparing two numbers.
    default double cost() {
      return 1;
    }

    /// Whether a strict function may give null for arguments that are not null, whatever its name says.
    default boolean mayGiveNull() {
      return false;
    }

    /// Tells functions of one name and types apart.
    default String identity() {
      return "";
    }
  }
}
