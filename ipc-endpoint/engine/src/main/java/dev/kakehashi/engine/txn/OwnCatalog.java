package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The catalogue as a transaction sees it: the committed one with its own changes. Others may commit theirs meanwhile, which are of other
/// objects: its catalogue is made anew then.
///
/// `last` is written by the operation that has the turn of the transaction. `latest` only spares work: any thread that asks may write it,
/// and each reader compares the changes and the version that it was made of.
final class OwnCatalog {
  /// Changes of one statement. Immutable; two are the same if they are one object.
  private static final class Defined {
    /// Mark of the transaction before the statement.
    final long mark;

    final List<CatalogChange> changes;

    /// Changes before these; null: none.
    final @Nullable Defined before;

    Defined(long mark, List<CatalogChange> changes, @Nullable Defined before) {
      this.mark = mark;
      this.changes = changes;
      this.before = before;
    }
  }

  /// Catalogue of a committed version with the transaction's own changes.
  private record Seen(Defined own, CatalogSnapshot committed, CatalogSnapshot catalog) {}

  private final TransactionEnvironment environment;
  private volatile @Nullable Defined last;
  private volatile @Nullable Seen latest;

  OwnCatalog(TransactionEnvironment environment) {
    this.environment = environment;
  }

  /// A committed version with its own changes. Any thread.
  CatalogSnapshot in(CatalogSnapshot committed) {
    Defined own = last;
    if (own == null) {
      return committed;
    }
    Seen known = latest;
    if (known != null && known.own == own && known.committed == committed) {
      return known.catalog;
    }
    // When its own changes have just been committed they are in both, which is the same.
    CatalogSnapshot catalog = committed.with(changes(own), environment.nextCatalogVersion());
    latest = new Seen(own, committed, catalog);
    return catalog;
  }

  private static List<CatalogChange> changes(Defined own) {
    List<List<CatalogChange>> parts = new ArrayList<>();
    for (Defined each = own; each != null; each = each.before) {
      parts.add(each.changes);
    }
    return parts.reversed().stream().flatMap(List::stream).toList();
  }

  /// Whether there are own changes. Any thread.
  boolean isChanged() {
    return last != null;
  }

  /// The greatest mark before which something was changed that is not undone; -1: nothing was changed.
  long lastMark() {
    Defined own = last;
    return own == null ? -1 : own.mark;
  }

  /// A statement has changed the catalogue.
  ///
  /// @param mark of the transaction before it
  /// @param committed the version that it was planned with
  /// @param catalog that version with all changes of the transaction
  void defined(
      long mark, List<CatalogChange> changes, CatalogSnapshot committed, CatalogSnapshot catalog) {
    Defined own = new Defined(mark, changes, last);
    latest = new Seen(own, committed, catalog);
    last = own;
  }

  /// Undoes the changes at a mark and after it.
  void undo(long mark) {
    Defined own = last;
    // Marks ascend: what was at a later one has been undone.
    while (own != null && own.mark >= mark) {
      own = own.before;
    }
    last = own;
  }
}
