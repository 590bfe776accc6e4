package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BlockingExecutor;
import dev.kakehashi.engine.api.ClientSession;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.bulk.DumpRunner;
import dev.kakehashi.engine.bulk.LoadEngine;
import dev.kakehashi.engine.catalog.Catalog;
import dev.kakehashi.engine.catalog.CatalogNames;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.LiveTables;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.ddl.Definer;
import dev.kakehashi.engine.ddl.DefinitionRun;
import dev.kakehashi.engine.exec.rows.TempSpace;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.sql.SqlFront;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.parser.DdlParser;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.statistics.StatisticsKeeper;
import dev.kakehashi.engine.statistics.StatisticsRows;
import dev.kakehashi.engine.statistics.StatisticsSource;
import dev.kakehashi.engine.statistics.TableStatistics;
import dev.kakehashi.engine.store.StoreFactory;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableMemory;
import dev.kakehashi.engine.txn.Deadlocks;
import dev.kakehashi.engine.txn.DeclaredArea;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.PreparedTransactions;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.txn.TableLocks;
import dev.kakehashi.engine.txn.TransactionEnvironment;
import dev.kakehashi.engine.type.SequenceAccess;
import dev.kakehashi.engine.type.time.Zone;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The embedded engine: PostgreSQL's SQL over the store in this process, run as tasks on a scheduler.
///
/// Thread-safe. The scheduler belongs to the caller, who closes it after the engine.
public final class EmbeddedEngine implements Engine {
  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedEngine.class);

  /// As PostgreSQL's `MaxTupleAttributeNumber`.
  private static final int MAX_RESULT_COLUMNS = 1664;

  private final EngineConfig config;
  private final TaskScheduler scheduler;
  private final Store store;
  private final TempSpace tempSpace;
  private final Catalog catalog;
  private final SequenceValues sequenceValues;
  private final PlanCache plans;
  private final StatisticsKeeper statistics;
  private final EngineApplications applications;
  private final PreparedTransactions prepared;
  private final Deadlocks deadlocks = new Deadlocks();
  private final TableLocks locks;
  private final Environment environment = new Environment();
  private final Facts facts = new Facts();
  private final LoadEngine loads = new Loads();
  private final Set<ManagedTransaction> transactions = ConcurrentHashMap.newKeySet();
  private volatile Zone timeZone = Zone.UTC;
  private volatile List<ShownSetting> shownSettings = List.of();
  private volatile ShownSetting.Keeper settingsKeeper = ShownSetting.Keeper.NONE;

  /// Limits of one statement, see [EngineConfig].
  private record StatementLimits(long memoryBytes, long lockTimeoutNanos) {}

  /// Replaced by whoever changes them; read by each statement, on whatever thread.
  private volatile StatementLimits statementLimits;

  private volatile Supplier<List<ClientSession>> clientSessions = List::of;
  private volatile Supplier<long[]> requestTimes = () -> new long[0];
  private volatile BulkAccess bulkAccess = BulkAccess.NONE;
  private volatile BiFunction<String, String, OptionalLong> transactionTokens =
      (user, token) -> OptionalLong.empty();

  private final Supplier<Collection<String>> locationNames = this::namesOfLocations;

  /// What the queues know; the same object as long as no queue is defined anew. Used under the lock of the committed catalogue.
  private List<QueueDefinition> definedQueues = List.of();

  private volatile boolean closing;

  private final EngineRoles roles;

  private EmbeddedEngine(EngineConfig config, TaskScheduler scheduler) {
    this.config = config;
    this.statementLimits =
        new StatementLimits(config.statementMemoryBytes(), config.lockTimeoutNanos());
    this.scheduler = scheduler;
    this.store = StoreFactory.open(config.store());
    this.tempSpace =
        new TempSpace(config.store().directory().resolve("temp"), config.tempSpaceBytes());
    this.prepared = new PreparedTransactions(store.prepared());
    this.catalog = new Catalog(store);
    this.roles = new EngineRoles(catalog::snapshot);
    this.locks =
        new TableLocks(deadlocks, id -> store.hasTable(id) || catalog.snapshot().hasObject(id));
    this.sequenceValues = new SequenceValues(store);
    this.plans = new PlanCache(config.planCacheEntries());
    this.statistics = new StatisticsKeeper(store, catalog::snapshot, scheduler);
    store.prepared().forEach(this::lockForPrepared);
    this.applications = new EngineApplications(config.applications());
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
      applications.committed(committed);
    });
  }

  /// Opens the data directory and recovers it.
  ///
  /// @throws EngineException DATA_CORRUPTED, CANNOT_CONNECT (another process has the directory) or OUT_OF_MEMORY
  public static EmbeddedEngine open(EngineConfig config, TaskScheduler scheduler) {
    EmbeddedEngine engine = new EmbeddedEngine(config, scheduler);
    engine.statistics.start();
    engine.applications.start(engine);
    return engine;
  }

  /// A transaction that an earlier run has prepared keeps others from what it uses.
  private void lockForPrepared(StoreTransaction transaction) {
    TableLocks.Owner owner = new TableLocks.Owner(transaction.id());
    locks.restore(owner, transaction.definitions(), transaction.changedTables());
    transaction.whenEnded(() -> locks.releaseAll(owner));
    // Nor is it remembered which rows its own ones reference.
    CatalogSnapshot tables = catalog.snapshot();
    for (long tableId : transaction.changedTables()) {
      Table table = tables.table(tableId);
      if (table != null) {
        table.foreignKeys().forEach(key -> store.table(key.referencedId()).lockKeys(transaction));
      }
    }
  }

  @Override
  public void warmUp() {
    scheduler.submit(context -> {
      warmUpPlanner();
      return null;
    });
  }

  /// The first plan takes most of a second (class loading, generated metadata handlers): not in front of a user, and not beside the start.
  private void warmUpPlanner() {
    for (String sql :
        List.of(
            "select 1",
            "select table_name, count(*) from kakehashi_catalog.columns where table_schema = $1"
                + " group by table_name order by 2 desc limit 10",
            "select t.table_name from kakehashi_catalog.tables t"
                + " join kakehashi_catalog.columns c on t.table_name = c.table_name"
                + " join kakehashi_catalog.indexes i on i.table_name = c.table_name"
                + " where exists (select 1 from kakehashi_catalog.indexes x where x.table_name = t.table_name)")) {
      try {
        SqlFront.prepare(sql, new int[0], catalog.snapshot(), facts, Zone.UTC, RoleSet.SUPERUSER);
      } catch (RuntimeException failed) {
        LOG.warn("could not warm up the planner", failed);
      }
    }
  }

  /// Sets the time zone that sessions begin with; UTC otherwise.
  ///
  /// @throws EngineException INVALID_PARAMETER_VALUE
  public void timeZone(String name) {
    timeZone = Zone.named(name);
  }

  /// Changes limits, each as in [EngineConfig]. That of the store's memory and of temporary files count at once, the others for statements that begin.
  public void limits(
      long memoryBytes, long statementMemoryBytes, long tempSpaceBytes, long lockTimeoutNanos) {
    store.memoryLimit(memoryBytes);
    tempSpace.limit(tempSpaceBytes);
    statementLimits = new StatementLimits(statementMemoryBytes, lockTimeoutNanos);
  }

  /// Sets what SHOW gives of the program that this engine is a part of.
  public void showSettings(List<ShownSetting> settings) {
    shownSettings = List.copyOf(settings);
  }

  /// Sets who does what ALTER SYSTEM says.
  public void settingsKeeper(ShownSetting.Keeper host) {
    settingsKeeper = host;
  }

  ShownSetting.Keeper settingsKeeper() {
    return settingsKeeper;
  }

  @Override
  public EngineSession openSession(String userName, String owner) {
    refuseWhenClosing();
    roles.came(userName);
    return new EmbeddedSession(this, userName, owner, sequenceValues.session(), timeZone);
  }

  @Override
  public ManagedTransaction begin(BeginOptions options) {
    refuseWhenClosing();
    if (transactions.size() + prepared.count() >= config.maxTransactions()) {
      throw new EngineException(
          ErrorCode.TOO_MANY_SESSIONS,
          "too many open transactions, the limit is " + config.maxTransactions());
    }
    ManagedTransaction transaction =
        new ManagedTransaction(environment, options, DeclaredArea.of(options, catalog.snapshot()));
    transactions.add(transaction);
    transaction.start();
    return transaction;
  }

  @Override
  public List<PreparedTransaction> preparedTransactions() {
    return prepared.list();
  }

  @Override
  public void preparedListener(PreparedTransaction.Listener listener) {
    prepared.listener(listener);
  }

  @Override
  public RecoveredOutcomes recoveredOutcomes() {
    return store.recoveredOutcomes();
  }

  @Override
  public void whenAllDurable(Runnable done) {
    store.whenAllDurable(done);
  }

  Store store() {
    return store;
  }

  /// Sequences for a session of its own.
  SequenceAccess sequences() {
    return sequenceValues.session();
  }

  TempSpace tempSpace() {
    return tempSpace;
  }

  @Override
  public void blockingExecutor(BlockingExecutor executor) {
    ApplicationSystem system = applications.system();
    store.blockingExecutor(system == null ? executor : system.lent(executor));
  }

  @Override
  public void clientSessions(Supplier<List<ClientSession>> sessions) {
    clientSessions = sessions;
  }

  @Override
  public void requestTimes(Supplier<long[]> times) {
    requestTimes = times;
  }

  @Override
  public void bulkAccess(BulkAccess access) {
    bulkAccess = access;
  }

  @Override
  public void transactionTokens(BiFunction<String, String, OptionalLong> references) {
    transactionTokens = references;
  }

  /// What the token of a user's transaction stands for.
  OptionalLong transactionHandle(String user, String token) {
    return transactionTokens.apply(user, token);
  }

  /// The open transaction of a reference, or null.
  @Nullable ManagedTransaction transaction(long reference) {
    for (ManagedTransaction each : transactions) {
      if (each.reference() == reference) {
        return each;
      }
    }
    return null;
  }

  /// Memory that a statement may hold from now on.
  long statementMemoryBytes() {
    return statementLimits.memoryBytes();
  }

  /// Who reads and writes files.
  BulkAccess bulkAccess() {
    return bulkAccess;
  }

  private Collection<String> namesOfLocations() {
    return bulkAccess.locations().stream().map(BulkAccess.Location::name).toList();
  }

  /// Names of the locations that the settings have; the same object always.
  Supplier<Collection<String>> locationNames() {
    return locationNames;
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
  public List<String> definitions() {
    return catalog.snapshot().definitions();
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
    List<ManagedTransaction> open = List.copyOf(transactions);
    CountDownLatch ended = new CountDownLatch(open.size());
    open.forEach(transaction -> transaction.rollback(ended::countDown));
    boolean interrupted = false;
    while (true) {
      try {
        ended.await();
        break;
      } catch (InterruptedException e) {
        // The store must not be closed under a running statement.
        interrupted = true;
      }
    }
    statistics.close();
    store.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  void refuseWhenClosing() {
    if (closing) {
      throw new EngineException(ErrorCode.SHUTTING_DOWN, "the engine is shutting down");
    }
  }

  /// Live rows of a table, approximately.
  long rowCount(Table table) {
    return rowCount(table.tableId());
  }

  /// Of a table by its number; system tables have negative ones.
  private long rowCount(long tableId) {
    if (tableId < 0) {
      return 0;
    }
    try {
      return store.table(tableId).rowCount();
    } catch (IllegalArgumentException dropped) {
      return 0;
    }
  }

  /// Plans a statement, or takes the cached plan.
  ///
  /// @param snapshot the catalogue as its transaction sees it
  /// @param zone of the session
  /// @param role whose rights count
  /// @throws EngineException INSUFFICIENT_PRIVILEGE if it may not run the plan
  PlanCache.Plan plan(
      String sql, int[] parameterOids, CatalogSnapshot snapshot, Zone zone, long role) {
    PlanCache.Plan plan = made(sql, parameterOids, snapshot, zone, role);
    allow(plan, snapshot, role);
    return plan;
  }

  /// @throws EngineException INSUFFICIENT_PRIVILEGE
  void allow(PlanCache.Plan plan, CatalogSnapshot snapshot, long role) {
    if (!plan.allowed().has(role)) {
      plan.prepared().needs().check(snapshot, role);
      plan.allowed().add(role);
    }
  }

  private PlanCache.Plan made(
      String sql, int[] parameterOids, CatalogSnapshot snapshot, Zone zone, long role) {
    PlanCache.Plan cached = cachedPlan(sql, parameterOids, snapshot, zone);
    if (cached != null) {
      return cached;
    }
    // Statistics that change while the plan is made may have been seen or not: it is made again
    // then.
    long before = statistics.planVersion();
    Prepared prepared = SqlFront.prepare(sql, parameterOids, snapshot, facts, zone, role);
    if (prepared.columns().size() > MAX_RESULT_COLUMNS) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED,
          "target lists can have at most " + MAX_RESULT_COLUMNS + " entries");
    }
    long[] tables =
        switch (prepared) {
          case Prepared.Planned planned -> planned.estimates().tables();
          case Prepared.Dump dump -> dump.query().estimates().tables();
          default -> new long[0];
        };
    PlanBasis basis = new PlanBasis(statistics, before, tables, this::rowCount);
    PlanRunner runner =
        switch (prepared) {
          case Prepared.Planned planned -> PlanRunner.of(planned.plan(), planned.parameterOids());
          case Prepared.Measured measured ->
              PlanRunner.measured(
                  measured.statement().plan(), measured.parameterOids(), measured.report());
          case Prepared.Dump dump -> new DumpRunner(dump);
          default -> null;
        };
    boolean zoned =
        switch (prepared) {
          case Prepared.Planned planned -> planned.zoned();
          case Prepared.Load load -> load.zoned();
          case Prepared.Call call -> call.zoned();
          default -> true;
        };
    PlanCache.Plan plan =
        new PlanCache.Plan(
            prepared,
            runner,
            snapshot.version(),
            basis,
            new AllowedRoles(),
            zoned ? zone.name() : null,
            ReceiveCall.of(prepared));
    if ((prepared instanceof Prepared.Call
            || (prepared instanceof Prepared.Planned planned && planned.reusable()))
        && snapshot == catalog.snapshot()) {
      plans.add(sql, parameterOids, plan);
    }
    return plan;
  }

  PlanCache.@Nullable Plan cachedPlan(
      String sql, int[] parameterOids, CatalogSnapshot snapshot, Zone zone) {
    PlanCache.Plan cached = plans.find(sql, parameterOids, snapshot.version(), zone.name());
    if (cached == null) {
      return null;
    }
    return cached.basis().isCurrent() && !cached.basis().hasGrown(this::rowCount) ? cached : null;
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
    return run.withCode(parameters, applications.deploying(bulkAccess, scheduler));
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

  /// What loads in batches need.
  LoadEngine loads() {
    return loads;
  }

  PreparedTransactions prepared() {
    return prepared;
  }

  CatalogSnapshot catalogSnapshot() {
    return catalog.snapshot();
  }

  /// What a planner asks.
  private final class Facts implements LiveTables, StatisticsSource {
    @Override
    public @Nullable TableStatistics statistics(Table table) {
      return statistics.of(table);
    }

    @Override
    public List<@Nullable Object[]> columnStatistics(List<Table> of, Viewer viewer) {
      CatalogSnapshot now = catalog.snapshot();
      Permissions permissions = new Permissions(now, roles.role(now.roles(), viewer.userName()));
      return StatisticsRows.of(
          of,
          this,
          (table, column) ->
              ((permissions.on(ObjectKind.TABLE, table.rights()) | permissions.on(column))
                      & Privilege.SELECT.bit())
                  != 0);
    }

    @Override
    public @Nullable ApplicationSystem applications() {
      return applications.system();
    }

    @Override
    public BulkAccess bulkAccess() {
      return bulkAccess;
    }

    @Override
    public List<@Nullable Object[]> locations(Viewer viewer) {
      CatalogSnapshot now = catalog.snapshot();
      Permissions permissions = new Permissions(now, roles.role(now.roles(), viewer.userName()));
      List<@Nullable Object[]> rows = new ArrayList<>();
      for (BulkAccess.Location each : bulkAccess.locations()) {
        String privileges =
            Privilege.of(permissions.onLocation(each.name())).stream()
                .map(Privilege::name)
                .collect(Collectors.joining(", "));
        rows.add(
            new @Nullable Object[] {each.name(), each.readable(), each.writable(), privileges});
      }
      return rows;
    }

    @Override
    public List<@Nullable Object[]> queues(int tableId, CatalogNames names, Viewer viewer) {
      QueueSystem queues = store.queues();
      return queues == null
          ? List.of()
          : QueueRows.of(
              tableId, queues, names, roles.role(names.catalog().roles(), viewer.userName()));
    }

    @Override
    public List<@Nullable Object[]> applications(int tableId, CatalogNames names, Viewer viewer) {
      return ApplicationTableRows.of(
          tableId,
          names.catalog(),
          applications.system(),
          roles.role(names.catalog().roles(), viewer.userName()));
    }

    @Override
    public List<ShownSetting> settings() {
      return shownSettings;
    }

    @Override
    public long applyAsLong(Table table) {
      return rowCount(table);
    }

    @Override
    public List<@Nullable Object[]> transactions(Viewer viewer) {
      long published = store.usage().published();
      List<@Nullable Object[]> rows = new ArrayList<>();
      for (ManagedTransaction each : transactions) {
        BeginOptions options = each.options();
        boolean seen = viewer.sees(each.owner());
        rows.add(
            new @Nullable Object[] {
              each.id(),
              seen ? options.label() : ActivityRows.HIDDEN,
              options.kind().name(),
              options.isolation().name().replace('_', ' '),
              each.state().name(),
              each.timestamp(),
              each.hasWrites(),
              seen ? each.reference() : null,
              Math.max(0, published - each.heldSnapshot()),
              (long) options.priority(),
              each.epoch() == 0 ? null : each.epoch(),
              each.isWaiting()
            });
      }
      return rows;
    }

    @Override
    public List<@Nullable Object[]> memory() {
      Store.Usage usage = store.usage();
      return List.<@Nullable Object[]>of(
          new @Nullable Object[] {
            usage.limitBytes(),
            usage.reservedBytes(),
            usage.queuedWrites(),
            usage.published() - usage.horizon(),
            usage.usedBytes()
          });
    }

    @Override
    public List<@Nullable Object[]> storage(Viewer viewer) {
      return viewer.sight() == Viewer.Sight.ALL ? ActivityRows.storage(store.diskUse()) : List.of();
    }

    @Override
    public List<@Nullable Object[]> requestTimes(Viewer viewer) {
      return viewer.sight() == Viewer.Sight.ALL
          ? ActivityRows.requestTimes(requestTimes.get())
          : List.of();
    }

    @Override
    public List<@Nullable Object[]> tableMemory(List<Table> of) {
      List<@Nullable Object[]> rows = new ArrayList<>();
      for (Table table : of) {
        TableMemory memory = table.isSystem() ? null : store.memoryOf(table.tableId());
        if (memory != null) {
          rows.add(
              new @Nullable Object[] {
                table.schema(),
                table.name(),
                memory.pageBytes() + memory.valueBytes() + memory.indexBytes(),
                memory.pageBytes(),
                memory.valueBytes(),
                memory.indexBytes()
              });
        }
      }
      return rows;
    }

    @Override
    public List<@Nullable Object[]> waits() {
      List<Deadlocks.Edge> edges = deadlocks.list();
      return edges.isEmpty()
          ? List.of()
          : ActivityRows.waits(edges, transactions, clientSessions.get(), prepared.list());
    }

    @Override
    public List<@Nullable Object[]> sessions(Viewer viewer) {
      return ActivityRows.sessions(clientSessions.get(), viewer);
    }

    @Override
    public List<@Nullable Object[]> jobs(Viewer viewer) {
      return ActivityRows.jobs(scheduler.jobs(), viewer);
    }

    @Override
    public List<@Nullable Object[]> copies(Viewer viewer) {
      return ActivityRows.copies(scheduler.jobs(), viewer);
    }

    @Override
    public @Nullable Long lastValue(Sequence sequence) {
      return sequenceValues.lastValue(sequence.definition());
    }

    @Override
    public List<@Nullable Object[]> locks() {
      List<@Nullable Object[]> rows = new ArrayList<>();
      CatalogSnapshot names = catalog.snapshot();
      for (TableLocks.Held held : locks.list()) {
        Table table = names.table(held.tableId());
        rows.add(
            new @Nullable Object[] {
              held.transactionId(),
              table == null ? null : table.schema(),
              table == null ? null : table.name(),
              held.mode().name(),
              held.granted()
            });
      }
      return rows;
    }

    @Override
    public List<@Nullable Object[]> preparedTransactions(Viewer viewer) {
      List<@Nullable Object[]> rows = new ArrayList<>();
      for (PreparedTransaction each : prepared.list()) {
        rows.add(
            new @Nullable Object[] {
              each.id(),
              each.globalId(),
              each.preparedMicros(),
              each.owner(),
              each.userName(),
              viewer.sees(new Viewer(each.owner(), each.userName(), "", Viewer.Sight.ROLE))
                  ? each.reference()
                  : null
            });
      }
      return rows;
    }
  }

  private final class Loads implements LoadEngine {
    @Override
    public ManagedTransaction begin() {
      return EmbeddedEngine.this.begin(BeginOptions.DEFAULT);
    }

    @Override
    public Prepared.Planned plan(String sql, int[] parameterOids, CatalogSnapshot tables) {
      return (Prepared.Planned)
          SqlFront.prepare(sql, parameterOids, tables, facts, Zone.UTC, RoleSet.SUPERUSER);
    }

    @Override
    public Task define(
        String sql,
        StatementExecution execution,
        ResultSink sink,
        BiConsumer<@Nullable Long, @Nullable EngineException> done) {
      String operator = roles.operator();
      Definer definer =
          new Definer(
              RoleSet.SUPERUSER,
              RoleSet.SUPERUSER,
              operator,
              operator,
              roles::names,
              locationNames);
      DdlStatement statement = DdlParser.parse(sql, Lexer.tokenize(sql));
      return EmbeddedEngine.this.define(
          statement, execution, ParameterBatch.NONE, definer, sink, done);
    }

    @Override
    public SequenceAccess sequences() {
      return sequenceValues.session();
    }

    @Override
    public TaskScheduler scheduler() {
      return scheduler;
    }

    @Override
    public void whenAllDurable(Runnable done) {
      store.whenAllDurable(done);
    }
  }

  private final class Environment implements TransactionEnvironment {
    @Override
    public Store store() {
      return store;
    }

    @Override
    public TaskScheduler scheduler() {
      return scheduler;
    }

    @Override
    public Deadlocks deadlocks() {
      return deadlocks;
    }

    @Override
    public TableLocks locks() {
      return locks;
    }

    @Override
    public CatalogSnapshot catalog() {
      return catalog.snapshot();
    }

    @Override
    public long lockTimeoutNanos() {
      return statementLimits.lockTimeoutNanos();
    }

    @Override
    public PreparedTransactions prepared() {
      return prepared;
    }

    @Override
    public long statementMemoryBytes() {
      return statementLimits.memoryBytes();
    }

    @Override
    public TempSpace tempSpace() {
      return tempSpace;
    }

    @Override
    public EngineException describe(EngineException failure, RowConflict conflict) {
      return ConflictReport.describe(failure, conflict, store, catalog.snapshot());
    }

    @Override
    public String tableName(long tableId) {
      return catalog.snapshot().tables().stream()
          .filter(table -> table.tableId() == tableId)
          .map(table -> table.schema() + "." + table.name())
          .findFirst()
          .orElse("number " + tableId);
    }

    @Override
    public void ended(ManagedTransaction transaction) {
      transactions.remove(transaction);
      if (transaction.hasWrites()) {
        statistics.changed();
      }
    }
  }
}
