package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.ClientSession;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.FollowedLog;
import dev.kakehashi.engine.api.LogFeed;
import dev.kakehashi.engine.api.LogRequest;
import dev.kakehashi.engine.api.LogStatus;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.thread.BlockingExecutor;
import dev.kakehashi.engine.bulk.LoadEngine;
import dev.kakehashi.engine.catalog.Catalog;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.LiveTables;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.listing.DefinitionRows;
import dev.kakehashi.engine.ddl.Definer;
import dev.kakehashi.engine.ddl.DefinitionRun;
import dev.kakehashi.engine.embedded.plans.StatementPlans;
import dev.kakehashi.engine.exec.rows.TempSpace;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.sql.SqlFront;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.statistics.StatisticsKeeper;
import dev.kakehashi.engine.store.StoreFactory;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.SynchronousConfig;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.PlanningThreads;
import dev.kakehashi.engine.txn.PreparedTransactions;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.type.SequenceAccess;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.SchedulerStoppedException;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.valuetext.time.Zone;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The embedded engine: PostgreSQL's SQL over the store in this process, run as tasks on a scheduler.
///
/// Thread-safe. The scheduler belongs to the caller, who closes it after the engine.
public final class EmbeddedEngine implements Engine {
  private final TaskScheduler scheduler;
  private final Store store;
  private final TempSpace tempSpace;
  private final Catalog catalog;
  private final EngineRoles roles;
  private final SequenceValues sequenceValues;
  private final StatisticsKeeper statistics;
  private final EngineApplications applications;
  private final EngineSurroundings surroundings = new EngineSurroundings();
  private final EngineTransactions transactions;
  private final LiveFacts facts;
  private final StatementPlans plans;
  private final LoadEngine loads;

  /// Definitions that the queues know; the same object as long as no queue is defined anew. Used under the lock of the committed catalogue.
  private List<QueueDefinition> definedQueues = List.of();

  /// Roles of the last commit of a definition. Definitions commit one after another.
  private volatile RoleSet knownRoles;

  private volatile boolean closing;

  /// Null: it is no standby.
  private volatile @Nullable FollowedLog followed;

  private EmbeddedEngine(EngineConfig config, TaskScheduler scheduler) {
    this.scheduler = scheduler;
    this.store = StoreFactory.open(config.store());
    this.tempSpace =
        new TempSpace(config.store().directory().resolve("temp"), config.tempSpaceBytes());
    this.catalog = new Catalog(store);
    this.roles = new EngineRoles(catalog::snapshot);
    this.knownRoles = catalog.snapshot().roles();
    this.sequenceValues = new SequenceValues(store);
    this.statistics = new StatisticsKeeper(store, catalog::snapshot, scheduler);
    this.transactions =
        new EngineTransactions(config, store, scheduler, catalog, tempSpace, statistics::changed);
    this.applications = new EngineApplications(config.applications());
    this.facts =
        new LiveFacts(
            store,
            catalog::snapshot,
            scheduler,
            statistics,
            transactions,
            surroundings,
            applications,
            roles,
            sequenceValues);
    this.plans =
        new StatementPlans(
            config.planCacheEntries(), catalog::snapshot, statistics, facts, facts::rowCount);
    this.loads = new EngineLoads(this, facts);
    QueueSystem queues = store.queues();
    if (queues != null) {
      definedQueues = catalog.snapshot().queues();
      queues.start(new EngineQueueHost(store, scheduler), definedQueues);
    }
    catalog.listener(committed -> {
      if (queues != null) {
        List<QueueDefinition> now = committed.queues();
        if (!now.equals(definedQueues)) {
          definedQueues = now;
          queues.define(now);
        }
      }
      if (!config.store().isStandby()) {
        applications.committed(committed);
      }
      endThoseWhoMayNotLogIn(committed.roles());
    });
  }

  /// A role that was dropped, or may not log in any more, keeps nothing open.
  private void endThoseWhoMayNotLogIn(RoleSet now) {
    RoleSet before = knownRoles;
    knownRoles = now;
    Set<String> gone = new HashSet<>();
    for (Role was : before.all()) {
      Role is = now.role(was.name());
      if (was.logsIn() && (is == null || !is.logsIn())) {
        gone.add(was.name());
      }
    }
    if (gone.isEmpty()) {
      return;
    }
    // Not on this thread: it commits a definition, under the catalogue's lock.
    try {
      scheduler.submit(context -> {
        transactions.terminateOf(gone);
        return null;
      });
    } catch (SchedulerStoppedException stopping) {
      return; // the engine's end rolls all back
    }
  }

  /// Opens the data directory and recovers it.
  ///
  /// @throws EngineException DATA_CORRUPTED, CANNOT_CONNECT (another process has the directory) or OUT_OF_MEMORY
  public static EmbeddedEngine open(EngineConfig config, TaskScheduler scheduler) {
    EmbeddedEngine engine = new EmbeddedEngine(config, scheduler);
    engine.statistics.start();
    engine.followed =
        engine.store.follow(engine.transactions.conflicts(config.conflictDelayNanos()));
    if (engine.followed == null) {
      engine.applications.start(engine);
    }
    return engine;
  }

  @Override
  public void warmUp() {
    scheduler.submit(context -> {
      plans.warmUp();
      return null;
    });
  }

  /// Sets the time zone that sessions begin with; UTC otherwise.
  ///
  /// @throws EngineException INVALID_PARAMETER_VALUE
  public void timeZone(String name) {
    surroundings.timeZone(Zone.named(name));
  }

  /// Changes limits, each as in [EngineConfig]. That of the store's memory and of temporary files count at once, the others for statements
  /// that begin.
  public void limits(
      long memoryBytes, long statementMemoryBytes, long tempSpaceBytes, long lockTimeoutNanos) {
    store.memoryLimit(memoryBytes);
    tempSpace.limit(tempSpaceBytes);
    transactions.limits(statementMemoryBytes, lockTimeoutNanos);
  }

  /// Lets commits wait for a standby from now on; null: for none.
  public void synchronous(@Nullable SynchronousConfig config) {
    store.synchronous(config);
  }

  /// Sets what SHOW gives of the program that this engine is a part of.
  public void showSettings(List<ShownSetting> settings) {
    surroundings.showSettings(settings);
  }

  /// Sets who does what ALTER SYSTEM says.
  public void settingsKeeper(ShownSetting.Keeper host) {
    surroundings.settingsKeeper(host);
  }

  @Override
  public EngineSession openSession(String userName, String owner) {
    refuseWhenClosing();
    roles.came(userName);
    return new EmbeddedSession(
        this, userName, owner, sequenceValues.session(), surroundings.timeZone());
  }

  @Override
  public ManagedTransaction begin(BeginOptions options) {
    refuseWhenClosing();
    return transactions.begin(options);
  }

  /// Ends an open transaction of anybody, as far as a role may, or a viewer as long as rights do not count.
  ///
  /// @return false: there is none
  /// @throws EngineException INSUFFICIENT_PRIVILEGE
  boolean terminate(long id, Viewer viewer, String roleName) {
    return transactions.terminate(
        id,
        owner ->
            roles.areUsed() ? roles.mayCancel(roleName, owner.userName()) : viewer.sees(owner));
  }

  @Override
  public List<PreparedTransaction> preparedTransactions() {
    return transactions.prepared().list();
  }

  @Override
  public void preparedListener(PreparedTransaction.Listener listener) {
    transactions.prepared().listener(listener);
  }

  @Override
  public RecoveredOutcomes recoveredOutcomes() {
    return store.recoveredOutcomes();
  }

  @Override
  public void whenAllDurable(Runnable done) {
    store.whenAllDurable(done);
  }

  @Override
  public int sharedMemory() {
    return store.sharedMemory();
  }

  Store store() {
    return store;
  }

  /// Sequences for a session of its own.
  SequenceAccess sequences() {
    return sequenceValues.session();
  }

  public TempSpace tempSpace() {
    return tempSpace;
  }

  @Override
  public void blockingExecutor(BlockingExecutor executor) {
    ApplicationSystem system = applications.system();
    store.blockingExecutor(system == null ? executor : system.lent(executor));
  }

  @Override
  public void clientSessions(Supplier<List<ClientSession>> sessions) {
    surroundings.clientSessions(sessions);
  }

  @Override
  public void requestTimes(Supplier<long[]> times) {
    surroundings.requestTimes(times);
  }

  @Override
  public void bulkAccess(BulkAccess access) {
    surroundings.bulkAccess(access);
  }

  @Override
  public void transactionTokens(BiFunction<String, String, OptionalLong> references) {
    surroundings.transactionTokens(references);
  }

  /// The open transaction of a user's token, or null.
  @Nullable ManagedTransaction transaction(String user, String token) {
    OptionalLong handle = surroundings.transactionHandle(user, token);
    return handle.isEmpty() ? null : transactions.find(handle.getAsLong());
  }

  /// Memory that a statement may hold from now on.
  long statementMemoryBytes() {
    return transactions.statementMemoryBytes();
  }

  /// Facts that the program around the engine has told it.
  EngineSurroundings surroundings() {
    return surroundings;
  }

  @Override
  public EngineRoles roles() {
    return roles;
  }

  @Override
  public @Nullable QueueSystem queues() {
    return store.queues();
  }

  /// Native applications.
  EngineApplications applications() {
    return applications;
  }

  @Override
  public List<ApplicationDefinition> applicationDefinitions() {
    return catalog.snapshot().applicationDefinitions();
  }

  @Override
  public Backup backup() {
    refuseWhenClosing();
    return store.backup();
  }

  @Override
  public LogFeed feed(LogRequest request) throws IOException {
    refuseWhenClosing();
    return store.feed(request);
  }

  @Override
  public void keepLogFor(String standby) throws IOException {
    refuseWhenClosing();
    store.keepLogFor(standby);
  }

  @Override
  public @Nullable LogStatus logStatus() {
    return store.logStatus();
  }

  /// Says how many bytes of the log are kept for a standby that lacks them; without it, all.
  public void standbyBacklog(long bytes) {
    store.standbyBacklog(bytes);
  }

  @Override
  public String timelines() {
    return store.timelines();
  }

  @Override
  public @Nullable FollowedLog followedLog() {
    return followed;
  }

  @Override
  public List<String> definitions() {
    return DefinitionRows.statements(catalog.snapshot());
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closing) {
        return;
      }
      closing = true;
    }
    applications.close();
    // Doors are shut. A commit that waits for a standby would keep the end of its transaction
    // waiting.
    store.closing();
    transactions.rollbackAll();
    planning().close();
    statistics.close();
    store.close();
  }

  void refuseWhenClosing() {
    if (closing) {
      throw new EngineException(ErrorCode.SHUTTING_DOWN, "the engine is shutting down");
    }
  }

  /// Facts that planners ask for.
  public LiveTables facts() {
    return facts;
  }

  /// Plans of statements.
  public StatementPlans plans() {
    return plans;
  }

  /// The task of a DDL statement.
  ///
  /// @param parameters of the statement, valid until it ends
  Task define(
      DdlStatement statement,
      StatementExecution execution,
      ParameterBatch parameters,
      Definer definer,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    DefinitionRun run =
        new DefinitionRun(
            catalog,
            statement,
            execution,
            definer,
            (sql, state) ->
                (Prepared.Planned)
                    SqlFront.prepare(
                        sql, new int[0], state, facts, execution.zone(), definer.role()),
            sink,
            done);
    return run.withCode(parameters, applications.deploying(surroundings.bulkAccess(), scheduler));
  }

  /// The task that collects statistics of tables now.
  ///
  /// @param statement whose cancel ends it
  Task analyze(
      List<Table> tables, Interrupts.Source statement, Consumer<@Nullable Throwable> done) {
    return statistics.analyze(tables, statement, done);
  }

  TaskScheduler scheduler() {
    return scheduler;
  }

  /// Services that loads in batches need.
  LoadEngine loads() {
    return loads;
  }

  /// Where statements are planned.
  PlanningThreads planning() {
    return transactions.planning();
  }

  PreparedTransactions prepared() {
    return transactions.prepared();
  }

  public CatalogSnapshot catalogSnapshot() {
    return catalog.snapshot();
  }
}
