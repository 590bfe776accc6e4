package dev.kakehashi.engine.type;

/// Registers a conversion.
@FunctionalInterface
public interface CastRegistry {
  void add(int from, int to, CastContext context, boolean immutable, ScalarFunction.Body body);
}
