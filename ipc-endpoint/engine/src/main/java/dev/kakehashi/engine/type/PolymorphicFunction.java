package dev.kakehashi.engine.type;

import org.jspecify.annotations.Nullable;

/// A function of arguments of many types, which becomes one of their types when it is called.
///
/// @param signature for the documentation, with PostgreSQL's names of the polymorphic types
/// @param resolver chooses by the types of the arguments
public record PolymorphicFunction(String name, String signature, Resolver resolver) {
  /// Chooses the function for types of arguments.
  @FunctionalInterface
  public interface Resolver {
    /// The function for arguments of these types, [Types#UNKNOWN] among them; null if it is not for them.
    ///
    /// @throws dev.kakehashi.engine.api.error.EngineException with PostgreSQL's SQLSTATE for types that PostgreSQL refuses
    @Nullable ScalarFunction resolve(int[] oids);
  }
}
