package dev.kakehashi.engine.store.version;

import dev.kakehashi.engine.store.api.StoreTransaction;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A transaction that has a slot, as those see it who find its slot in a stamp or a view.
public interface SlotOwner extends StoreTransaction {
  int slot();

  /// The newest snapshot that it has taken.
  long snapshot();

  /// Where its reads are noted; null: nowhere.
  @Nullable ReadSet noted();

  /// It has read what was committed up to a timestamp. Called by those who read for it, each when it has read.
  void hasSeen(long timestamp);

  /// Whether whoever wants one of the tables for himself has to wait for its end. Any thread, see
  /// [dev.kakehashi.engine.store.transaction.LongTransactions].
  boolean isInside(Set<Long> tables);
}
