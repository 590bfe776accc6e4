package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.StoreTransaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Rows get values of columns that no row of their page has had: while the pages get room for them, every snapshot must see the same sum,
/// and each row whole (its text repeats its number). Between the rounds columns come and go.
final class StoreAnnexTest extends StoreTestBase {
  private static final int ROWS = 6_000;
  private static final int ROUNDS = 12;
  private static final int TRANSACTIONS = 120;
  private static final int WRITERS = 3;
  private static final int READERS = 2;

  /// The columns of the round: a number, and a text that repeats it.
  private static final int FIRST_ADDED = 3;

  private final AtomicInteger writing = new AtomicInteger();
  private final AtomicLong looks = new AtomicLong();

  /// Values of each writer's rows in the columns of the round.
  private final List<Map<Long, Long>> models = new ArrayList<>();

  @Test
  void shouldShowEverySnapshotTheSameSumWhilePagesGetRoom() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("StoreAnnexTest seed " + seed);
    StoreTransaction filler = begin();
    filler.beginStatement();
    for (long id = 0; id < ROWS; id++) {
      Rows.insert(table, filler, id, "name " + id, id);
    }
    Rows.commit(filler);
    assertTrue(table.pageCount() > 3);
    Random random = new Random(seed);
    try (ExecutorService executor = Executors.newFixedThreadPool(WRITERS + READERS)) {
      for (int round = 0; round < ROUNDS; round++) {
        String when = "seed %d, round %d".formatted(seed, round);
        @Nullable Long missing = random.nextInt(4) == 0 ? null : (Long) (long) random.nextInt(300);
        CatalogTool.change(
            store, List.of(ColumnChanges.add(table.definition(), ColumnKind.INTEGER, missing)));
        CatalogTool.change(
            store,
            List.of(ColumnChanges.add(table.definition(), ColumnKind.VARLENA, text(missing))));
        run(executor, random, missing, when);
        compare(when);
        if (random.nextInt(3) == 0) {
          reopen();
          compare(when + " after a restart");
        }
        for (int c = 0; c < 2; c++) {
          CatalogTool.change(store, List.of(ColumnChanges.drop(table.definition(), FIRST_ADDED)));
        }
      }
    }
    Rows.collect(store);
    store.close();
    CheckReport.of(directory).assertSound();
    reopen();
    assertEquals(ROWS, rows().size());
  }

  private void run(ExecutorService executor, Random random, @Nullable Long missing, String when)
      throws Exception {
    models.clear();
    writing.set(WRITERS);
    List<Callable<Void>> work = new ArrayList<>();
    for (int w = 0; w < WRITERS; w++) {
      Map<Long, Long> model = new HashMap<>();
      for (long id = w; id < ROWS; id += WRITERS) {
        model.put(id, missing);
      }
      models.add(model);
      Random own = new Random(random.nextLong());
      int writer = w;
      work.add(() -> write(own, writer, model));
    }
    for (int r = 0; r < READERS; r++) {
      Random own = new Random(random.nextLong());
      work.add(() -> look(own, missing, when));
    }
    for (Future<Void> future : executor.invokeAll(work)) {
      future.get();
    }
  }

  private static @Nullable String text(@Nullable Long number) {
    return number == null ? null : number + ":" + "z".repeat((int) Math.floorMod(number, 90L));
  }

  /// Each transaction moves a sum between two rows of the writer's own.
  private Void write(Random random, int writer, Map<Long, Long> model) {
    try {
      for (int i = 0; i < TRANSACTIONS; i++) {
        StoreTransaction transaction = begin();
        ReadView view = transaction.beginStatement();
        long from = (long) random.nextInt(ROWS / WRITERS) * WRITERS + writer;
        long to = (long) random.nextInt(ROWS / WRITERS) * WRITERS + writer;
        if (from == to) {
          transaction.abort();
          continue;
        }
        long mark = transaction.mark();
        set(transaction, view, from, -1L);
        if (random.nextInt(3) > 0) {
          transaction.rollbackTo(mark);
        }
        long sum = random.nextInt(50);
        Long newFrom = number(model.get(from)) - sum;
        Long newTo = number(model.get(to)) + sum;
        view = transaction.beginStatement();
        set(transaction, view, from, newFrom);
        set(transaction, view, to, newTo);
        if (random.nextInt(6) == 0) {
          transaction.abort();
        } else {
          Rows.commit(transaction, i % 20 == 0);
          model.put(from, newFrom);
          model.put(to, newTo);
        }
      }
    } finally {
      writing.decrementAndGet();
    }
    return null;
  }

  private static long number(@Nullable Long value) {
    return value == null ? 0 : value;
  }

  private void set(StoreTransaction transaction, ReadView view, long id, @Nullable Long number) {
    Rows.Row row = Rows.indexScan(table, view, PRIMARY, KeyRange.equal(id)).getFirst();
    List<@Nullable Object> values = new ArrayList<>(row.values());
    values.set(FIRST_ADDED, number);
    values.set(FIRST_ADDED + 1, text(number));
    assertTrue(Rows.update(table, transaction, row.rowId(), values.toArray()));
  }

  private Void look(Random random, @Nullable Long missing, String when) {
    do {
      StoreTransaction transaction = store.begin(true, false);
      ReadView view = transaction.beginStatement();
      List<Rows.Row> rows =
          random.nextInt(3) == 0
              ? Rows.indexScan(table, view, PRIMARY, KeyRange.ALL)
              : Rows.scan(table, view);
      assertEquals(ROWS, rows.size(), when);
      long sum = 0;
      for (Rows.Row row : rows) {
        Long number = (Long) row.values().get(FIRST_ADDED);
        assertEquals(text(number), row.values().get(FIRST_ADDED + 1), when);
        sum += number(number);
      }
      assertEquals(ROWS * number(missing), sum, when);
      transaction.abort();
      looks.incrementAndGet();
    } while (writing.get() > 0);
    return null;
  }

  private void compare(String when) {
    Map<Long, Long> expected = new HashMap<>();
    models.forEach(expected::putAll);
    Map<Long, Long> found = new HashMap<>();
    for (Rows.Row row : rows()) {
      long id = (Long) row.values().getFirst();
      assertEquals(List.of("name " + id, id), row.values().subList(1, FIRST_ADDED), when);
      found.put(id, (Long) row.values().get(FIRST_ADDED));
    }
    assertEquals(expected, found, when);
  }
}
