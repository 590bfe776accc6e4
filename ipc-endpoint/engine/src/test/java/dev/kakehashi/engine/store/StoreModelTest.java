package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.vector.VarHeap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Several transactions interleaved at random by one thread, compared step by step with a plain model of snapshot isolation: what each view
/// sees, by scan and by index, and which changes are refused and how.
final class StoreModelTest extends StoreTestBase {
  private static final int STEPS = 4_000;
  private static final int KEYS = 40;

  /// Values of a row; null: there is no row.
  private record Values(long id, @Nullable String name, @Nullable Long amount) {}

  /// A change of a transaction in the model.
  private record Change(long rowId, @Nullable Values values) {}

  private record Seen(ReadView view, int changes, Map<Long, Values> rows) {}

  private static final class ModelTransaction {
    final StoreTransaction real;
    final int snapshot;
    final Map<Long, Values> visibleAtBegin;
    final List<Change> changes = new ArrayList<>();
    final List<long[]> marks = new ArrayList<>();
    final List<Seen> views = new ArrayList<>();

    ModelTransaction(StoreTransaction real, int snapshot, Map<Long, Values> committed) {
      this.real = real;
      this.snapshot = snapshot;
      this.visibleAtBegin = new TreeMap<>(committed);
    }

    Map<Long, Values> visible() {
      Map<Long, Values> rows = new TreeMap<>(visibleAtBegin);
      for (Change change : changes) {
        if (change.values == null) {
          rows.remove(change.rowId);
        } else {
          rows.put(change.rowId, change.values);
        }
      }
      return rows;
    }

    boolean wrote(long rowId) {
      return changes.stream().anyMatch(change -> change.rowId == rowId);
    }
  }

  private final Map<Long, Values> committed = new TreeMap<>();
  private final Map<Long, Integer> lastCommit = new HashMap<>();
  private final List<ModelTransaction> running = new ArrayList<>();
  private int commits;
  private Random random = new Random();

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void shouldBehaveLikeTheModelForFixedSeeds(long seed) {
    run(seed);
  }

  @Test
  void shouldBehaveLikeTheModelForAFreshSeed() {
    run(System.nanoTime());
  }

  private void run(long seed) {
    System.out.println("seed " + seed);
    random = new Random(seed);
    for (int step = 0; step < STEPS; step++) {
      if (running.isEmpty() || (running.size() < 5 && random.nextInt(6) == 0)) {
        running.add(new ModelTransaction(begin(), commits, committed));
      }
      step(running.get(random.nextInt(running.size())));
      if (step % 1000 == 999) {
        List.copyOf(running).forEach(this::abort);
        Rows.collect(store);
        checkRows(rows(), committed);
        reopen();
        checkRows(rows(), committed);
        lastCommit.clear();
      }
    }
    List.copyOf(running).forEach(this::abort);
  }

  private void step(ModelTransaction transaction) {
    switch (random.nextInt(12)) {
      case 0 -> {
        Rows.commit(transaction.real, random.nextBoolean());
        commit(transaction);
      }
      case 1 -> {
        if (random.nextInt(3) == 0) {
          abort(transaction);
        }
      }
      case 2 ->
          transaction.marks.add(new long[] {transaction.real.mark(), transaction.changes.size()});
      case 3 -> rollBack(transaction);
      case 4, 5 -> insert(transaction);
      case 6, 7, 8 -> update(transaction);
      case 9 -> delete(transaction);
      default -> read(transaction);
    }
  }

  private void commit(ModelTransaction transaction) {
    running.remove(transaction);
    commits++;
    for (Change change : transaction.changes) {
      if (change.values == null) {
        committed.remove(change.rowId);
      } else {
        committed.put(change.rowId, change.values);
      }
      lastCommit.put(change.rowId, commits);
    }
  }

  private void abort(ModelTransaction transaction) {
    transaction.real.abort();
    running.remove(transaction);
  }

  private void rollBack(ModelTransaction transaction) {
    if (transaction.marks.isEmpty()) {
      return;
    }
    int at = random.nextInt(transaction.marks.size());
    long[] mark = transaction.marks.get(at);
    transaction.real.rollbackTo(mark[0]);
    while (transaction.marks.size() > at + 1) {
      transaction.marks.removeLast();
    }
    while (transaction.changes.size() > mark[1]) {
      transaction.changes.removeLast();
    }
    // Views that saw what is gone are gone too.
    transaction.views.removeIf(seen -> seen.changes > mark[1]);
  }

  private Values randomValues() {
    String name =
        random.nextInt(8) == 0
            ? null
            : "n" + random.nextInt(6) + "x".repeat(random.nextInt(10) == 0 ? 2_000 : 3);
    return new Values(
        random.nextInt(KEYS), name, random.nextInt(5) == 0 ? null : (long) random.nextInt(100));
  }

  private void insert(ModelTransaction transaction) {
    Values values = randomValues();
    Set<String> refusals = refusals(transaction, values.id, -1);
    transaction.real.beginStatement();
    long[] rowId = {-1};
    String outcome =
        outcome(() ->
            rowId[0] = Rows.insert(table, transaction.real, values.id, values.name, values.amount));
    if (refusals.isEmpty()) {
      assertEquals("done", outcome);
      transaction.changes.add(new Change(rowId[0], values));
      // A slot of a row that was deleted long ago may be used again.
      lastCommit.remove(rowId[0]);
    } else {
      assertTrue(refusals.contains(outcome), outcome + " is not in " + refusals);
    }
  }

  private void update(ModelTransaction transaction) {
    Long rowId = pick(transaction);
    if (rowId == null) {
      return;
    }
    Values values = randomValues();
    String conflict = conflict(transaction, rowId);
    Set<String> refusals = refusals(transaction, values.id, rowId);
    transaction.real.beginStatement();
    boolean[] changed = {false};
    String outcome =
        outcome(() ->
            changed[0] =
                Rows.update(table, transaction.real, rowId, values.id, values.name, values.amount));
    if (conflict != null) {
      assertEquals(conflict, outcome);
    } else if (!transaction.visible().containsKey(rowId)) {
      assertEquals("done", outcome);
      assertEquals(false, changed[0]);
    } else if (refusals.isEmpty()) {
      assertEquals("done", outcome);
      assertTrue(changed[0]);
      transaction.changes.add(new Change(rowId, values));
    } else if (transaction.visible().get(rowId).id == values.id) {
      // The key stays: nothing is checked.
      assertEquals("done", outcome);
      transaction.changes.add(new Change(rowId, values));
    } else {
      assertTrue(refusals.contains(outcome), outcome + " is not in " + refusals);
    }
  }

  private void delete(ModelTransaction transaction) {
    Long rowId = pick(transaction);
    if (rowId == null) {
      return;
    }
    String conflict = conflict(transaction, rowId);
    transaction.real.beginStatement();
    boolean[] changed = {false};
    String outcome = outcome(() -> changed[0] = table.delete(transaction.real, rowId));
    if (conflict != null) {
      assertEquals(conflict, outcome);
      return;
    }
    assertEquals("done", outcome);
    assertEquals(transaction.visible().containsKey(rowId), changed[0]);
    if (changed[0]) {
      transaction.changes.add(new Change(rowId, null));
    }
  }

  /// A row that the transaction's snapshot or itself knows.
  private @Nullable Long pick(ModelTransaction transaction) {
    Set<Long> known = new HashSet<>(transaction.visibleAtBegin.keySet());
    transaction.changes.forEach(change -> known.add(change.rowId));
    List<Long> rowIds = known.stream().sorted().toList();
    // A row that was inserted and rolled back is no row any more. So only rows that are or were
    // visible are picked.
    return rowIds.isEmpty() ? null : rowIds.get(random.nextInt(rowIds.size()));
  }

  private @Nullable String conflict(ModelTransaction transaction, long rowId) {
    for (ModelTransaction other : running) {
      if (other != transaction && other.wrote(rowId)) {
        return RowConflict.Kind.OWNER_ACTIVE.name();
      }
    }
    return lastCommit.getOrDefault(rowId, 0) > transaction.snapshot
        ? RowConflict.Kind.CHANGED_SINCE_SNAPSHOT.name()
        : null;
  }

  /// How a new row (or version of `self`) with a key may be refused; empty: not at all.
  private Set<String> refusals(ModelTransaction transaction, long id, long self) {
    Set<String> refusals = new HashSet<>();
    Set<Long> undecided = new HashSet<>();
    for (ModelTransaction other : running) {
      for (Change change : other.changes) {
        if (other == transaction) {
          continue;
        }
        undecided.add(change.rowId);
        Values before = committed.get(change.rowId);
        if ((change.values != null && change.values.id == id)
            || (before != null && before.id == id)) {
          refusals.add(RowConflict.Kind.OWNER_ACTIVE.name());
        }
      }
    }
    Map<Long, Values> latest = new TreeMap<>(committed);
    for (Change change : transaction.changes) {
      if (change.values == null) {
        latest.remove(change.rowId);
      } else {
        latest.put(change.rowId, change.values);
      }
    }
    latest.forEach((rowId, values) -> {
      if (rowId != self && !undecided.contains(rowId) && values.id == id) {
        refusals.add("duplicate");
      }
    });
    return refusals;
  }

  private static String outcome(Runnable change) {
    try {
      change.run();
      return "done";
    } catch (RowConflict e) {
      return e.kind().name();
    } catch (DuplicateKey e) {
      return "duplicate";
    }
  }

  private void read(ModelTransaction transaction) {
    ReadView view = transaction.real.beginStatement();
    transaction.views.add(new Seen(view, transaction.changes.size(), transaction.visible()));
    Seen seen = transaction.views.get(random.nextInt(transaction.views.size()));
    checkRows(Rows.scan(table, seen.view), seen.rows);
    checkRows(Rows.indexScan(table, seen.view, PRIMARY, KeyRange.ALL), seen.rows);
    checkRows(Rows.indexScan(table, seen.view, BY_NAME, KeyRange.ALL), seen.rows);
    long low = random.nextInt(KEYS);
    long high = random.nextInt(KEYS);
    KeyRange range = new KeyRange(0, new long[0], true, low, true, true, high, false);
    List<List<@Nullable Object>> expected =
        seen.rows.values().stream()
            .filter(values -> values.id >= low && values.id < high)
            .sorted(Comparator.comparingLong(Values::id))
            .map(StoreModelTest::list)
            .toList();
    boolean reverse = random.nextBoolean();
    RowCursor cursor =
        table.indexScan(seen.view, PRIMARY, range, reverse, new int[] {0, 1, 2}, true);
    assertEquals(reverse ? expected.reversed() : expected, Rows.values(Rows.drain(cursor, table)));
    String name = "n" + random.nextInt(6) + "xxx";
    try (VarHeap heap = new VarHeap()) {
      long count = seen.rows.values().stream().filter(v -> name.equals(v.name)).count();
      assertEquals(
          count,
          Rows.indexScan(table, seen.view, BY_NAME, KeyRange.equal(Rows.text(heap, name))).size());
    }
  }

  private static List<@Nullable Object> list(Values values) {
    return Arrays.asList(values.id, values.name, values.amount);
  }

  private static void checkRows(List<Rows.Row> found, Map<Long, Values> expected) {
    Map<Long, List<@Nullable Object>> byRowId = new TreeMap<>();
    for (Rows.Row row : found) {
      assertEquals(null, byRowId.put(row.rowId(), row.values()), "a row was found twice");
    }
    Map<Long, List<@Nullable Object>> wanted = new TreeMap<>();
    expected.forEach((rowId, values) -> wanted.put(rowId, list(values)));
    assertEquals(wanted, byRowId);
  }
}
