package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.application.ApplicationContents.CallTransaction;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.bulk.BatchedLoad;
import dev.kakehashi.engine.bulk.LoadRun;
import dev.kakehashi.engine.bulk.LoadTransaction;
import dev.kakehashi.engine.catalog.LocationUser;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.embedded.plans.ReceiveCall;
import dev.kakehashi.engine.embedded.plans.StatementPlan;
import dev.kakehashi.engine.exec.operator.CopyActivity;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.exec.operator.ScanActivity;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.exec.run.ArgumentObjects;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.plan.TouchedTables;
import dev.kakehashi.engine.rights.RightsQuestions;
import dev.kakehashi.engine.sql.statement.AlterSystem;
import dev.kakehashi.engine.sql.statement.Analyze;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.sql.statement.RoleSetting;
import dev.kakehashi.engine.sql.statement.SessionSetting;
import dev.kakehashi.engine.sql.statement.SetConstraints;
import dev.kakehashi.engine.sql.statement.TransactionControl;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.txn.StatementWork;
import dev.kakehashi.engine.type.FileAccess;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.engine.type.RandomNumbers;
import dev.kakehashi.engine.type.SequenceAccess;
import dev.kakehashi.engine.type.application.ApplicationUses;
import dev.kakehashi.engine.type.queue.QueueAccess;
import dev.kakehashi.engine.type.queue.ReceiveArguments;
import dev.kakehashi.engine.type.time.Zone;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Task;
import java.util.List;
import java.util.Objects;
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

  private static final long[] NO_TABLES = {};

  /// Parameters of a call of `receive` whose evaluation takes microseconds.
  private static final long SHORT_CALL_BYTES = 4 << 10;

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
    if (plan.prepared() instanceof TransactionControl control) {
      session.control(own, control, failure -> done.accept(failure == null ? 0L : null, failure));
      return UNSTOPPABLE;
    }
    if (plan.prepared() instanceof SessionSetting setting) {
      session.zone().set(own, setting.zone(), setting.local());
      done.accept(0L, null);
      return UNSTOPPABLE;
    }
    if (plan.prepared() instanceof RoleSetting setting) {
      EngineException refused = null;
      try {
        session.setRole(own, setting);
      } catch (EngineException mayNot) {
        refused = mayNot;
      }
      done.accept(refused == null ? 0L : null, refused);
      return UNSTOPPABLE;
    }
    if (plan.prepared() instanceof AlterSystem && !own.isOfOneStatement()) {
      throw new EngineException(
          ErrorCode.ACTIVE_TRANSACTION, "ALTER SYSTEM cannot run inside a transaction block");
    }
    if (plan.prepared() instanceof SetConstraints && own.isOfOneStatement()) {
      // PostgreSQL warns. Here are no warnings, and nobody is to believe that it has an effect.
      throw new EngineException(
              ErrorCode.NO_SUCH_TRANSACTION,
              "SET CONSTRAINTS can only be used in transaction blocks")
          .withHint("It holds until its transaction ends, which would be at once.");
    }
    if (kind == Kind.DDL) {
      session.defines(own);
    }
    if (plan.prepared() instanceof Prepared.Load load
        && load.isInBatches()
        && !own.isOfOneStatement()) {
      throw new EngineException(
          ErrorCode.ACTIVE_TRANSACTION,
          "COPY with batch_rows cannot run inside a transaction block");
    }
    if (plan.prepared() instanceof Prepared.Call call
        && call.signature().transaction() == CallTransaction.OWN
        && !own.isOfOneStatement()) {
      throw new EngineException(
          ErrorCode.ACTIVE_TRANSACTION,
          "procedure "
              + call.signature().name()
              + " has transactions of its own, and cannot run inside a transaction block");
    }
    StatementExecution execution =
        new StatementExecution(own, new Run(own, parameters, sink), options, done);
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
    Prepared prepared = plan.prepared();
    if (prepared instanceof TransactionControl
        || prepared instanceof SessionSetting
        || prepared instanceof RoleSetting
        || prepared instanceof AlterSystem
        || (prepared instanceof Prepared.Load load && load.isInBatches())) {
      throw new EngineException(
          ErrorCode.ACTIVE_TRANSACTION, "an application cannot run this statement: " + sql);
    }
    StatementExecution execution =
        new StatementExecution(
            transaction, new Run(transaction, parameters, sink), WITHIN_CALL, done);
    transaction.executeWithin(execution);
    return execution;
  }

  /// One execution's view of the statement. Used by one thread at a time.
  private final class Run implements StatementWork, FunctionSession, QueueAccess {
    private final ManagedTransaction transaction;
    private final ParameterBatch parameters;
    private final ResultSink sink;
    private final EmbeddedSession.State state = session.state();
    private StatementPlan current;
    private volatile @Nullable Rarities rarities;

    /// What few executions have: one reference for all, because there is one of these for each execution.
    private static final class Rarities {
      private volatile @Nullable CopyActivity copy;
      private volatile @Nullable ScanActivity scans;
      private volatile @Nullable QueueCalls queueCalls;
      private volatile @Nullable Receiving receiving;
      private volatile @Nullable ApplicationUses applications;
    }

    private synchronized Rarities rarities() {
      Rarities made = rarities;
      if (made == null) {
        made = new Rarities();
        rarities = made;
      }
      return made;
    }

    Run(ManagedTransaction transaction, ParameterBatch parameters, ResultSink sink) {
      this.transaction = transaction;
      this.parameters = parameters;
      this.sink = sink;
      this.current = plan;
    }

    @Override
    public boolean isReady() {
      current = plan;
      return isCurrent() && (kind == Kind.DDL || (isReusable() && current.basis().isCurrent()));
    }

    @Override
    public boolean isCurrent() {
      // DDL is only parsed so far.
      return kind == Kind.DDL
          || (current.catalogVersion() == transaction.catalog().version()
              && current.fits(state.zone().name())
              && current.allowed().has(roleId()));
    }

    private long roleId() {
      return session.roleId(transaction.catalog(), state.roleName());
    }

    @Override
    public long[] lockedTables() {
      return switch (current.prepared()) {
        case Prepared.Planned planned -> planned.tables();
        case Prepared.Dump dump -> dump.query().tables();
        case Prepared.Measured measured -> measured.statement().tables();
        case Prepared.Load load -> load.tables();
        case Prepared.Call call -> call.tables();
        default -> NO_TABLES;
      };
    }

    private boolean isReusable() {
      return current.prepared() instanceof Prepared.Call
          || (current.prepared() instanceof Prepared.Planned planned && planned.reusable());
    }

    @Override
    public void prepare() {
      StatementPlan next =
          engine
              .plans()
              .plan(
                  sql,
                  givenOids.length == 0 ? parameterOids : givenOids,
                  transaction.catalog(),
                  state.zone(),
                  roleId());
      if (!next.prepared().columns().equals(columns)) {
        throw new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, OTHER_COLUMNS);
      }
      plan = next;
      current = next;
    }

    @Override
    public boolean changesRows() {
      return switch (current.prepared()) {
        case Prepared.Planned planned -> planned.changesRows();
        case Prepared.Measured measured -> measured.statement().changesRows();
        case Prepared.Load load -> !load.isInBatches();
        // A read-only one may be called within; what its code changes is refused then.
        case Prepared.Call call ->
            call.takesPart() && transaction.options().kind() != BeginOptions.Kind.RTX;
        // It has the turn, because what it changes belongs to the transaction.
        case SetConstraints set -> transaction.options().kind() != BeginOptions.Kind.RTX;
        default -> false;
      };
    }

    @Override
    public boolean usesTransaction() {
      return kind != Kind.DDL;
    }

    @Override
    public TouchedTables tables() {
      return switch (current.prepared()) {
        case Prepared.Planned planned -> TouchedTables.of(planned.plan());
        case Prepared.Dump dump -> TouchedTables.of(dump.query().plan());
        case Prepared.Measured measured -> TouchedTables.of(measured.statement().plan());
        case Prepared.Load load -> TouchedTables.of(load.plan().insert());
        default -> TouchedTables.NONE;
      };
    }

    @Override
    public FunctionSession session() {
      return this;
    }

    @Override
    public Zone zone() {
      return state.zone();
    }

    @Override
    public Viewer viewer() {
      return state.viewer();
    }

    @Override
    public String userName() {
      return state.roleName();
    }

    @Override
    public boolean terminateTransaction(long id) {
      return session.terminateTransaction(id, viewer(), userName());
    }

    @Override
    public RightsQuestions rights() {
      return session.questions(transaction.catalog(), roleId());
    }

    @Override
    public String sessionUserName() {
      return session.userName();
    }

    @Override
    public RandomNumbers random() {
      return session.random();
    }

    @Override
    public SequenceAccess sequences() {
      return session.sequences();
    }

    @Override
    public ApplicationUses applications() {
      Rarities mine = rarities();
      synchronized (mine) {
        ApplicationUses made = mine.applications;
        if (made == null) {
          made = new ApplicationUses(engine.applications().system());
          mine.applications = made;
        }
        return made;
      }
    }

    @Override
    public void ended() {
      Rarities mine = rarities;
      ApplicationUses used = mine == null ? null : mine.applications;
      if (used != null) {
        used.close();
      }
    }

    // ---- queues ----

    @Override
    public QueueAccess queues() {
      return this;
    }

    private QueueCalls queueCalls() {
      Rarities mine = rarities();
      QueueCalls made = mine.queueCalls;
      if (made == null) {
        made =
            new QueueCalls(
                engine.store(), transaction.storeOfQueues(), transaction.catalog(), roleId());
        mine.queueCalls = made;
      }
      return made;
    }

    @Override
    public long enqueue(String queue, NewTask task) {
      return queueCalls().enqueue(queue, task);
    }

    @Override
    public void complete(String token) {
      queueCalls().complete(token);
    }

    @Override
    public void fail(String token, String error, long retryMillis) {
      queueCalls().fail(token, error, retryMillis);
    }

    @Override
    public void release(String token) {
      queueCalls().release(token);
    }

    @Override
    public long extend(String token, long leaseMillis) {
      return queueCalls().extend(token, leaseMillis);
    }

    @Override
    public boolean cancel(String queue, long taskId) {
      return queueCalls().cancel(queue, taskId);
    }

    @Override
    public List<LeasedTask> received() {
      Receiving come = rarities().receiving;
      return come == null ? queueCalls().received() : come.tasks();
    }

    @Override
    public boolean awaits() {
      return current.receive() != null;
    }

    @Override
    public boolean asksSoon() {
      ReceiveCall call = current.receive();
      return call != null && call.isPlain() && parameters.batch().byteSize() <= SHORT_CALL_BYTES;
    }

    @Override
    public Arrival arrival(StatementScope scope) {
      ReceiveCall call = Objects.requireNonNull(current.receive());
      Receiving made =
          new Receiving(
              engine.store(),
              () -> {
                ReceiveArguments said = call.arguments(scope, parameters);
                if (transaction.options().kind() == BeginOptions.Kind.RTX) {
                  throw new EngineException(
                      ErrorCode.READ_ONLY_TRANSACTION,
                      "cannot receive tasks in a read-only transaction");
                }
                if (!said.completed().isEmpty() && !transaction.isOfOneStatement()) {
                  throw new EngineException(
                      ErrorCode.ACTIVE_TRANSACTION,
                      "complete_and_receive cannot run inside a transaction block");
                }
                return queueCalls().request(said, session.leaseHolder());
              });
      rarities().receiving = made;
      return made;
    }

    @Override
    public void copying(CopyActivity activity) {
      rarities().copy = activity;
    }

    @Override
    public @Nullable CopyActivity copy() {
      Rarities mine = rarities;
      return mine == null ? null : mine.copy;
    }

    @Override
    public void scanning(ScanActivity activity) {
      rarities().scans = activity;
    }

    @Override
    public @Nullable ScanActivity scans() {
      Rarities mine = rarities;
      return mine == null ? null : mine.scans;
    }

    @Override
    public FileAccess files() {
      return new SessionFiles(
          engine.surroundings().bulkAccess(),
          new LocationUser(state.roleName(), transaction.catalog(), roleId()),
          engine.statementMemoryBytes(),
          engine.tempSpace());
    }

    @Override
    public String name() {
      return sql;
    }

    @Override
    public int workLevel(StatementScope scope) {
      PlanRunner runner = current.runner();
      if (runner == null && current.prepared() instanceof Prepared.Call call) {
        return mayCallHere(call) ? 0 : PlanRunner.HEAVIEST;
      }
      return runner != null
              && parameters.rowCount() <= 1
              && !parameters.isLong()
              // User code has no business on the thread that takes requests.
              && current.prepared().needs().members().isEmpty()
          ? runner.workLevel(scope)
          : PlanRunner.HEAVIEST;
    }

    /// Whether a call begins on the thread that takes requests; where its code runs is decided later.
    private boolean mayCallHere(Prepared.Call call) {
      ApplicationSystem system = engine.applications().system();
      return system != null
          && parameters.rowCount() <= 1
          && !parameters.isLong()
          && ArgumentObjects.arePlain(call.arguments())
          && system.isShort(call.application(), call.index(), call.route());
    }

    /// Of tables of others no statistics are collected; PostgreSQL warns.
    private List<Table> owned(List<Table> tables) {
      Permissions permissions = new Permissions(transaction.catalog(), roleId());
      return tables.stream().filter(table -> permissions.owns(table.rights())).toList();
    }

    private Task alterSystem(
        AlterSystem change, BiConsumer<@Nullable Long, @Nullable EngineException> finished) {
      return _ -> {
        EngineException refused = null;
        try {
          if (!new Permissions(transaction.catalog(), roleId()).isSuperuser()) {
            throw change.denied();
          }
          engine.surroundings().settingsKeeper().change(change.name(), change.value());
        } catch (EngineException failed) {
          refused = failed;
        }
        finished.accept(refused == null ? 0L : null, refused);
        return null;
      };
    }

    @Override
    public Task task(
        StatementExecution execution,
        BiConsumer<@Nullable Long, @Nullable EngineException> finished) {
      PlanRunner runner = current.runner();
      if (runner != null) {
        return runner.execute(execution, parameters, sink, finished);
      }
      if (current.prepared() instanceof Prepared.Load load) {
        LocationUser user = new LocationUser(state.roleName(), transaction.catalog(), roleId());
        return load.isInBatches()
            ? new BatchedLoad(load, engine.loads(), execution, this, user, sink, finished)
            : new LoadRun(load, execution, user, sink, finished);
      }
      if (current.prepared() instanceof Prepared.Call call) {
        return new ProcedureRun(
            engine, call, execution, parameters, state.roleName(), sink, finished);
      }
      if (current.prepared() instanceof Analyze analyze) {
        return engine.analyze(
            owned(analyze.tables(transaction.catalog())),
            execution,
            failure ->
                finished.accept(
                    failure == null ? 0L : null,
                    failure == null ? null : RunFailures.report(failure)));
      }
      if (current.prepared() instanceof AlterSystem change) {
        return alterSystem(change, finished);
      }
      if (current.prepared() instanceof SetConstraints set) {
        return transaction.setConstraints(set, execution, finished);
      }
      Prepared.Definition definition = (Prepared.Definition) current.prepared();
      return engine.define(
          definition.statement(),
          execution,
          parameters,
          session.definer(transaction.catalog(), state.roleName()),
          sink,
          finished);
    }
  }
}
