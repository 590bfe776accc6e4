package dev.kakehashi.queue.record;

/// Tasks of one group, as changes of the log see them. A position whose task is over for the group has no effect, so replay over files of
/// any age comes to the same state.
public interface GroupTasks {
  /// It was handed out.
  ///
  /// @param attempts with this one
  void claimed(long position, int attempts);

  void done(long position);

  /// It was canceled, or moved away.
  void gone(long position, boolean isDeadLetter);

  /// It is to be handed out again, after its wait.
  void failed(QueueOp.Failed op);

  /// It is to be handed out again.
  ///
  /// @param attempts without the one that ends
  void released(long position, int attempts);

  /// It stays as dead.
  ///
  /// @param error empty: none
  void died(long position, String error);
}
