package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.engine.store.api.OwnChange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.StoreTransaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Changes of the own transaction that statements of a client's commands see.
final class OwnCommandsTest extends StoreTestBase {
  private static final KeyRange ALL = KeyRange.ALL;

  @Test
  void shouldNotSeeWhatTheSameCommandDidBefore() {
    StoreTransaction transaction = begin();
    insert(transaction, 1, 1L);
    assertEquals(List.of(), ids(transaction, 1));
    insert(transaction, 1, 2L);
    assertEquals(List.of(), ids(transaction, 1));
    assertEquals(List.of(1L, 2L), ids(transaction, 2));
    assertEquals(List.of(1L, 2L), ids(transaction, 0));
    transaction.abort();
  }

  @Test
  void shouldSeeEarlierCommandsThatGoOnAfterLaterOnes() {
    StoreTransaction transaction = begin();
    insert(transaction, 5, 1L);
    insert(transaction, 7, 2L);
    insert(transaction, 5, 3L);
    insert(transaction, 0, 4L);
    assertEquals(List.of(4L), ids(transaction, 5));
    assertEquals(List.of(1L, 3L, 4L), ids(transaction, 6));
    assertEquals(List.of(1L, 3L, 4L), ids(transaction, 7));
    assertEquals(List.of(1L, 2L, 3L, 4L), ids(transaction, 8));
    transaction.abort();
  }

  @Test
  void shouldCompareCommandsUnsigned() {
    StoreTransaction transaction = begin();
    insert(transaction, -2, 1L);
    assertEquals(List.of(), ids(transaction, Integer.MAX_VALUE));
    assertEquals(List.of(1L), ids(transaction, -1));
    transaction.abort();
  }

  @Test
  void shouldStillRefuseDuplicatesOfRowsThatAreNotSeen() {
    StoreTransaction transaction = begin();
    insert(transaction, 1, 1L);
    assertThrows(DuplicateKey.class, () -> insert(transaction, 1, 1L));
    transaction.abort();
  }

  @Test
  void shouldSayWhatOwnCommandsDidToARow() {
    long rowId = insertCommitted(1L, "one", 10L);
    StoreTransaction transaction = begin();
    transaction.changeFor(3);
    ReadView first = transaction.beginStatement(3);
    assertTrue(table.lock(transaction, rowId, LockStrength.UPDATE));
    assertEquals(OwnChange.NONE, table.ownChange(transaction.beginStatement(3), rowId));
    assertEquals(OwnChange.NONE, table.ownChange(first, rowId));
    assertTrue(Rows.update(table, transaction, rowId, 1L, "one", 11L));
    assertEquals(OwnChange.SAME_COMMAND, table.ownChange(transaction.beginStatement(3), rowId));
    assertEquals(OwnChange.LATER_COMMAND, table.ownChange(transaction.beginStatement(2), rowId));
    assertEquals(OwnChange.NONE, table.ownChange(transaction.beginStatement(4), rowId));
    assertEquals(OwnChange.NONE, table.ownChange(transaction.beginStatement(), rowId));
    transaction.abort();
  }

  @Test
  void shouldForgetWhatWasRolledBack() {
    long rowId = insertCommitted(1L, "one", 10L);
    StoreTransaction transaction = begin();
    transaction.changeFor(2);
    transaction.beginStatement(2);
    long mark = transaction.mark();
    assertTrue(table.delete(transaction, rowId));
    transaction.rollbackTo(mark);
    assertEquals(OwnChange.NONE, table.ownChange(transaction.beginStatement(2), rowId));
    assertEquals(List.of(1L), ids(transaction, 2));
    assertTrue(table.delete(transaction, rowId));
    assertEquals(List.of(1L), ids(transaction, 2));
    assertEquals(List.of(), ids(transaction, 3));
    transaction.abort();
  }

  /// Commands change and read in any order, through scans, both indexes and row by row.
  @Test
  void shouldSeeWhatAModelSees() {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    for (int round = 0; round < 60; round++) {
      try {
        new Run(new Random(seed + round)).go();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("-Dkakehashi.seed=" + (seed + round), e);
      }
    }
  }

  private void insert(StoreTransaction transaction, int command, long id) {
    transaction.changeFor(command);
    transaction.beginStatement(command);
    Rows.insert(table, transaction, id, "name", id);
  }

  private List<Long> ids(StoreTransaction transaction, int command) {
    return Rows.indexScan(table, transaction.beginStatement(command), PRIMARY, ALL).stream()
        .map(row -> (Long) Objects.requireNonNull(row.values().getFirst()))
        .toList();
  }

  /// One transaction beside its model, which keeps all versions of each row.
  private final class Run {
    private static final int STEPS = 80;
    private static final int COMMANDS = 6;

    /// @param command of it; 0: none, visible to all
    /// @param values null: deleted
    private record Version(int command, @Nullable List<@Nullable Object> values) {}

    private record Kept(ReadView view, List<Rows.Row> rows) {}

    private final Random random;
    private final Map<Long, List<Version>> chains = new HashMap<>();
    private final List<Long> log = new ArrayList<>();
    private final List<Kept> kept = new ArrayList<>();
    private long nextId;

    Run(Random random) {
      this.random = random;
      for (Rows.Row row : rows()) {
        chains.put(row.rowId(), new ArrayList<>(List.of(new Version(0, row.values()))));
        nextId = Math.max(nextId, (Long) Objects.requireNonNull(row.values().getFirst()) + 1);
      }
    }

    void go() {
      StoreTransaction transaction = begin();
      long mark = 0;
      int marked = 0;
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(10)) {
          case 0 -> {
            mark = transaction.mark();
            marked = log.size();
          }
          case 1 -> {
            transaction.rollbackTo(mark);
            while (log.size() > marked) {
              List<Version> chain = chains.get(log.removeLast());
              Objects.requireNonNull(chain).removeLast();
            }
            kept.clear();
          }
          case 2, 3, 4 -> look(transaction);
          default -> change(transaction);
        }
      }
      look(transaction);
      for (Kept each : kept) {
        check(each.view, each.rows);
      }
      if (random.nextBoolean()) {
        Rows.commit(transaction);
        chains
            .values()
            .forEach(chain -> {
              Version last = chain.isEmpty() ? null : chain.getLast();
              chain.clear();
              if (last != null) {
                chain.add(new Version(0, last.values));
              }
            });
      } else {
        transaction.abort();
        chains
            .values()
            .forEach(chain -> {
              while (chain.size() > 1) {
                chain.removeLast();
              }
            });
        // Rows that it has inserted are gone with their only version.
        chains.keySet().retainAll(rows().stream().map(Rows.Row::rowId).toList());
      }
      assertEquals(sorted(visible(0)), sorted(rows()));
    }

    private void look(StoreTransaction transaction) {
      int command = random.nextInt(COMMANDS + 1);
      ReadView view = transaction.beginStatement(command);
      List<Rows.Row> expected = sorted(visible(command));
      check(view, expected);
      kept.add(new Kept(view, expected));
    }

    private void check(ReadView view, List<Rows.Row> expected) {
      assertEquals(expected, sorted(Rows.scan(table, view)));
      assertEquals(expected, sorted(Rows.indexScan(table, view, PRIMARY, ALL)));
      assertEquals(expected, sorted(Rows.indexScan(table, view, BY_NAME, ALL)));
      chains
          .keySet()
          .forEach(rowId -> {
            try (var batch = Rows.batch(null, null, null)) {
              assertEquals(
                  expected.stream().anyMatch(row -> row.rowId() == rowId),
                  table.read(view, rowId, Rows.allColumns(table), batch));
            }
          });
    }

    private void change(StoreTransaction transaction) {
      int command = random.nextInt(COMMANDS + 1);
      transaction.changeFor(command);
      ReadView view = transaction.beginStatement(command);
      List<Rows.Row> found = visible(command);
      if (found.isEmpty() || random.nextInt(3) == 0) {
        List<@Nullable Object> values = values(nextId++);
        long rowId = Rows.insert(table, transaction, values.toArray());
        note(rowId, new Version(command, values));
        return;
      }
      Rows.Row row = found.get(random.nextInt(found.size()));
      Version newest = Objects.requireNonNull(chains.get(row.rowId())).getLast();
      OwnChange own =
          command == 0 || newest.command < command
              ? OwnChange.NONE
              : newest.command == command ? OwnChange.SAME_COMMAND : OwnChange.LATER_COMMAND;
      assertEquals(own, table.ownChange(view, row.rowId()));
      if (own != OwnChange.NONE) {
        return;
      }
      if (random.nextInt(3) == 0) {
        boolean deleted = table.delete(transaction, row.rowId());
        assertTrue(deleted);
        note(row.rowId(), new Version(command, null));
      } else {
        long id = (Long) Objects.requireNonNull(row.values().getFirst());
        List<@Nullable Object> values = values(random.nextInt(4) == 0 ? nextId++ : id);
        assertTrue(Rows.update(table, transaction, row.rowId(), values.toArray()));
        note(row.rowId(), new Version(command, values));
      }
    }

    private List<@Nullable Object> values(long id) {
      return List.of(id, "name " + random.nextInt(5), random.nextLong());
    }

    private void note(long rowId, Version version) {
      chains.computeIfAbsent(rowId, id -> new ArrayList<>()).add(version);
      log.add(rowId);
      assertFalse(chains.isEmpty());
    }

    /// Rows that a statement of a command sees that begins now.
    private List<Rows.Row> visible(int command) {
      List<Rows.Row> rows = new ArrayList<>();
      chains.forEach((rowId, chain) -> {
        for (Version version : chain.reversed()) {
          if (version.command == 0 || command == 0 || version.command < command) {
            if (version.values != null) {
              rows.add(new Rows.Row(rowId, version.values));
            }
            return;
          }
        }
      });
      return rows;
    }

    private static List<Rows.Row> sorted(List<Rows.Row> rows) {
      return rows.stream().sorted(Comparator.comparingLong(Rows.Row::rowId)).toList();
    }
  }
}
