package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.DirectRead;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.bulk.LoadTransaction;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.embedded.plans.StatementPlan;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.time.Zone;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// A prepared statement; planned again when the catalogue has changed.
final class EmbeddedStatement implements Statement {
  /// The end of a transaction is not canceled.
  private static final Execution UNSTOPPABLE =
      new Execution() {
        @Override
        public void cancel() {}

        @Override
        public long rowsScanned() {
          return 0;
        }
      };

  private static final ExecuteOptions WITHIN_CALL = ExecuteOptions.of(true, 0, 0, 0);

  private final EmbeddedEngine engine;
  private final EmbeddedSession session;
  private final String sql;
  private final int[] givenOids;
  private final Kind kind;
  private final int[] parameterOids;
  private final List<Column> columns;

  /// Latest plan; replaced by any execution that finds it stale.
  private volatile StatementPlan plan;

  EmbeddedStatement(
      EmbeddedEngine engine,
      EmbeddedSession session,
      String sql,
      int[] givenOids,
      StatementPlan plan) {
    this.engine = engine;
    this.session = session;
    this.sql = sql;
    this.givenOids = givenOids;
    this.plan = plan;
    this.kind = plan.prepared().kind();
    this.parameterOids = plan.prepared().parameterOids();
    this.columns = plan.prepared().columns();
  }

  @Override
  public Kind kind() {
    return kind;
  }

  @Override
  public String sql() {
    return sql;
  }

  @Override
  public int[] parameterTypeOids() {
    return parameterOids.clone();
  }

  @Override
  public List<Column> columns() {
    return columns;
  }

  @Override
  public @Nullable DirectRead directRead() {
    return DirectReads.of(plan, engine.store());
  }

  @Override
  public BeginOptions ownTransaction(BeginOptions asked) {
    return plan.prepared() instanceof Prepared.Load load
        ? LoadTransaction.options(asked, load, engine.catalogSnapshot())
        : asked;
  }

  @Override
  public Execution execute(
      EngineTransaction transaction,
      ParameterBatch parameters,
      ExecuteOptions options,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    if (!(transaction instanceof ManagedTransaction own)) {
      throw new IllegalArgumentException("transaction of another engine");
    }
    Prepared prepared = plan.prepared();
    if (prepared instanceof Prepared.OfSession about) {
      session.run(own, about, done);
      return UNSTOPPABLE;
    }
    if (!prepared.place().allows(own.isOfOneStatement())) {
      throw prepared.misplaced();
    }
    if (kind == Kind.DDL) {
      session.defines(own);
    }
    StatementExecution execution =
        new StatementExecution(own, new EmbeddedWork(this, own, parameters, sink), options, done);
    own.execute(execution);
    return execution;
  }

  /// Runs the statement for a call that has its transaction's turn; as [#execute] else.
  ///
  /// @throws EngineException ACTIVE_TRANSACTION for a statement about the transaction or the session
  Execution executeWithin(
      ManagedTransaction transaction,
      ParameterBatch parameters,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    if (!plan.prepared().place().allowsCall()) {
      throw new EngineException(
          ErrorCode.ACTIVE_TRANSACTION, "an application cannot run this statement: " + sql);
    }
    StatementExecution execution =
        new StatementExecution(
            transaction, new EmbeddedWork(this, transaction, parameters, sink), WITHIN_CALL, done);
    transaction.executeWithin(execution);
    return execution;
  }

  EmbeddedEngine engine() {
    return engine;
  }

  EmbeddedSession session() {
    return session;
  }

  /// The latest plan.
  StatementPlan plan() {
    return plan;
  }

  /// Plans it anew.
  ///
  /// @throws EngineException if it cannot be planned any more, or gives other columns
  StatementPlan planned(CatalogSnapshot catalog, Zone zone, long roleId) {
    StatementPlan next =
        engine
            .plans()
            .plan(sql, givenOids.length == 0 ? parameterOids : givenOids, catalog, zone, roleId);
    if (!next.prepared().columns().equals(columns)) {
      throw new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, OTHER_COLUMNS);
    }
    plan = next;
    return next;
  }
}
