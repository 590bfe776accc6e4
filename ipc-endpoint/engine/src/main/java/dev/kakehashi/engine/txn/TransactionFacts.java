package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.ClientActivity;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.valuetext.time.Clock;
import org.jspecify.annotations.Nullable;

/// Facts of a transaction from its beginning: its options, its part of the store, whose it is. A part of [ManagedTransaction], by
/// inheritance because a select by key is to allocate little.
///
/// `reference` and `ofOneStatement` are written by the thread that has begun the transaction, before it is used.
abstract class TransactionFacts implements EngineTransaction {
  final TransactionEnvironment environment;
  final BeginOptions options;
  final DeclaredArea area;
  final StoreTransaction store;

  /// Whether it waits for a safe snapshot before its first statement.
  final boolean deferrable;

  private final TableLocks.Owner lockOwner;
  private final long timestamp = Clock.now();
  private long reference;
  private boolean ofOneStatement;

  /// Written once by the thread that has begun the transaction, read by any thread: a record, so that a reader finds it whole or NOBODY.
  private Viewer owner = Viewer.NOBODY;

  /// Written once by the thread that has begun the transaction, before other threads know the transaction; null: not known.
  private volatile @Nullable ClientActivity activity;

  /// @param area what the options declare
  TransactionFacts(TransactionEnvironment environment, BeginOptions options, DeclaredArea area) {
    this.environment = environment;
    this.options = options;
    this.area = area;
    boolean serializable = options.isolation() == BeginOptions.Isolation.SERIALIZABLE;
    boolean readOnly = options.kind() == BeginOptions.Kind.RTX;
    this.deferrable = options.deferrable() && readOnly && serializable;
    if (options.kind() == BeginOptions.Kind.LTX) {
      this.store = environment.store().beginLong(serializable, area.guarded(options));
    } else if (deferrable) {
      this.store = environment.store().beginDeferrable();
    } else {
      this.store = environment.store().begin(readOnly, serializable);
    }
    this.lockOwner = new TableLocks.Owner(store.id());
  }

  /// Activity of its client; null: not known. Any thread.
  final @Nullable ClientActivity activity() {
    return activity;
  }

  @Override
  public void reference(long number) {
    reference = number;
    store.reference(number);
  }

  @Override
  public final long id() {
    return store.id();
  }

  @Override
  public final void owner(Viewer viewer) {
    owner = viewer;
  }

  @Override
  public final void activity(ClientActivity of) {
    activity = of;
  }

  @Override
  public final void ofOneStatement() {
    ofOneStatement = true;
  }

  /// Whether it ends with its first statement.
  public final boolean isOfOneStatement() {
    return ofOneStatement;
  }

  @Override
  public final BeginOptions options() {
    return options;
  }

  @Override
  public final boolean hasWrites() {
    return store.hasWrites();
  }

  @Override
  public final boolean hasUndurableReads() {
    return store.hasUndurableReads();
  }

  /// Number that [#reference(long)] has set.
  public final long reference() {
    return reference;
  }

  /// For whom it is. Any thread.
  public final Viewer owner() {
    return owner;
  }

  /// Timestamp from which on it may still read.
  public final long heldSnapshot() {
    return store.heldSnapshot();
  }

  /// Microseconds since 2000-01-01 UTC at the transaction's start.
  public final long timestamp() {
    return timestamp;
  }

  final StoreTransaction store() {
    return store;
  }

  /// For what a statement does to queues, which is its own.
  public final StoreTransaction storeOfQueues() {
    return store;
  }

  final TransactionEnvironment environment() {
    return environment;
  }

  final TableLocks.Owner lockOwner() {
    return lockOwner;
  }

  final boolean isReadOnly() {
    return options.kind() == BeginOptions.Kind.RTX;
  }

  final boolean isReadCommitted() {
    return options.isolation() == BeginOptions.Isolation.READ_COMMITTED && !isLong();
  }

  final boolean isLong() {
    return options.kind() == BeginOptions.Kind.LTX;
  }

  /// Whether its statements may have to wait before they begin, by [#mayBegin].
  final boolean hasEntrance() {
    return deferrable || isLong();
  }

  /// Number of a long transaction in the order of declarations; 0: it is none.
  public final long epoch() {
    return store.epoch();
  }
}
