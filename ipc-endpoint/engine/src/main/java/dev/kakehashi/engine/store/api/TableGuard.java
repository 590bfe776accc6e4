package dev.kakehashi.engine.store.api;

import java.util.Set;

/// Knows the readers of a standby, whose store changes forms of tables, or drops them, as the primary has done when nobody used them
/// there.
public interface TableGuard {
  /// Waits until nobody uses the tables, and ends those who use them for too long. From then on nobody begins to.
  ///
  /// @param tables by their numbers; some may be unknown
  /// @return lets readers come to them again
  Runnable exclude(Set<Long> tables) throws InterruptedException;

  /// Something was applied.
  void applied();
}
