package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.StoreKeys;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// Committed entries of the catalogue, and the numbers that are given out for what it defines. Thread-safe.
///
/// Changes are serialised by a lock, under which nothing else is taken; it guards `entries` and `nextId`.
public final class CatalogEntries {
  /// Object identifiers that a change of the catalogue keeps free behind those that are in use.
  private static final int ID_BATCH = 64;

  private final Object lock = new Object();

  /// Taken before all other locks of a commit.
  private final ReentrantLock order = new ReentrantLock();

  private volatile Map<String, byte[]> entries = Map.of();
  private volatile Consumer<List<CatalogChange>> listener = changes -> {};
  private long nextId = 1;

  public Map<String, byte[]> entries() {
    return entries;
  }

  /// See [dev.kakehashi.engine.store.api.Store#catalogListener].
  public void listener(Consumer<List<CatalogChange>> changed) {
    listener = changed;
  }

  /// Takes over what recovery has found.
  public void recovered(Map<String, byte[]> found, long firstFreeId) {
    synchronized (lock) {
      entries = Collections.unmodifiableMap(new TreeMap<>(found));
      nextId = firstFreeId;
    }
  }

  /// Changes of the catalogue are committed: its entries are the new ones.
  void publish(List<CatalogChange> changes) {
    synchronized (lock) {
      Map<String, byte[]> changed = new TreeMap<>(entries);
      for (CatalogChange change : changes) {
        if (change instanceof CatalogChange.Put put) {
          changed.put(put.key(), put.value());
        } else if (change instanceof CatalogChange.Remove remove) {
          changed.remove(remove.key());
        }
      }
      entries = Collections.unmodifiableMap(changed);
      listener.accept(changes);
    }
  }

  /// See [dev.kakehashi.engine.store.api.Store#nextObjectId].
  public long nextObjectId() {
    synchronized (lock) {
      return nextId++;
    }
  }

  /// Says in a record that changes the catalogue which numbers are given out, and gives it its place in the log: the last one there counts.
  <T> T inOrder(LogRecord record, Supplier<T> place) {
    order.lock();
    try {
      record.setNumber(reserved());
      return place.get();
    } finally {
      order.unlock();
    }
  }

  /// Keeps room in a record that changes the catalogue for the number that [#inOrder] says.
  void reserveIds(LogRecord record) {
    record.putNumber(StoreKeys.nextId());
  }

  private long reserved() {
    synchronized (lock) {
      return nextId + ID_BATCH;
    }
  }
}
