package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Planning;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.sql.statement.TransactionControl;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.type.RandomNumbers;
import dev.kakehashi.engine.type.SequenceAccess;
import dev.kakehashi.engine.type.time.Zone;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.SchedulerStoppedException;
import java.lang.ref.WeakReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Statements of one client.
final class EmbeddedSession implements EngineSession {
  private final EmbeddedEngine engine;
  private final String userName;
  private final String owner;
  private final SequenceAccess sequences;
  private final RandomNumbers random = new RandomNumbers();
  private final SessionZone zone;

  /// Used by the thread that uses the session.
  private Viewer viewer;

  /// The transaction in which this session has changed the catalogue last: while it is open, statements are prepared as it sees the catalogue.
  private WeakReference<@Nullable ManagedTransaction> defining = new WeakReference<>(null);

  EmbeddedSession(
      EmbeddedEngine engine,
      String userName,
      String owner,
      SequenceAccess sequences,
      Zone timeZone) {
    this.engine = engine;
    this.userName = userName;
    this.owner = owner;
    this.sequences = sequences;
    this.zone = new SessionZone(timeZone);
    this.viewer = new Viewer(owner, userName, "", Viewer.Sight.ALL);
  }

  @Override
  public void viewer(Viewer newViewer) {
    viewer = newViewer;
  }

  Viewer viewer() {
    return viewer;
  }

  @Override
  public void prepare(
      EngineTransaction transaction, String globalId, Consumer<@Nullable EngineException> done) {
    ((ManagedTransaction) transaction).prepare(globalId, owner, userName, done);
  }

  @Override
  public void commitPrepared(
      String globalId,
      EngineTransaction.CommitResponse response,
      Consumer<@Nullable EngineException> done) {
    engine
        .prepared()
        .commit(globalId, owner, response == EngineTransaction.CommitResponse.STORED, done);
  }

  @Override
  public void rollbackPrepared(String globalId, Consumer<@Nullable EngineException> done) {
    engine.prepared().rollback(globalId, owner, done);
  }

  @Override
  public Planning prepare(
      String sql,
      int[] parameterTypeOids,
      BiConsumer<@Nullable Statement, @Nullable EngineException> done) {
    int[] given = parameterTypeOids.clone();
    CatalogSnapshot snapshot = catalogOfSession();
    Zone current = zone.current();
    PlanCache.Plan cached = engine.cachedPlan(sql, given, snapshot, current);
    if (cached != null) {
      done.accept(new EmbeddedStatement(engine, this, sql, given, cached), null);
      return Planning.ENDED;
    }
    Plan plan = new Plan();
    try {
      engine
          .scheduler()
          .job(sql)
          .attachment(viewer)
          .submit(context -> {
            Interrupts.during(plan, () -> planAndReport(sql, given, snapshot, current, done));
            return null;
          });
      return plan;
    } catch (SchedulerStoppedException stopping) {
      done.accept(
          null,
          new EngineException(ErrorCode.SHUTTING_DOWN, "the engine is shutting down", stopping));
      return Planning.ENDED;
    }
  }

  /// One that is being made.
  private final class Plan implements Planning, Interrupts.Source {
    private volatile boolean canceled;

    @Override
    public void cancel() {
      canceled = true;
    }

    @Override
    public void checkCanceled() {
      engine.refuseWhenClosing();
      if (canceled) {
        throw new EngineException(
            ErrorCode.QUERY_CANCELED, "canceling statement due to user request");
      }
    }
  }

  SequenceAccess sequences() {
    return sequences;
  }

  String userName() {
    return userName;
  }

  RandomNumbers random() {
    return random;
  }

  SessionZone zone() {
    return zone;
  }

  void defines(ManagedTransaction transaction) {
    defining = new WeakReference<>(transaction);
  }

  private CatalogSnapshot catalogOfSession() {
    ManagedTransaction transaction = defining.get();
    return transaction == null ? engine.catalogSnapshot() : transaction.catalog();
  }

  private void planAndReport(
      String sql,
      int[] given,
      CatalogSnapshot snapshot,
      Zone current,
      BiConsumer<@Nullable Statement, @Nullable EngineException> done) {
    EmbeddedStatement statement = null;
    EngineException failure = null;
    try {
      Interrupts.check();
      statement =
          new EmbeddedStatement(
              engine, this, sql, given, engine.plan(sql, given, snapshot, current));
    } catch (Throwable failed) {
      failure = RunFailures.report(failed);
    }
    done.accept(statement, failure);
  }

  void control(
      ManagedTransaction transaction,
      TransactionControl control,
      Consumer<@Nullable EngineException> done) {
    switch (control.verb()) {
      case PREPARE -> transaction.prepare(control.globalId(), owner, userName, done);
      case COMMIT_PREPARED -> engine.prepared().commit(control.globalId(), owner, true, done);
      case ROLLBACK_PREPARED -> engine.prepared().rollback(control.globalId(), owner, done);
    }
  }

  @Override
  public void close() {}
}
