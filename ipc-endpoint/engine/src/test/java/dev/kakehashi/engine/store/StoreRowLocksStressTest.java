package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.StoreTransaction;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Random transactions of several threads lock, change and give back a few rows: at no moment do two hold a row so that this conflicts,
/// what is held does not change, and no change is lost.
///
/// Each notes what it holds after it has got it, and takes the note back before it lets go. So two notes of one moment are two locks of one
/// moment.
final class StoreRowLocksStressTest extends StoreTestBase {
  private static final int THREADS = 4;
  private static final int TRANSACTIONS = 4000;
  private static final int ROWS = 3;

  /// Number that is added to a key, or taken away from it again.
  private static final long OTHER_KEY = 1000;

  private final List<Map<Client, LockStrength>> held = new ArrayList<>();
  private final long[] rowIds = new long[ROWS];
  private final AtomicLongArray changes = new AtomicLongArray(ROWS);
  private final LongAdder locks = new LongAdder();
  private final LongAdder shared = new LongAdder();
  private final LongAdder refused = new LongAdder();

  @Test
  void shouldNeverBeHeldByTwoWhoConflict() throws InterruptedException {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed of StoreRowLocksStressTest: " + seed);
    for (int row = 0; row < ROWS; row++) {
      rowIds[row] = insertCommitted((long) row, "x", 0L);
      held.add(new IdentityHashMap<>());
    }
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        Client client = new Client(new Random(seed + i));
        running.add(threads.submit(client::work));
      }
      for (Future<?> each : running) {
        each.get(300, TimeUnit.SECONDS);
      }
    } catch (ExecutionException | java.util.concurrent.TimeoutException failed) {
      throw new AssertionError("seed " + seed, failed);
    }
    for (Rows.Row row : rows()) {
      int number = (int) ((long) Objects.requireNonNull(row.values().getFirst()) % OTHER_KEY);
      assertEquals(changes.get(number), row.values().get(2), "row " + number + ", seed " + seed);
    }
    assertTrue(shared.sum() > 0, "nobody has shared a row, seed " + seed);
    assertTrue(locks.sum() > 0 && refused.sum() > 0, locks + " locks, " + refused + " refused");
  }

  /// A thread. Its notes of others are guarded by the map of the row.
  private final class Client {
    private final Random random;

    /// How it holds each row, at each of its marks; the last one holds now.
    private final List<@Nullable LockStrength[]> history = new ArrayList<>();

    /// Values that it has read of each row when it got hold of it.
    private final long[][] seen = new long[ROWS][];

    private final long[] added = new long[ROWS];

    Client(Random random) {
      this.random = random;
    }

    void work() {
      for (int i = 0; i < TRANSACTIONS; i++) {
        StoreTransaction transaction = begin();
        history.clear();
        history.add(new LockStrength[ROWS]);
        java.util.Arrays.fill(added, 0);
        boolean goesOn = true;
        for (int steps = 1 + random.nextInt(4); goesOn && steps > 0; steps--) {
          goesOn = step(transaction);
        }
        boolean commits = random.nextInt(4) > 0;
        for (int row = 0; row < ROWS; row++) {
          check(transaction, row);
          note(row, null);
          if (commits) {
            changes.addAndGet(row, added[row]);
          }
        }
        if (commits) {
          Rows.commit(transaction, false);
        } else {
          transaction.abort();
        }
      }
    }

    private @Nullable LockStrength[] now() {
      return history.getLast();
    }

    /// Takes a lock, and perhaps lets go of it again.
    ///
    /// @return false if others have the row
    private boolean step(StoreTransaction transaction) {
      int row = random.nextInt(ROWS);
      long mark = transaction.mark();
      long addedBefore = added[row];
      @Nullable LockStrength[] before = now().clone();
      LockStrength got;
      try {
        got = act(transaction, row);
      } catch (RowConflict conflict) {
        refused.increment();
        transaction.rollbackTo(mark);
        return false;
      }
      locks.increment();
      LockStrength stronger =
          before[row] == null || before[row].compareTo(got) < 0 ? got : before[row];
      @Nullable LockStrength[] after = before.clone();
      after[row] = stronger;
      history.add(after);
      note(row, stronger);
      if (stronger != before[row] || got.compareTo(LockStrength.NO_KEY_UPDATE) >= 0) {
        seen[row] = read(transaction, row);
      }
      for (int spins = random.nextInt(500); spins > 0; spins--) {
        Thread.onSpinWait();
      }
      check(transaction, row);
      if (random.nextInt(3) == 0) {
        note(row, before[row]);
        history.removeLast();
        added[row] = addedBefore;
        transaction.rollbackTo(mark);
        if (before[row] != null) {
          seen[row] = read(transaction, row);
        }
      }
      return true;
    }

    private LockStrength act(StoreTransaction transaction, int row) {
      transaction.refreshSnapshot();
      transaction.beginStatement();
      int action = random.nextInt(7);
      if (action < 5) {
        LockStrength strength = Objects.requireNonNull(LockStrength.of(Math.max(0, action - 1)));
        assertTrue(table.lock(transaction, rowIds[row], strength));
        return strength;
      }
      long[] values = read(transaction, row);
      boolean key = action == 6;
      long id = key ? row + (values[0] == row ? OTHER_KEY : 0) : values[0];
      assertTrue(Rows.update(table, transaction, rowIds[row], id, "x", values[1] + 1));
      added[row]++;
      return key ? LockStrength.UPDATE : LockStrength.NO_KEY_UPDATE;
    }

    private long[] read(StoreTransaction transaction, int row) {
      ReadView view = transaction.beginLatest();
      try (var to = new dev.kakehashi.engine.vector.VectorBatch(2)) {
        assertTrue(table.read(view, rowIds[row], new int[] {0, 2}, to));
        return new long[] {to.columns[0].words[0], to.columns[1].words[0]};
      } finally {
        transaction.endLatest();
      }
    }

    /// Whether what it holds is as it was.
    private void check(StoreTransaction transaction, int row) {
      LockStrength strength = now()[row];
      if (strength == null) {
        return;
      }
      long[] values = read(transaction, row);
      assertEquals(seen[row][0], values[0], "key of a row held by " + strength);
      if (strength != LockStrength.KEY_SHARE) {
        assertEquals(seen[row][1], values[1], "value of a row held by " + strength);
      }
    }

    private void note(int row, @Nullable LockStrength strength) {
      Map<Client, LockStrength> holders = held.get(row);
      synchronized (holders) {
        if (strength == null) {
          holders.remove(this);
          return;
        }
        holders.put(this, strength);
        holders.forEach((other, theirs) -> {
          assertTrue(
              other == this || !theirs.conflictsWith(strength), theirs + " beside " + strength);
        });
        if (holders.size() > 1) {
          shared.increment();
        }
      }
    }
  }
}
