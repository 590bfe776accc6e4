package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.garbage.Garbage;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.TableForm;
import dev.kakehashi.engine.store.version.ReadSet;
import dev.kakehashi.engine.store.version.RowReader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Which serializable transactions run, and what those that have ended had read: serializable snapshot isolation (Cahill, Röhm, Fekete
/// 2008; Ports, Grittner 2012), decided at the commit.
///
/// A transaction is **overtaken** when another one commits a change of what it has read, after its snapshot: it comes before the other in
/// every serial order. That alone is no harm. Every cycle has a transaction R that is overtaken by a T, which is overtaken by a U that has
/// committed first of all in the cycle (and, if R has changed nothing, before R's snapshot). So a commit is refused if it would complete
/// such a pair:
///
/// * of a T that is overtaken: if an R that runs or has ended has read what T changes ([#isRead]);
/// * of an R: if a T that overtakes it was itself overtaken before its commit (`Garbage.overtakenBy`, looked at by the commit's
///   validation).
///
/// A transaction that is not overtaken, as most are, costs only the check for that. A read-only transaction R is never refused: while it
/// runs, it counts as if it read everything. Only a T that ran at R's snapshot can have been overtaken before it. So R is noted only if
/// there are such transactions, and is forgotten when they have ended: its snapshot is **safe**, whatever it reads. A deferrable R reads
/// nothing until its snapshot is safe, and nobody is refused because of it. A T that commits although it was overtaken before the snapshot
/// makes that snapshot unsafe, and the wait begins again with a later one.
///
/// The list of ended transactions is bounded: of more than [#MOST_ENDED] the older half become one that has read their tables as a whole. A
/// T is refused if its changes are too many to be compared with the whole list.
///
/// Guarded by the commit lock.
final class SerializableTransactions {
  private static final int MOST_ENDED = 4096;

  /// Rows that are compared with what was read, in one commit: some milliseconds under the lock.
  private static final int MOST_COMPARISONS = 1 << 13;

  /// @param until commit timestamp of one that has changed something, otherwise the snapshot: who is overtaken by a later commit need not
  ///     care
  private record Ended(ReadSet reads, long until) {}

  /// Transactions that may change something, in the order in which they began, with their first snapshots.
  private final Map<RowTransaction, Long> running = new LinkedHashMap<>();

  /// A read-only transaction whose snapshot is not known to be safe.
  private static final class Reader {
    final RowTransaction transaction;

    /// Transactions that may change something, ran at its snapshot, and have not ended. The reader is noted while there is one.
    final Set<RowTransaction> concurrent;

    /// Whether one of `concurrent` has committed and so made the snapshot of a deferrable reader unsafe, which has read nothing yet.
    boolean unsafe;

    /// Callback of a deferrable reader that waits; null: none.
    @Nullable Runnable wake;

    Reader(RowTransaction transaction, Set<RowTransaction> concurrent) {
      this.transaction = transaction;
      this.concurrent = concurrent;
    }
  }

  private final List<Reader> readers = new ArrayList<>();

  private final Deque<Ended> ended = new ArrayDeque<>();

  void begin(RowTransaction transaction) {
    running.put(transaction, transaction.snapshot());
  }

  /// Whether the snapshot of a read-only transaction that begins now is not safe yet.
  boolean mattersTo() {
    return !concurrent().isEmpty();
  }

  void beginReader(RowTransaction reader) {
    readers.add(new Reader(reader, concurrent()));
  }

  /// Transactions that may come to be overtaken by present commits: nobody overtakes long transactions.
  private Set<RowTransaction> concurrent() {
    Set<RowTransaction> found = Collections.newSetFromMap(new IdentityHashMap<>(running.size()));
    for (RowTransaction each : running.keySet()) {
      if (each.claim() == null) {
        found.add(each);
      }
    }
    return found;
  }

  /// Whether the snapshot of a deferrable transaction is safe. It takes one at its first call, and a later one if that has turned out to be
  /// unsafe.
  ///
  /// @param news called once, under the commit lock, when it is worth to ask again, if the answer is false: it must not block
  boolean isSafe(RowTransaction deferrable, Runnable news) {
    Reader known = waiting(deferrable);
    if (known != null && !known.unsafe) {
      if (known.concurrent.isEmpty()) {
        forget(deferrable);
        return true;
      }
      known.wake = news;
      return false;
    }
    forget(deferrable);
    deferrable.advanceSnapshot();
    Reader reader = new Reader(deferrable, concurrent());
    if (reader.concurrent.isEmpty()) {
      return true;
    }
    reader.wake = news;
    readers.add(reader);
    return false;
  }

  /// Transactions whose end a deferrable transaction waits for.
  List<Long> waitedFor(RowTransaction deferrable) {
    Reader known = waiting(deferrable);
    return known == null ? List.of() : known.concurrent.stream().map(RowTransaction::id).toList();
  }

  private void forget(RowTransaction reader) {
    readers.removeIf(each -> each.transaction == reader);
  }

  private @Nullable Reader waiting(RowTransaction reader) {
    for (Reader each : readers) {
      if (each.transaction == reader) {
        return each;
      }
    }
    return null;
  }

  /// One that may have changed something has ended, or will not be overtaken any more.
  ///
  /// @param overtakenBy the earliest commit that has overtaken it, if it has committed changes
  private void tellReaders(RowTransaction departed, long overtakenBy) {
    for (Iterator<Reader> each = readers.iterator(); each.hasNext(); ) {
      Reader reader = each.next();
      if (!reader.concurrent.remove(departed)) {
        continue;
      }
      if (!reader.transaction.isDeferrable()) {
        if (reader.concurrent.isEmpty()) {
          reader.transaction.stopNoting();
          each.remove();
        }
        continue;
      }
      reader.unsafe |= overtakenBy <= reader.transaction.snapshot();
      Runnable news = reader.wake;
      if (news != null) {
        reader.wake = null;
        news.run();
      }
    }
  }

  /// Whether others than this one validate what they have read.
  boolean runsBeside(RowTransaction transaction) {
    return running.size() > (running.containsKey(transaction) ? 1 : 0);
  }

  /// It keeps what it has read from being changed by other means, or is rolled back. Idempotent.
  void leave(RowTransaction transaction) {
    if (running.remove(transaction) != null) {
      tellReaders(transaction, Garbage.NOBODY);
      forget();
    } else if (transaction.readOnly) {
      forget(transaction);
    }
  }

  /// It has committed, or ends without changes.
  ///
  /// @param until see [Ended]
  /// @param overtakenBy the earliest commit that has overtaken it, if it has changed something
  void ended(RowTransaction transaction, ReadSet reads, long until, long overtakenBy) {
    if (running.remove(transaction) != null) {
      tellReaders(transaction, overtakenBy);
    } else {
      forget(transaction);
    }
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

  /// Whether somebody who does not see the changes of a transaction that is about to commit has read, or may come to read, what they
  /// change, so that he comes before it.
  ///
  /// @param overtakenBy the earliest commit that has overtaken the transaction
  boolean isRead(RowTransaction transaction, long overtakenBy) {
    if (!transaction.definitions().isEmpty()) {
      return true;
    }
    for (Reader reader : readers) {
      if (!reader.transaction.isDeferrable() && reader.transaction.snapshot() >= overtakenBy) {
        return true;
      }
    }
    Changes changes = new Changes(transaction);
    for (Ended each : ended) {
      if (each.until() >= overtakenBy && changes.touch(each.reads())) {
        return true;
      }
    }
    // Running transactions find out themselves. But a reader of many rows would find out at the end
    // of its work. So the transaction that commits now is refused.
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
      this.reader = new RowReader(transaction.parts());
    }

    /// Whether one of them was read; true also if there is too much to compare.
    boolean touch(ReadSet reads) {
      WriteList writes = transaction.writes();
      TableForm last = null;
      List<ReadSet.Range> ranges = List.of();
      for (int i = 0; i < writes.size(); i++) {
        Page page = writes.page(i);
        if (page.form != last) {
          last = page.form;
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
          if (reader.touchesInFlight(page, writes.rowSlot(i), transaction.slot, range, key)) {
            return true;
          }
        }
      }
      return false;
    }
  }
}
