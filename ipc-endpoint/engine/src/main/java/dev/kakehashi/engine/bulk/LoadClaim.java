package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The name of a load in batches, which one run at a time has: while the load runs, a transaction of its own has the name's lock.
///
/// Its steps come one after another, on whatever thread. One that fails ends the load.
final class LoadClaim {
  private final BatchedLoad load;
  private final LoadEngine engine;
  private final FunctionSession session;
  private final StatementExecution execution;
  private final Name name;

  /// Null until there is such a table.
  private volatile @Nullable LoadLog log;

  private volatile @Nullable ManagedTransaction lock;
  private Map<Long, PartPosition> positions = Map.of();

  /// Properties that a load must have in common with its earlier runs.
  ///
  /// @param owner role of the load
  /// @param table with its schema
  /// @param digest of its files, hexadecimal
  record Name(String owner, String loadId, String table, String digest) {}

  LoadClaim(
      BatchedLoad load,
      LoadEngine engine,
      FunctionSession session,
      StatementExecution execution,
      Name name) {
    this.load = load;
    this.engine = engine;
    this.session = session;
    this.execution = execution;
    this.name = name;
  }

  @Nullable LoadLog log() {
    return log;
  }

  /// How far parts are that earlier runs have begun, by their numbers.
  Map<Long, PartPosition> positions() {
    return positions;
  }

  /// Takes the name.
  ///
  /// @param next runs when it is taken
  void take(Runnable next) {
    if (LoadLog.exists(execution.catalog())) {
      register(next);
    } else {
      define(load.begin(), LoadLog.DEFINITIONS.iterator(), () -> register(next));
    }
  }

  private void define(ManagedTransaction transaction, Iterator<String> left, Runnable next) {
    if (!left.hasNext()) {
      transaction.commit(CommitResponse.AVAILABLE, load.then(next));
      return;
    }
    String sql = left.next();
    InnerStatement work =
        new InnerStatement(
            sql,
            session,
            execution.viewer(),
            new long[0],
            true,
            (run, ended) -> engine.define(sql, run, new CollectedResult(), ended));
    load.run(
        transaction,
        work,
        failed -> {
          if (failed == null && !load.failed()) {
            define(transaction, left, next);
          } else {
            transaction.rollback(() -> load.then(next).accept(failed));
          }
        });
  }

  private void register(Runnable next) {
    LoadLog kept =
        new LoadLog(engine, execution.catalog(), name.owner, name.loadId, name.table, name.digest);
    log = kept;
    lock(kept, true, next);
  }

  /// Says that there is such a load.
  private void write(LoadLog kept, Runnable next) {
    ManagedTransaction transaction = load.begin();
    load.run(
        transaction,
        load.inner(session, kept.tables(), kept::register),
        failed -> {
          if (failed == null && !load.failed()) {
            transaction.commit(CommitResponse.AVAILABLE, load.then(() -> lock(kept, false, next)));
          } else {
            transaction.rollback(() -> load.then(() -> {}).accept(failed));
          }
        });
  }

  /// @param mayBeNew whether there may be no such load yet
  private void lock(LoadLog kept, boolean mayBeNew, Runnable next) {
    ManagedTransaction transaction = load.begin();
    lock = transaction;
    CollectedResult known = new CollectedResult();
    load.run(
        transaction,
        load.inner(session, kept.tables(), (run, ended) -> kept.lock(run, known, ended)),
        load.then(() -> {
          LoadLog.Known found = LoadLog.known(known);
          if (found == null && mayBeNew) {
            lock = null;
            transaction.rollback(() -> load.then(() -> write(kept, next)).accept(null));
          } else {
            compare(found);
            read(kept, transaction, next);
          }
        }));
  }

  private void read(LoadLog kept, ManagedTransaction transaction, Runnable next) {
    CollectedResult parts = new CollectedResult();
    load.run(
        transaction,
        load.inner(session, kept.tables(), (run, ended) -> kept.read(run, parts, ended)),
        load.then(() -> {
          positions = LoadLog.positions(parts);
          next.run();
        }));
  }

  private void compare(LoadLog.@Nullable Known known) {
    if (known == null) {
      throw new EngineException(
          ErrorCode.NOT_IN_PREREQUISITE_STATE, "load \"" + name.loadId + "\" is no longer known");
    }
    if (!known.table().equals(name.table)) {
      throw new EngineException(
              ErrorCode.NOT_IN_PREREQUISITE_STATE,
              "load \"" + name.loadId + "\" is one of table \"" + known.table() + "\"")
          .withHint("Give this load another load_id.");
    }
    if (!known.digest().equals(name.digest)) {
      throw new EngineException(
              ErrorCode.NOT_IN_PREREQUISITE_STATE,
              "load \"" + name.loadId + "\" has begun with other files")
          .withDetail("Names, contents or number of the files are not those of its first run.")
          .withHint("Restore the files, or give this load another load_id.");
    }
  }

  /// Says how far the whole load is, and gives the name back.
  ///
  /// @param next runs when that is durable
  void end(PartPosition whole, Runnable next) {
    LoadLog kept = Objects.requireNonNull(log);
    ManagedTransaction held = Objects.requireNonNull(lock);
    load.run(
        held,
        load.inner(session, kept.tables(), (run, ended) -> kept.write(-1, whole, run, ended)),
        load.then(() -> {
          lock = null;
          held.commit(CommitResponse.STORED, load.then(next));
        }));
  }

  /// Gives the name back, if it has it.
  void release(Runnable done) {
    ManagedTransaction held = lock;
    lock = null;
    if (held != null) {
      held.rollback(done);
    } else {
      done.run();
    }
  }
}
