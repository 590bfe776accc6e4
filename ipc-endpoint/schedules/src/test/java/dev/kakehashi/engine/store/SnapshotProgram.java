package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.schedules.Program;

/// Two transactions add to the same row, beside a reader with one snapshot.
///
/// No update is lost; what a snapshot sees does not change; a commit that was told is seen by later snapshots.
public final class SnapshotProgram implements Program {
  @Override
  public void run() throws Exception {
    try (ProgramStore store = new ProgramStore(null)) {
      long rowId = store.insert(1, 0);
      Program.together(
          () -> add(store, rowId, 1, true),
          () -> add(store, rowId, 2, false),
          () -> {
            StoreTransaction transaction = store.store.begin(true, false);
            ReadView view = transaction.beginStatement();
            long first = store.amount(view, rowId);
            long second = store.amount(view, rowId);
            transaction.abort();
            ProgramStore.check(first == second, "a snapshot has changed");
            ProgramStore.check(first >= 0 && first <= 3, "nobody has written " + first);
          });
      long amount = read(store, rowId);
      ProgramStore.check(amount == 3, "an update is lost: " + amount);
    }
  }

  private static void add(ProgramStore store, long rowId, long more, boolean stored)
      throws InterruptedException {
    store.add(rowId, 1, more, stored);
    ProgramStore.check((read(store, rowId) & more) != 0, "a commit is not seen");
  }

  private static long read(ProgramStore store, long rowId) {
    StoreTransaction transaction = store.store.begin(true, false);
    try {
      return store.amount(transaction.beginStatement(), rowId);
    } finally {
      transaction.abort();
    }
  }
}
