package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Locks of rows by two transactions, and their ends. A change of a row locks it, too.
final class StoreRowLocksTest extends StoreTestBase {
  /// As PostgreSQL's documentation has it in "Explicit Locking".
  private static final Map<LockStrength, Set<LockStrength>> CONFLICTS =
      Map.of(
          LockStrength.KEY_SHARE,
          EnumSet.of(LockStrength.UPDATE),
          LockStrength.SHARE,
          EnumSet.of(LockStrength.NO_KEY_UPDATE, LockStrength.UPDATE),
          LockStrength.NO_KEY_UPDATE,
          EnumSet.of(LockStrength.SHARE, LockStrength.NO_KEY_UPDATE, LockStrength.UPDATE),
          LockStrength.UPDATE,
          EnumSet.allOf(LockStrength.class));

  /// Actions that take a lock.
  enum Action {
    KEY_SHARE(LockStrength.KEY_SHARE),
    SHARE(LockStrength.SHARE),
    NO_KEY_UPDATE(LockStrength.NO_KEY_UPDATE),
    UPDATE(LockStrength.UPDATE),
    CHANGE_AMOUNT(LockStrength.NO_KEY_UPDATE),
    CHANGE_NAME(LockStrength.NO_KEY_UPDATE),
    CHANGE_KEY(LockStrength.UPDATE),
    DELETE(LockStrength.UPDATE);

    private final LockStrength strength;

    Action(LockStrength strength) {
      this.strength = strength;
    }

    boolean isChange() {
      return compareTo(CHANGE_AMOUNT) >= 0;
    }
  }

  private static boolean conflict(LockStrength a, LockStrength b) {
    return Objects.requireNonNull(CONFLICTS.get(a)).contains(b);
  }

  private boolean act(Action action, StoreTransaction transaction, long rowId) {
    transaction.beginStatement();
    return switch (action) {
      case CHANGE_AMOUNT -> Rows.update(table, transaction, rowId, 1L, "one", 11L);
      case CHANGE_NAME -> Rows.update(table, transaction, rowId, 1L, "uno", 10L);
      case CHANGE_KEY -> Rows.update(table, transaction, rowId, 7L, "one", 10L);
      case DELETE -> table.delete(transaction, rowId);
      default -> table.lock(transaction, rowId, action.strength);
    };
  }

  private void assertRefused(StoreTransaction holder, Action action, long rowId) {
    StoreTransaction other = begin();
    try {
      RowConflict refused = assertThrows(RowConflict.class, () -> act(action, other, rowId));
      assertEquals(RowConflict.Kind.OWNER_ACTIVE, refused.kind());
      assertEquals(List.of(holder), refused.owners());
    } finally {
      other.abort();
    }
  }

  private void assertFree(Action action, long rowId) {
    StoreTransaction other = begin();
    try {
      assertTrue(act(action, other, rowId), action + " finds the row");
    } finally {
      other.abort();
    }
  }

  private void assertHeld(StoreTransaction holder, LockStrength strength, long rowId) {
    for (Action action : Action.values()) {
      if (conflict(strength, action.strength)) {
        assertRefused(holder, action, rowId);
      } else {
        assertFree(action, rowId);
      }
    }
  }

  @Test
  void shouldHaveTheTableOfPostgresql() {
    for (LockStrength a : LockStrength.values()) {
      for (LockStrength b : LockStrength.values()) {
        assertEquals(conflict(a, b), a.conflictsWith(b), a + " and " + b);
        assertEquals(a.conflictsWith(b), b.conflictsWith(a), a + " and " + b);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldKeepFromOthersWhatConflictsUntilTheEnd(Action first) {
    long rowId = insertCommitted(1L, "one", 10L);
    StoreTransaction holder = begin();
    assertTrue(act(first, holder, rowId));
    assertHeld(holder, first.strength, rowId);
    holder.abort();
    for (Action action : Action.values()) {
      assertFree(action, rowId);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldBecomeStrongerAndNeverWeakerInOneTransaction(Action first) {
    long key = 0;
    for (Action second : Action.values()) {
      if (first == Action.DELETE) {
        continue;
      }
      key++;
      long rowId = insertCommitted(key, "x", 1L);
      StoreTransaction holder = begin();
      lockOrChange(first, holder, rowId, key);
      lockOrChange(second, holder, rowId, key);
      LockStrength stronger =
          first.strength.compareTo(second.strength) > 0 ? first.strength : second.strength;
      for (LockStrength wanted : LockStrength.values()) {
        StoreTransaction other = begin();
        other.beginStatement();
        if (conflict(stronger, wanted)) {
          assertThrows(
              RowConflict.class,
              () -> table.lock(other, rowId, wanted),
              first + ", " + second + ", then " + wanted);
        } else {
          assertTrue(table.lock(other, rowId, wanted));
        }
        other.abort();
      }
      holder.abort();
    }
  }

  private void lockOrChange(Action action, StoreTransaction transaction, long rowId, long key) {
    transaction.beginStatement();
    boolean done =
        switch (action) {
          case CHANGE_AMOUNT -> Rows.update(table, transaction, rowId, key, "x", 11L);
          case CHANGE_NAME -> Rows.update(table, transaction, rowId, key, "uno", 10L);
          case CHANGE_KEY -> Rows.update(table, transaction, rowId, key + 1000, "x", 10L);
          case DELETE -> table.delete(transaction, rowId);
          default -> table.lock(transaction, rowId, action.strength);
        };
    assertTrue(done);
  }

  @ParameterizedTest
  @EnumSource
  void shouldHoldTheRowOverVersionsOfOthers(Action change) {
    if (!change.isChange()) {
      return;
    }
    long rowId = insertCommitted(1L, "one", 10L);
    StoreTransaction sharer = begin();
    act(Action.KEY_SHARE, sharer, rowId);
    StoreTransaction changer = begin();
    if (change.strength == LockStrength.UPDATE) {
      assertThrows(RowConflict.class, () -> act(change, changer, rowId));
      changer.abort();
    } else {
      assertTrue(act(change, changer, rowId));
      Rows.commit(changer);
    }
    assertHeld(sharer, LockStrength.KEY_SHARE, rowId);
    Rows.commit(sharer);
    assertFree(Action.DELETE, rowId);
  }

  @Test
  void shouldShareKeysOfARowThatIsBeingChanged() {
    long rowId = insertCommitted(1L, "one", 10L);
    StoreTransaction changer = begin();
    act(Action.CHANGE_NAME, changer, rowId);
    StoreTransaction sharer = begin();
    assertTrue(act(Action.KEY_SHARE, sharer, rowId));
    assertThrows(RowConflict.class, () -> act(Action.DELETE, changer, rowId));
    assertThrows(RowConflict.class, () -> act(Action.UPDATE, changer, rowId));
    assertTrue(act(Action.CHANGE_AMOUNT, changer, rowId));
    Rows.commit(changer);
    assertHeld(sharer, LockStrength.KEY_SHARE, rowId);
    sharer.abort();
  }

  @Test
  void shouldNameAllHolders() {
    long rowId = insertCommitted(1L, "one", 10L);
    StoreTransaction first = begin();
    StoreTransaction second = begin();
    StoreTransaction third = begin();
    act(Action.SHARE, first, rowId);
    act(Action.KEY_SHARE, second, rowId);
    act(Action.SHARE, third, rowId);
    StoreTransaction other = begin();
    RowConflict all = assertThrows(RowConflict.class, () -> act(Action.DELETE, other, rowId));
    assertEquals(Set.of(first, second, third), Set.copyOf(all.owners()));
    RowConflict sharers =
        assertThrows(RowConflict.class, () -> act(Action.CHANGE_AMOUNT, other, rowId));
    assertEquals(Set.of(first, third), Set.copyOf(sharers.owners()));
    // One that shares cannot change it either, but for itself alone.
    RowConflict own = assertThrows(RowConflict.class, () -> act(Action.DELETE, first, rowId));
    assertEquals(Set.of(second, third), Set.copyOf(own.owners()));
    third.abort();
    second.abort();
    assertTrue(act(Action.DELETE, first, rowId));
    first.abort();
    other.abort();
  }

  @Test
  void shouldLetGoOfWhatWasLockedSinceAMark() {
    long rowId = insertCommitted(1L, "one", 10L);
    StoreTransaction holder = begin();
    long none = holder.mark();
    act(Action.KEY_SHARE, holder, rowId);
    long keyShare = holder.mark();
    act(Action.SHARE, holder, rowId);
    long share = holder.mark();
    act(Action.CHANGE_AMOUNT, holder, rowId);
    long changed = holder.mark();
    act(Action.UPDATE, holder, rowId);
    assertHeld(holder, LockStrength.UPDATE, rowId);
    holder.rollbackTo(changed);
    assertHeld(holder, LockStrength.NO_KEY_UPDATE, rowId);
    holder.rollbackTo(share);
    assertHeld(holder, LockStrength.SHARE, rowId);
    holder.rollbackTo(keyShare);
    assertHeld(holder, LockStrength.KEY_SHARE, rowId);
    act(Action.SHARE, holder, rowId);
    assertHeld(holder, LockStrength.SHARE, rowId);
    holder.rollbackTo(keyShare);
    assertHeld(holder, LockStrength.KEY_SHARE, rowId);
    holder.rollbackTo(none);
    assertFree(Action.DELETE, rowId);
    act(Action.DELETE, holder, rowId);
    assertHeld(holder, LockStrength.UPDATE, rowId);
    holder.rollbackTo(none);
    assertFree(Action.DELETE, rowId);
    holder.abort();
  }

  @Test
  void shouldTellApartLocksAndChangesOfTheCatalogueInMarks() {
    long one = insertCommitted(1L, "one", 10L);
    long two = insertCommitted(2L, "two", 20L);
    StoreTransaction holder = begin();
    act(Action.SHARE, holder, one);
    long locked = holder.mark();
    holder.define(new Store.CatalogChange.Put("probe/1", new byte[] {1}));
    long defined = holder.mark();
    act(Action.SHARE, holder, two);
    holder.define(new Store.CatalogChange.Put("probe/2", new byte[] {2}));
    long both = holder.mark();
    assertEquals(2, holder.definitions().size());
    act(Action.UPDATE, holder, two);
    holder.rollbackTo(both);
    assertEquals(2, holder.definitions().size());
    assertHeld(holder, LockStrength.SHARE, two);
    holder.rollbackTo(defined);
    assertEquals(1, holder.definitions().size());
    assertFree(Action.DELETE, two);
    assertRefused(holder, Action.DELETE, one);
    holder.rollbackTo(locked);
    assertEquals(0, holder.definitions().size());
    assertRefused(holder, Action.DELETE, one);
    holder.abort();
  }

  @Test
  void shouldHoldManyRowsOfAPage() {
    List<Long> rowIds = new ArrayList<>();
    for (long i = 0; i < 200; i++) {
      rowIds.add(insertCommitted(i, "x", i));
    }
    StoreTransaction holder = begin();
    long mark = 0;
    for (int i = 0; i < 200; i += 2) {
      if (i == 100) {
        mark = holder.mark();
      }
      act(i % 4 == 0 ? Action.KEY_SHARE : Action.SHARE, holder, rowIds.get(i));
    }
    for (int i = 0; i < 200; i++) {
      LockStrength strength =
          i % 2 == 1 ? null : i % 4 == 0 ? LockStrength.KEY_SHARE : LockStrength.SHARE;
      assertLocked(strength, rowIds.get(i));
    }
    holder.rollbackTo(mark);
    for (int i = 0; i < 200; i++) {
      boolean left = i < 100 && i % 2 == 0;
      LockStrength strength = i % 4 == 0 ? LockStrength.KEY_SHARE : LockStrength.SHARE;
      assertLocked(left ? strength : null, rowIds.get(i));
    }
    Rows.commit(holder);
    rowIds.forEach(rowId -> assertLocked(null, rowId));
  }

  /// @param strength null: nobody has the row
  private void assertLocked(@Nullable LockStrength strength, long rowId) {
    for (LockStrength wanted : LockStrength.values()) {
      StoreTransaction other = begin();
      other.beginStatement();
      boolean refused;
      try {
        table.lock(other, rowId, wanted);
        refused = false;
      } catch (RowConflict conflict) {
        refused = true;
      }
      other.abort();
      assertEquals(strength != null && conflict(strength, wanted), refused, wanted + " " + rowId);
    }
  }

  // ---- snapshots ----

  @Test
  void shouldShareKeysThatStayedSinceTheSnapshot() {
    long rowId = insertCommitted(1L, "one", 10L);
    StoreTransaction old = begin();
    old.beginStatement();
    StoreTransaction changer = begin();
    act(Action.CHANGE_NAME, changer, rowId);
    assertTrue(table.lock(old, rowId, LockStrength.KEY_SHARE));
    Rows.commit(changer);
    assertTrue(table.lock(old, rowId, LockStrength.KEY_SHARE));
    for (LockStrength stronger : EnumSet.range(LockStrength.SHARE, LockStrength.UPDATE)) {
      RowConflict changed = assertThrows(RowConflict.class, () -> table.lock(old, rowId, stronger));
      assertEquals(RowConflict.Kind.CHANGED_SINCE_SNAPSHOT, changed.kind());
    }
    old.abort();
  }

  @Test
  void shouldNotShareKeysThatWentAwaySinceTheSnapshot() {
    for (Action change : List.of(Action.CHANGE_KEY, Action.DELETE)) {
      long rowId = insertCommitted(1L, "one", 10L);
      StoreTransaction old = begin();
      old.beginStatement();
      StoreTransaction changer = begin();
      act(change, changer, rowId);
      Rows.commit(changer);
      StoreTransaction later = begin();
      later.beginStatement();
      if (change == Action.CHANGE_KEY) {
        Rows.update(table, later, rowId, 7L, "again", 12L);
      }
      RowConflict changed =
          assertThrows(RowConflict.class, () -> table.lock(old, rowId, LockStrength.KEY_SHARE));
      assertEquals(RowConflict.Kind.CHANGED_SINCE_SNAPSHOT, changed.kind());
      later.abort();
      old.abort();
      StoreTransaction now = begin();
      now.beginStatement();
      assertEquals(change == Action.CHANGE_KEY, table.lock(now, rowId, LockStrength.KEY_SHARE));
      now.abort();
    }
  }

  // ---- two phases ----

  private static void prepare(StoreTransaction transaction, String globalId) {
    CompletableFuture<@Nullable Throwable> result = new CompletableFuture<>();
    transaction.prepare(new Preparation(globalId, "me", "me", 0, 0), result::complete);
    assertNull(result.orTimeout(60, TimeUnit.SECONDS).join());
  }

  private static void rollback(StoreTransaction prepared) {
    CompletableFuture<@Nullable Throwable> result = new CompletableFuture<>();
    prepared.rollbackPrepared(result::complete);
    assertNull(result.orTimeout(60, TimeUnit.SECONDS).join());
  }

  @ParameterizedTest
  @EnumSource
  void shouldHoldForPreparedTransactionsAlsoAfterARestart(Action first) {
    for (boolean committed : new boolean[] {true, false}) {
      long rowId = insertCommitted(1L, "one", 10L);
      long other = insertCommitted(2L, "two", 20L);
      StoreTransaction holder = begin();
      act(first, holder, rowId);
      prepare(holder, "held");
      assertHeld(holder, first.strength, rowId);
      reopen();
      StoreTransaction found = store.prepared().getFirst();
      assertTrue(found.knowsLocks());
      assertEquals(Set.of(tableId), found.changedTables());
      assertHeld(found, first.strength, rowId);
      assertFree(Action.DELETE, other);
      if (committed) {
        Rows.commit(found);
      } else {
        rollback(found);
      }
      if (!committed || first != Action.DELETE) {
        assertLocked(null, rowId);
      }
      reopen();
      assertEquals(List.of(), store.prepared());
      for (Rows.Row left : rows()) {
        StoreTransaction cleaner = begin();
        cleaner.beginStatement();
        table.delete(cleaner, left.rowId());
        Rows.commit(cleaner);
      }
    }
  }

  @Test
  void shouldPrepareWhatWasNotRolledBack() {
    long one = insertCommitted(1L, "one", 10L);
    long two = insertCommitted(2L, "two", 20L);
    long three = insertCommitted(3L, "three", 30L);
    StoreTransaction holder = begin();
    act(Action.KEY_SHARE, holder, one);
    act(Action.NO_KEY_UPDATE, holder, two);
    long mark = holder.mark();
    act(Action.SHARE, holder, one);
    act(Action.UPDATE, holder, two);
    act(Action.SHARE, holder, three);
    holder.rollbackTo(mark);
    prepare(holder, "held");
    reopen();
    assertLocked(LockStrength.KEY_SHARE, one);
    assertLocked(LockStrength.NO_KEY_UPDATE, two);
    assertLocked(null, three);
    rollback(store.prepared().getFirst());
  }
}
