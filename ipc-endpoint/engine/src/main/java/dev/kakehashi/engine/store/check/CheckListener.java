package dev.kakehashi.engine.store.check;

/// Listener for the results of a check.
public interface CheckListener {
  /// Something was looked at and is as it should be, or is worth knowing.
  void checked(String what);

  /// Something is wrong.
  void problem(String what);
}
