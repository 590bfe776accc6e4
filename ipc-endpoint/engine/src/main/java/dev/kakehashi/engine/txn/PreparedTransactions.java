package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Prepared transactions by global id. Thread-safe.
///
/// An entry is put when the preparation begins, so that its name is taken, and removed when it is decided. The caller that takes it from
/// OPEN to BUSY decides. Callers that come meanwhile are refused rather than made to wait, as in PostgreSQL.
public final class PreparedTransactions {
  private static final Logger LOG = LoggerFactory.getLogger(PreparedTransactions.class);

  private enum State {
    /// Being prepared, or decided.
    BUSY,
    OPEN
  }

  private static final class Entry {
    final StoreTransaction transaction;
    final PreparedTransaction description;
    final AtomicReference<State> state;

    Entry(StoreTransaction transaction, Preparation preparation, State state) {
      this.transaction = transaction;
      this.description =
          new PreparedTransaction(
              preparation.globalId(),
              preparation.owner(),
              preparation.userName(),
              preparation.reference(),
              transaction.id(),
              preparation.preparedMicros());
      this.state = new AtomicReference<>(state);
    }
  }

  private final ConcurrentHashMap<String, Entry> entries = new ConcurrentHashMap<>();
  private final Supplier<@Nullable List<Preparation>> ofPrimary;
  private volatile PreparedTransaction.@Nullable Listener listener;

  /// Takes over what the store has recovered.
  ///
  /// @param ofPrimary those of the primary; null as long as this is no standby
  public PreparedTransactions(
      List<StoreTransaction> recovered, Supplier<@Nullable List<Preparation>> ofPrimary) {
    this.ofPrimary = ofPrimary;
    for (StoreTransaction transaction : recovered) {
      Preparation preparation = Objects.requireNonNull(transaction.preparation());
      entries.put(preparation.globalId(), new Entry(transaction, preparation, State.OPEN));
    }
  }

  /// Sets the listener that hears of them from now on.
  public void listener(PreparedTransaction.Listener hearer) {
    listener = hearer;
  }

  public int count() {
    return entries.size();
  }

  /// Transactions that wait for their decision, the oldest first. A primary's transactions have no number here.
  public List<PreparedTransaction> list() {
    List<Preparation> others = ofPrimary.get();
    if (others != null) {
      return others.stream()
          .map(each ->
              new PreparedTransaction(
                  each.globalId(),
                  each.owner(),
                  each.userName(),
                  each.reference(),
                  0,
                  each.preparedMicros()))
          .sorted(Comparator.comparingLong(PreparedTransaction::preparedMicros))
          .toList();
    }
    return entries.values().stream()
        .filter(entry -> entry.transaction.preparation() != null)
        .map(entry -> entry.description)
        .sorted(Comparator.comparingLong(PreparedTransaction::preparedMicros))
        .toList();
  }

  /// Prepares the store's part of a transaction.
  ///
  /// @param done gets null or the failure; then it is rolled back
  void prepare(
      StoreTransaction transaction, Preparation preparation, Consumer<@Nullable Throwable> done) {
    if (ofPrimary.get() != null) {
      transaction.abort();
      done.accept(onStandby("PREPARE TRANSACTION"));
      return;
    }
    String globalId = preparation.globalId();
    int bytes = globalId.getBytes(StandardCharsets.UTF_8).length;
    if (bytes == 0 || bytes > Preparation.MAX_GLOBAL_ID_BYTES) {
      transaction.abort();
      done.accept(
          bytes == 0
              ? new EngineException(
                  ErrorCode.INVALID_PARAMETER_VALUE, "transaction identifier must not be empty")
              : new EngineException(
                  ErrorCode.INVALID_PARAMETER_VALUE,
                  "transaction identifier \"" + globalId + "\" is too long"));
      return;
    }
    Entry entry = new Entry(transaction, preparation, State.BUSY);
    if (entries.putIfAbsent(globalId, entry) != null) {
      transaction.abort();
      done.accept(
          new EngineException(
              ErrorCode.DUPLICATE_OBJECT,
              "transaction identifier \"" + globalId + "\" is already in use"));
      return;
    }
    transaction.prepare(
        preparation,
        failure -> {
          if (failure != null) {
            entries.remove(globalId, entry);
          } else {
            tell(hearer -> hearer.prepared(entry.description));
            entry.state.set(State.OPEN);
          }
          done.accept(failure);
        });
  }

  /// Commits; see [dev.kakehashi.engine.api.EngineSession].
  ///
  /// @param asker owner of the session that asks; empty: may decide on everything
  public void commit(
      String globalId, String asker, boolean stored, Consumer<@Nullable EngineException> done) {
    decide(globalId, asker, true, done, (transaction, ended) -> transaction.commit(stored, ended));
  }

  public void rollback(String globalId, String asker, Consumer<@Nullable EngineException> done) {
    decide(globalId, asker, false, done, StoreTransaction::rollbackPrepared);
  }

  private void decide(
      String globalId,
      String asker,
      boolean commit,
      Consumer<@Nullable EngineException> done,
      BiConsumer<StoreTransaction, Consumer<@Nullable Throwable>> decision) {
    if (ofPrimary.get() != null) {
      // Also one that is not known: what is not here yet, or not any more, is the primary's to say.
      done.accept(onStandby(commit ? "COMMIT PREPARED" : "ROLLBACK PREPARED"));
      return;
    }
    Entry entry;
    try {
      entry = take(globalId, asker);
    } catch (EngineException refused) {
      done.accept(refused);
      return;
    }
    try {
      decision.accept(
          entry.transaction,
          failure -> {
            // It may have ended although its durability is in doubt: then it cannot be asked for
            // again.
            if (entry.transaction.isEnded()) {
              entries.remove(globalId, entry);
              tell(hearer -> hearer.ended(entry.description, commit));
            } else {
              entry.state.set(State.OPEN);
            }
            done.accept(failure == null ? null : explain(failure));
          });
    } catch (RuntimeException | Error e) {
      // Nothing was decided, so it can be asked for again.
      if (entry.transaction.isEnded() || !entry.state.compareAndSet(State.BUSY, State.OPEN)) {
        throw e;
      }
      done.accept(explain(e));
    }
  }

  private static EngineException onStandby(String statement) {
    return new EngineException(
            ErrorCode.READ_ONLY_TRANSACTION, "cannot execute " + statement + " on a standby")
        .withDetail("The primary prepares and decides; nothing is concluded here.")
        .withHint("Decide it on the primary, or make this one the primary: \"kakehashi promote\".");
  }

  private Entry take(String globalId, String asker) {
    Entry entry = entries.get(globalId);
    if (entry == null) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT,
          "prepared transaction with identifier \"" + globalId + "\" does not exist");
    }
    if (!asker.isEmpty() && !asker.equals(entry.description.owner())) {
      throw new EngineException(
              ErrorCode.INSUFFICIENT_PRIVILEGE, "permission denied to finish prepared transaction")
          .withHint("Must be the endpoint's own OS user or the one that prepared the transaction.");
    }
    if (!entry.state.compareAndSet(State.OPEN, State.BUSY)) {
      throw new EngineException(
          ErrorCode.NOT_IN_PREREQUISITE_STATE,
          "prepared transaction with identifier \"" + globalId + "\" is busy");
    }
    return entry;
  }

  private static EngineException explain(Throwable failure) {
    return failure instanceof EngineException known
        ? known
        : new EngineException(
            ErrorCode.INTERNAL_ERROR,
            "could not end prepared transaction: " + failure.getMessage(),
            failure);
  }

  private void tell(Consumer<PreparedTransaction.Listener> news) {
    PreparedTransaction.Listener hearer = listener;
    if (hearer == null) {
      return;
    }
    try {
      news.accept(hearer);
    } catch (RuntimeException e) {
      LOG.error("listener of prepared transactions failed", e);
    }
  }
}
