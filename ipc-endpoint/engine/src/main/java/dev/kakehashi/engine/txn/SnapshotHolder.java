package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The versions that a transaction sees. Its snapshot is the one of rows: statements take it, and give it back so that nothing is kept for
/// a client that is idle. Its catalogue is the committed one with its own changes. A part of [ManagedTransaction], by inheritance because a
/// select by key is to allocate little.
abstract class SnapshotHolder extends TransactionFacts {
  final Turns turns;
  final OpenStatements open = new OpenStatements();

  /// It holds no snapshot: its next statement takes one. Read and written by the operation that has the turn.
  private boolean snapshotGone;

  /// A client numbers its commands: their later statements may come back to the snapshot of the last one. Written with the turn.
  private volatile boolean numbered;

  /// Null: it has not changed the catalogue.
  private volatile @Nullable OwnCatalog ownCatalog;

  /// @param area what the options declare
  SnapshotHolder(TransactionEnvironment environment, BeginOptions options, DeclaredArea area) {
    super(environment, options, area);
    this.turns = new Turns(environment.scheduler());
  }

  @Override
  public final void reference(long number) {
    super.reference(number);
    // One with a handle may wait for its first statement for as long as its client likes.
    if (options.isolation() != BeginOptions.Isolation.SERIALIZABLE && !hasEntrance()) {
      letGoOfSnapshot();
    }
  }

  /// Whether views are in use; asked by the operation that has the turn.
  final boolean hasOpenStatements() {
    return !open.isEmpty();
  }

  /// Gives its snapshot back, so that nothing is kept for it; by the operation that has the turn, while no view is in use.
  final void letGoOfSnapshot() {
    store.letGoOfSnapshot();
    snapshotGone = true;
  }

  /// Takes the snapshot of a statement that is about to open; by the operation that has the turn.
  ///
  /// @param anew whether READ COMMITTED takes another one than the statement before
  /// @param command of its client; 0: it numbers none
  final void takeSnapshot(boolean anew, int command) {
    if (command != 0 && !numbered) {
      numbered = true;
    }
    if (snapshotGone) {
      store.advanceSnapshot();
      snapshotGone = false;
    } else if (anew && isReadCommitted()) {
      if (hasOpenStatements()) {
        store.refreshSnapshot();
      } else {
        store.advanceSnapshot();
      }
    }
  }

  /// Takes one for a statement that asks for none of its own, if there is none.
  final void takeMissingSnapshot() {
    if (snapshotGone) {
      store.advanceSnapshot();
      snapshotGone = false;
    }
  }

  /// Gives the snapshot back between statements, as READ COMMITTED lets it. A statement that closes without the turn leaves that to the
  /// operation that has the turn, which comes here after its end.
  final void letGoBetweenStatements() {
    if (isOfOneStatement() || numbered || !isReadCommitted() || !open.isEmpty()) {
      return;
    }
    if (!turns.tryBegin()) {
      return;
    }
    try {
      if (state() == State.ACTIVE && !snapshotGone && open.isEmpty()) {
        letGoOfSnapshot();
      }
    } finally {
      turns.end();
    }
  }

  /// The catalogue as it sees it: with its own changes. Any thread.
  public final CatalogSnapshot catalog() {
    return catalog(environment.catalog());
  }

  /// The same in a version that was committed then. Any thread.
  final CatalogSnapshot catalog(CatalogSnapshot committed) {
    OwnCatalog own = ownCatalog;
    return own == null ? committed : own.in(committed);
  }

  /// Whether it has changed the catalogue and not ended.
  public final boolean hasDefinitions() {
    OwnCatalog own = ownCatalog;
    return own != null && own.isChanged();
  }

  /// A statement has changed the catalogue. Called by the operation that has the turn.
  ///
  /// @param mark before the changes
  /// @param committed the version that the statement was planned with
  /// @param seen that version with all changes of the transaction
  final void defined(
      long mark, List<CatalogChange> changes, CatalogSnapshot committed, CatalogSnapshot seen) {
    OwnCatalog own = ownCatalog;
    if (own == null) {
      own = new OwnCatalog(environment);
    }
    own.defined(mark, changes, committed, seen);
    ownCatalog = own;
  }

  /// Whether it has changed the catalogue at a mark or after it, and not undone that.
  final boolean hasDefinedSince(long mark) {
    OwnCatalog own = ownCatalog;
    return own != null && own.lastMark() >= mark;
  }

  /// Undoes its changes of the catalogue at a mark and after it. Called by the operation that has the turn.
  final void undefine(long mark) {
    OwnCatalog own = ownCatalog;
    if (own != null) {
      own.undo(mark);
    }
  }

  /// It has ended.
  final void forgetDefinitions() {
    ownCatalog = null;
  }
}
