package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.StoreTransaction.LongArea;
import dev.kakehashi.engine.store.version.ReadSet;
import dev.kakehashi.engine.store.version.SlotOwner;
import dev.kakehashi.engine.store.version.TransactionSlots;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Tables that long transactions keep from others.
///
/// A long transaction (LTX) declares the tables that it will write; a serializable one also guards the tables that it reads. From the
/// declaration on short transactions (OCC) that come to a guarded table are refused: they are of a later epoch, and give way. Short
/// transactions that were inside before are of an earlier epoch: the LTX waits for their end, and takes its snapshot then. So from its
/// epoch on nobody changes what it will write, nor what it has read: it meets no conflict, and its reads are valid when it commits. The
/// order of commits stays an order of execution for all serializable transactions.
///
/// **Inside or outside.** A short transaction first enters the table in [RowTransaction#changed], then reads `claims`; an LTX first
/// publishes its claim, then reads `changed` of every running transaction (both are volatile). Either the one sees the claim and is
/// refused, or the other sees the table and waits. Prepared serializable transactions, whose reads have to stay valid until their decision,
/// are excluded in the same way, under the commit lock.
///
/// **LTX against LTX.** Order is by priority, then by epoch (the order of declarations). A new LTX waits until the holders that it
/// conflicts with have ended, and lets waiting LTXs that come before it go first; until then it holds nothing that another LTX could wait
/// for. A serializable one that reads a table that it has not declared, while another LTX writes it, waits for the other if that comes
/// before it; otherwise it reads at once, and the other's commit waits for its end. So among LTXs that hold something the later always
/// waits for the earlier, and there is no cycle. Short transactions never wait for an LTX, as nobody is inside a table with it.
///
/// Guarded by this: claims and their requests. Lock order: this, then the commit lock.
final class LongTransactions {
  private final TransactionSlots slots;
  private final Committer committer;
  private long lastEpoch;

  /// Claims of transactions that run or wait, in their order. Replaced under this and the commit lock.
  private volatile Claim[] claims = {};

  LongTransactions(TransactionSlots slots, Committer committer) {
    this.slots = slots;
    this.committer = committer;
  }

  /// Tables that one long transaction holds and wants.
  static final class Claim {
    private final RowTransaction owner;
    private final LongArea area;
    private final long epoch;

    /// Tables that others must not change, because they are read. Replaced by its owner.
    private volatile Set<Long> reads;

    /// Tables of `reads` for which earlier transactions have not been waited for.
    private final Set<Long> wanted = new HashSet<>();

    /// Its epoch has come.
    private boolean begun;

    /// It has been let through to its commit, which waits for nobody.
    private boolean committing;

    Claim(RowTransaction owner, LongArea area, long epoch) {
      this.owner = owner;
      this.area = area;
      this.epoch = epoch;
      this.reads = Set.copyOf(area.reads());
    }

    boolean writes(long tableId) {
      return area.writes().contains(tableId);
    }

    private boolean guards(long tableId) {
      return writes(tableId) || reads.contains(tableId);
    }

    private boolean comesBefore(Claim other) {
      return ORDER.compare(this, other) < 0;
    }

    /// By what it has declared.
    private boolean conflictsWith(Claim other) {
      return meets(area.writes(), other.area.writes())
          || meets(area.writes(), other.reads)
          || meets(area.reads(), other.area.writes());
    }

    private static boolean meets(Set<Long> a, Set<Long> b) {
      return a.stream().anyMatch(b::contains);
    }

    long epoch() {
      return epoch;
    }

    /// Names it in messages.
    String describe() {
      return (area.label().isEmpty() ? "" : "\"" + area.label() + "\" ")
          + "(transaction %d, epoch %d)".formatted(owner.id(), epoch);
    }
  }

  private static final Comparator<Claim> ORDER =
      Comparator.comparingInt((Claim claim) -> -claim.area.priority())
          .thenComparingLong(claim -> claim.epoch);

  // ---- short transactions ----

  /// A transaction that has entered the table in its list of changed ones may change it now.
  ///
  /// @throws RowConflict PRESERVED if a long transaction keeps the table from it
  void admit(RowTransaction transaction, long tableId) {
    for (Claim claim : claims) {
      if (claim.guards(tableId)) {
        throw RowConflict.preserved(claim.owner, tableId, claim.describe());
      }
    }
  }

  /// Why a serializable transaction must not be prepared now: it has read what a long one will write, which may then commit before the
  /// decision. Under the commit lock.
  @Nullable RowConflict refusesPrepared(RowTransaction transaction) {
    ReadSet reads = transaction.readSet;
    if (reads == null || transaction.claim() != null) {
      return null;
    }
    for (Claim claim : claims) {
      for (long tableId : claim.area.writes()) {
        if (reads.touches(tableId)) {
          return RowConflict.preserved(claim.owner, tableId, claim.describe());
        }
      }
    }
    return null;
  }

  /// The long transaction that keeps a table from others; null if there is none.
  synchronized @Nullable Claim guardOf(long tableId) {
    for (Claim claim : claims) {
      if (claim.guards(tableId)) {
        return claim;
      }
    }
    return null;
  }

  // ---- long transactions ----

  /// From now on short transactions stay out of the area.
  synchronized Claim declare(RowTransaction owner, LongArea area) {
    Claim claim = new Claim(owner, area, ++lastEpoch);
    List<Claim> more = new ArrayList<>(List.of(claims));
    more.add(claim);
    more.sort(ORDER);
    publish(more);
    return claim;
  }

  /// Lets go of everything.
  synchronized void end(Claim claim) {
    List<Claim> fewer = new ArrayList<>(List.of(claims));
    fewer.remove(claim);
    publish(fewer);
  }

  private void publish(List<Claim> changed) {
    Claim[] next = changed.toArray(new Claim[0]);
    committer.inOrder(() -> claims = next);
  }

  /// Result of [#acquire].
  enum Admission {
    /// Somebody has to end first.
    WAIT,
    /// A transaction that was waited for has ended since the last call: a new snapshot shows its changes.
    NEW_SNAPSHOT,
    /// All was there before.
    READY
  }

  /// Guards tables that a serializable transaction is going to read, and waits for its epoch before all else.
  ///
  /// @param whenReady called once when it is worth to ask again, if the answer is WAIT
  Admission acquire(Claim claim, Set<Long> tables, Runnable whenReady) {
    StoreTransaction blocker;
    boolean changed;
    synchronized (this) {
      for (long table : tables) {
        if (!claim.guards(table) && claim.wanted.add(table)) {
          Set<Long> reads = new HashSet<>(claim.reads);
          reads.add(table);
          claim.reads = Set.copyOf(reads);
        }
      }
      changed = !claim.begun || !claim.wanted.isEmpty();
      blocker = claim.begun ? null : beforeEpoch(claim);
      if (blocker == null) {
        claim.begun = true;
        blocker = claim.wanted.isEmpty() ? null : beforeReading(claim);
      }
      if (blocker == null) {
        claim.wanted.clear();
      }
    }
    if (blocker != null) {
      blocker.whenEnded(whenReady);
      return Admission.WAIT;
    }
    return changed ? Admission.NEW_SNAPSHOT : Admission.READY;
  }

  /// A transaction that has to end before the epoch comes; null: none.
  private @Nullable StoreTransaction beforeEpoch(Claim claim) {
    for (Claim other : claims) {
      if (other != claim
          && (other.begun || other.comesBefore(claim))
          && claim.conflictsWith(other)) {
        return other.owner;
      }
    }
    for (RowTransaction prepared : committer.preparedReaders()) {
      ReadSet reads = prepared.readSet;
      if (reads != null && claim.area.writes().stream().anyMatch(reads::touches)) {
        return prepared;
      }
    }
    StoreTransaction writer = inside(claim, claim.area.writes());
    return writer != null ? writer : inside(claim, claim.area.reads());
  }

  /// A transaction that has to end before the wanted tables can be read; null: none.
  private @Nullable StoreTransaction beforeReading(Claim claim) {
    for (Claim other : claims) {
      if (other != claim
          && other.begun
          && (other.comesBefore(claim) || other.committing)
          && Claim.meets(claim.wanted, other.area.writes())) {
        return other.owner;
      }
    }
    return inside(claim, claim.wanted);
  }

  /// A short transaction, or a prepared one, that has come to change one of the tables.
  @SuppressWarnings("ReferenceEquality") // the same transaction
  private @Nullable StoreTransaction inside(Claim claim, Set<Long> tables) {
    for (SlotOwner running : slots.owners()) {
      if (running != claim.owner && running.isInside(tables)) {
        return running;
      }
    }
    return null;
  }

  /// Whether nobody who comes before it has read what it has written: its commit has to be after theirs.
  ///
  /// @param whenReady called once when it is worth to ask again, if the answer is false
  boolean mayCommit(Claim claim, Runnable whenReady) {
    RowTransaction blocker = null;
    synchronized (this) {
      for (Claim other : claims) {
        if (other != claim
            && other.begun
            && other.comesBefore(claim)
            && other.reads.stream().anyMatch(claim.owner::isInside)) {
          blocker = other.owner;
        }
      }
      claim.committing = blocker == null;
    }
    if (blocker == null) {
      return true;
    }
    blocker.whenEnded(whenReady);
    return false;
  }
}
