package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.catalog.LocationUser;
import dev.kakehashi.engine.embedded.plans.ReceiveCall;
import dev.kakehashi.engine.embedded.plans.StatementPlan;
import dev.kakehashi.engine.exec.operator.CopyActivity;
import dev.kakehashi.engine.exec.operator.ScanActivity;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.exec.run.ArgumentObjects;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.plan.TouchedTables;
import dev.kakehashi.engine.rights.RightsQuestions;
import dev.kakehashi.engine.sql.statement.Prepared;
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
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.valuetext.time.Zone;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The work of one execution of an [EmbeddedStatement]: its plan, and its view of the session. Used by one thread at a time.
final class EmbeddedWork implements StatementWork, FunctionSession, QueueAccess {
  /// Parameters of a call of `receive` whose evaluation takes microseconds.
  private static final long SHORT_CALL_BYTES = 4 << 10;

  private final EmbeddedStatement statement;
  private final ManagedTransaction transaction;
  private final ParameterBatch parameters;
  private final ResultSink sink;
  private final EmbeddedSession.State state;
  private StatementPlan current;
  private volatile @Nullable Rarities rarities;

  /// Fields that few executions need. One reference serves for all of them, because each execution has that reference.
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

  EmbeddedWork(
      EmbeddedStatement statement,
      ManagedTransaction transaction,
      ParameterBatch parameters,
      ResultSink sink) {
    this.statement = statement;
    this.transaction = transaction;
    this.parameters = parameters;
    this.sink = sink;
    this.state = statement.session().state();
    this.current = statement.plan();
  }

  @Override
  public boolean isReady() {
    current = statement.plan();
    return isCurrent()
        && (isDefinition() || (current.prepared().reusable() && current.basis().isCurrent()));
  }

  @Override
  public boolean isCurrent() {
    // DDL is only parsed so far.
    return isDefinition()
        || (current.catalogVersion() == transaction.catalog().version()
            && current.fits(state.zone().name())
            && current.allowed().has(roleId()));
  }

  private boolean isDefinition() {
    return statement.kind() == Statement.Kind.DDL;
  }

  private boolean isReadOnly() {
    return transaction.options().kind() == BeginOptions.Kind.RTX;
  }

  private long roleId() {
    return statement.session().roleId(transaction.catalog(), state.roleName());
  }

  @Override
  public long[] lockedTables() {
    return current.prepared().tables();
  }

  @Override
  public void prepare() {
    current = statement.planned(transaction.catalog(), state.zone(), roleId());
  }

  @Override
  public boolean changesRows() {
    return current.prepared().changesRows(isReadOnly());
  }

  @Override
  public boolean usesTransaction() {
    return !isDefinition();
  }

  @Override
  public TouchedTables tables() {
    return current.prepared().touched();
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
    return statement.session().terminateTransaction(id, viewer(), userName());
  }

  @Override
  public RightsQuestions rights() {
    return statement.session().questions(transaction.catalog(), roleId());
  }

  @Override
  public String sessionUserName() {
    return statement.session().userName();
  }

  @Override
  public RandomNumbers random() {
    return statement.session().random();
  }

  @Override
  public SequenceAccess sequences() {
    return statement.session().sequences();
  }

  @Override
  public ApplicationUses applications() {
    Rarities mine = rarities();
    synchronized (mine) {
      ApplicationUses made = mine.applications;
      if (made == null) {
        made = new ApplicationUses(statement.engine().applications().system());
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
              statement.engine().store(),
              transaction.storeOfQueues(),
              transaction.catalog(),
              roleId());
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
            statement.engine().store(),
            () -> {
              ReceiveArguments said = call.arguments(scope, parameters);
              if (isReadOnly()) {
                throw new EngineException(
                    ErrorCode.READ_ONLY_TRANSACTION,
                    "cannot receive tasks in a read-only transaction");
              }
              if (!said.completed().isEmpty() && !transaction.isOfOneStatement()) {
                throw new EngineException(
                    ErrorCode.ACTIVE_TRANSACTION,
                    "complete_and_receive cannot run inside a transaction block");
              }
              return queueCalls().request(said, statement.session().leaseHolder());
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
        statement.engine().surroundings().bulkAccess(),
        new LocationUser(state.roleName(), transaction.catalog(), roleId()),
        statement.engine().statementMemoryBytes(),
        statement.engine().tempSpace());
  }

  @Override
  public String name() {
    return statement.sql();
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
    ApplicationSystem system = statement.engine().applications().system();
    return system != null
        && parameters.rowCount() <= 1
        && !parameters.isLong()
        && ArgumentObjects.arePlain(call.arguments())
        && system.isShort(call.application(), call.index(), call.route());
  }

  @Override
  public Task task(
      StatementExecution execution,
      BiConsumer<@Nullable Long, @Nullable EngineException> finished) {
    PlanRunner runner = current.runner();
    if (runner != null) {
      return runner.execute(execution, parameters, sink, finished);
    }
    return new StatementTasks(
            statement.engine(), statement.session(), this, transaction, parameters, sink, finished)
        .task(current.prepared(), execution);
  }
}
