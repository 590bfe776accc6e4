package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.store.api.Store;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/// The catalogue of a store: the committed version, and numbers for versions that transactions have for themselves.
///
/// Readers take [#snapshot()] (one volatile read). It is replaced by whoever commits changes, which are made in whatever version is
/// committed then: by their locks, transactions that run beside each other change different things.
public final class Catalog {
  private final Store store;
  private final AtomicLong versions = new AtomicLong();
  private volatile CatalogSnapshot snapshot;
  private volatile Consumer<CatalogSnapshot> listener = committed -> {};

  /// Reads the catalogue of an open store; a fresh store gets the schema `public`.
  public Catalog(Store store) {
    this.store = store;
    snapshot = CatalogSnapshot.of(store.catalog()).with(List.of(), nextVersion());
    store.definitions(snapshot.version());
    store.catalogListener(changes -> {
      CatalogSnapshot committed = snapshot.with(changes, nextVersion());
      store.definitions(committed.version());
      snapshot = committed;
      listener.accept(committed);
    });
  }

  /// Sets the listener of versions that are committed from now on. It is called in their order, on the thread that commits. Set once.
  public void listener(Consumer<CatalogSnapshot> committed) {
    listener = committed;
  }

  /// The committed version.
  public CatalogSnapshot snapshot() {
    return snapshot;
  }

  /// Numbers for new objects.
  public long nextObjectId() {
    return store.nextObjectId();
  }

  /// A version's number: no two versions have the same, committed or not.
  public long nextVersion() {
    return versions.incrementAndGet();
  }
}
