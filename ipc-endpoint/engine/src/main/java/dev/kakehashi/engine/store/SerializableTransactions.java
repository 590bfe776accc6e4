package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.index.KeyBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Which serializable transactions run, and what those that have ended had read: serializable snapshot isolation (Cahill, Röhm, Fekete 2008; Ports, Grittner 2012), decided at the
/// commit.
///
/// A transaction is **overtaken** when another one commits a change of what it has read, after its snapshot: it comes before the other in every serial order. That alone is no
/// harm. Every cycle has a transaction R that is overtaken by a T, which is overtaken by a U that has committed first of all in the cycle (and, if R has changed nothing, before
/// R's snapshot). So a commit is refused if it would complete such a pair:
///
/// * of a T that is overtaken: if an R that runs or has ended has read what T changes ([#isRead]);
/// * of an R: if a T that overtakes it was itself overtaken before its commit (`Garbage.overtakenBy`, looked at by the commit's validation).
///
/// Who is not overtaken, mostly everybody, costs nothing more than to find that out. A read-only transaction is never refused: while it runs, it counts as if it read everything.
/// It is noted only if transactions that change something run when it begins; otherwise nobody can come to be before it.
///
/// What is kept is bounded: of more than [#MOST_ENDED] the older half become one that has read their tables as a whole, and a T whose changes are too many to be compared
/// with all of it is refused.
///
/// Guarded by the commit lock.
final class SerializableTransactions {
  /// No commit has overtaken it.
  static final long NOBODY = Long.MAX_VALUE;

  private static final int MOST_ENDED = 4096;

  /// Rows that are compared with what was read, in one commit: some milliseconds under the lock.
  private static final int MOST_COMPARISONS = 1 << 13;

  /// @param until commit timestamp of one that has changed something, otherwise the snapshot: who is overtaken by a later commit need not care
  private record Ended(ReadSet reads, long until) {}

  /// Those that may change something, in the order in which they began, with their first snapshots.
  private final Map<RowTransaction, Long> running = new LinkedHashMap<>();

  /// Read-only ones that some of those may have to come before.
  private final List<RowTransaction> readers = new ArrayList<>();

  private final Deque<Ended> ended = new ArrayDeque<>();

  void begin(RowTransaction transaction) {
    running.put(transaction, transaction.snapshot());
  }

  /// Whether a read-only transaction that begins now has to be noted.
  boolean mattersTo() {
    return !running.isEmpty();
  }

  void beginReader(RowTransaction reader) {
    readers.add(reader);
  }

  /// Whether others than this one validate what they have read.
  boolean runsBeside(RowTransaction transaction) {
    return running.size() > (running.containsKey(transaction) ? 1 : 0);
  }

  /// It keeps what it has read from being changed by other means, or is rolled back. Idempotent.
  void leave(RowTransaction transaction) {
    if (running.remove(transaction) != null) {
      forget();
    }
  }

  /// It has committed, or ends without changes.
  ///
  /// @param until see [Ended]
  void ended(RowTransaction transaction, ReadSet reads, long until) {
    running.remove(transaction);
    readers.remove(transaction);
    forget();
    if (running.isEmpty() || reads.isEmpty() || until <= oldest()) {
      return;
    }
    ended.add(new Ended(reads, until));
    if (ended.size() > MOST_ENDED) {
      summarize();
    }
  }

  private long oldest() {
    return running.values().iterator().next();
  }

  /// Forgets those that nobody who runs can be overtaken before.
  private void forget() {
    if (running.isEmpty()) {
      ended.clear();
    } else if (!ended.isEmpty() && ended.getFirst().until() <= oldest()) {
      long oldest = oldest();
      ended.removeIf(each -> each.until() <= oldest);
    }
  }

  private void summarize() {
    ReadSet all = new ReadSet();
    long until = 0;
    for (int i = 0; i <= MOST_ENDED / 2; i++) {
      Ended each = ended.removeFirst();
      each.reads().tables().forEach(all::addTable);
      each.reads().rangedTables().forEach(all::addTable);
      until = Math.max(until, each.until());
    }
    ended.addFirst(new Ended(all, until));
  }

  /// Whether somebody who does not see the changes of a transaction that is about to commit has read, or may come to read, what they change, so that he comes before it.
  ///
  /// @param overtakenBy the earliest commit that has overtaken the transaction
  boolean isRead(RowTransaction transaction, long overtakenBy) {
    if (!transaction.definitions().isEmpty()) {
      return true;
    }
    for (RowTransaction reader : readers) {
      if (reader.snapshot() >= overtakenBy) {
        return true;
      }
    }
    Changes changes = new Changes(transaction);
    for (Ended each : ended) {
      if (each.until() >= overtakenBy && changes.touch(each.reads())) {
        return true;
      }
    }
    // Those that run find out themselves. But who has read much would do so at the end of his work:
    // better now.
    for (Map.Entry<RowTransaction, Long> each : running.entrySet()) {
      ReadSet reads = each.getKey().readSet;
      if (each.getKey() != transaction
          && reads != null
          && each.getValue() >= overtakenBy
          && changes.touch(reads)) {
        return true;
      }
    }
    return false;
  }

  /// Rows that a transaction has changed and not committed yet.
  private static final class Changes {
    private final RowTransaction transaction;
    private final RowReader reader;
    private final KeyBuffer key = new KeyBuffer(64);
    private int comparisons;

    Changes(RowTransaction transaction) {
      this.transaction = transaction;
      this.reader = new RowReader(transaction.store);
    }

    /// Whether one of them was read; true also if there is too much to compare.
    boolean touch(ReadSet reads) {
      WriteList writes = transaction.writes();
      RowTable last = null;
      List<ReadSet.Range> ranges = List.of();
      for (int i = 0; i < writes.size(); i++) {
        Page page = writes.page(i);
        if (page.table != last) {
          last = page.table;
          if (reads.hasTable(last.tableId())) {
            return true;
          }
          ranges = reads.ranges(last.tableId());
        }
        if (ranges.isEmpty() || writes.isLock(i)) {
          continue;
        }
        comparisons += ranges.size();
        if (comparisons > MOST_COMPARISONS) {
          return true;
        }
        for (ReadSet.Range range : ranges) {
          if (reader.touchesInFlight(page, writes.rowSlot(i), transaction, range, key)) {
            return true;
          }
        }
      }
      return false;
    }
  }
}
