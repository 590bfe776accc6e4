package dev.kakehashi.engine.type;

import dev.kakehashi.engine.type.application.ApplicationAggregate;
import java.util.function.Supplier;

/// An aggregate function.
///
/// @param argumentOids declared types of the arguments; the caller converts to them
/// @param resultOid type of the result
/// @param factory makes an accumulator without groups
public record AggregateFunction(
    String name, int[] argumentOids, int resultOid, Supplier<Accumulator> factory) {
  /// Whether a native application has it: then no name finds it.
  public boolean isOfApplication() {
    return factory instanceof ApplicationAggregate;
  }

  public Accumulator newAccumulator() {
    return factory.get();
  }
}
