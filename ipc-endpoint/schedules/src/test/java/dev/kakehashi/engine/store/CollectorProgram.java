package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.schedules.Program;

/// A row is changed again and again and its old versions are collected, while readers with snapshots of several moments look for theirs.
///
/// Each reader finds the version of its snapshot, every time.
public final class CollectorProgram implements Program {
  @Override
  public void run() throws Exception {
    try (ProgramStore store = new ProgramStore(null)) {
      long rowId = store.insert(1, 0);
      StoreTransaction old = store.store.begin(true, false);
      ReadView oldView = old.beginStatement();
      store.add(rowId, 1, 1, true);
      StoreTransaction later = store.store.begin(true, false);
      ReadView laterView = later.beginStatement();
      store.add(rowId, 1, 1, true);
      Program.together(
          () -> {
            store.add(rowId, 1, 1, false);
            store.add(rowId, 1, 1, true);
          },
          () -> {
            for (int round = 0; round < 2; round++) {
              ((MemoryStore) store.store).collector().collect();
            }
          },
          () -> look(store, old, oldView, rowId, 0),
          () -> look(store, later, laterView, rowId, 1));
    }
  }

  private static void look(
      ProgramStore store, StoreTransaction transaction, ReadView view, long rowId, long expected) {
    for (int round = 0; round < 2; round++) {
      long amount = store.amount(view, rowId);
      ProgramStore.check(amount == expected, "sees " + amount + " for " + expected);
    }
    transaction.abort();
  }
}
