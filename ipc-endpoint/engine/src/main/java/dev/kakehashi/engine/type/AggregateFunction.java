package dev.kakehashi.engine.type;

import java.util.function.Supplier;

/// An aggregate function.
///
/// @param argumentOids declared types of the arguments; the caller converts to them
/// @param resultOid type of the result
/// @param factory makes an accumulator without groups
public record AggregateFunction(
    String name, int[] argumentOids, int resultOid, Supplier<Accumulator> factory) {
  public Accumulator newAccumulator() {
    return factory.get();
  }
}
