package dev.kakehashi.application;

/// Properties of a function that the planner may rely on. Without any call a function is volatile, not strict, and costs 100.
public interface FunctionOptions {
  /// The same arguments always give the same result: calls of constants are made once, when the statement is planned.
  FunctionOptions immutable();

  /// The same arguments give the same result within one statement.
  FunctionOptions stable();

  /// A null argument gives null (of a table function: no rows), without a call. Parameters of primitive types make a function strict, too.
  FunctionOptions strict();

  /// Cost of one call, in units of the planner: 1 is the cost of comparing two numbers. Greater than 0, at most 1,000,000.
  FunctionOptions cost(double units);

  /// Rows that a table function usually gives; 1,000 without.
  FunctionOptions rows(long estimate);
}
