package dev.kakehashi.engine.type;

/// Where a conversion is asked for; each context allows what the ones before it allow.
public enum CastContext {
  /// An argument of a function or an operand.
  IMPLICIT,
  /// A value stored in a column.
  ASSIGNMENT,
  /// CAST or `::`.
  EXPLICIT
}
