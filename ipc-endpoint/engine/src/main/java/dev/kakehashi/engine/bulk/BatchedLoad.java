package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.bulk.BulkUser;
import dev.kakehashi.engine.api.bulk.LoadRequest.LoadControl;
import dev.kakehashi.engine.api.bulk.LoadSource;
import dev.kakehashi.engine.exec.operator.CopyActivity;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.plan.LoadPlan;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/// COPY ... FROM in batches: lanes of transactions of their own, see [LoadLane]. A load with a name keeps how far it is in the transactions that bring it there, see [LoadLog]: it goes on after
/// whatever has ended it, and each row is there once.
///
/// While it runs, a transaction of its own has the load's lock. Steps before and after the lanes come one after another; `failure` is set by the first that fails.
public final class BatchedLoad implements Task, Interrupts.Source, CopyActivity {
  private final Prepared.Load statement;
  private final LoadEngine engine;
  private final StatementExecution execution;
  private final FunctionSession session;
  private final BulkUser user;
  private final ResultSink sink;
  private final BiConsumer<@Nullable Long, @Nullable EngineException> done;
  private final MemoryAccount memory = new MemoryAccount();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final AtomicInteger running = new AtomicInteger();

  /// Inner statements that run.
  private final Set<StatementExecution> inner = ConcurrentHashMap.newKeySet();

  /// How far parts are, by their numbers.
  private final Map<Long, PartPosition> positions = new ConcurrentHashMap<>();

  private volatile @Nullable LoadSource source;
  private volatile @Nullable SourceColumns columns;

  /// Null: the load has no name.
  private volatile @Nullable LoadLog log;

  private volatile @Nullable ManagedTransaction lock;
  private String digest = "";
  private long loadedBefore;
  private long rowsBefore;

  /// @param session what functions see
  /// @param user who reads the files
  /// @param done gets the number of rows that this run has loaded, or the failure, exactly once
  public BatchedLoad(
      Prepared.Load statement,
      LoadEngine engine,
      StatementExecution execution,
      FunctionSession session,
      BulkUser user,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    this.statement = statement;
    this.engine = engine;
    this.execution = execution;
    this.session = session;
    this.user = user;
    this.sink = sink;
    this.done = done;
  }

  // ---- for the lanes ----

  LoadPlan plan() {
    return statement.plan();
  }

  private LoadControl control() {
    return statement.request().control();
  }

  boolean tolerant() {
    return control().tolerant();
  }

  long batchRows() {
    return control().batchRows();
  }

  SourceColumns columns() {
    return Objects.requireNonNull(columns);
  }

  @Nullable LoadLog log() {
    return log;
  }

  /// Tables that a transaction of a lane locks.
  long[] tables() {
    LoadLog kept = log;
    return kept == null
        ? statement.tables()
        : LongStream.concat(Arrays.stream(statement.tables()), Arrays.stream(kept.tables()))
            .distinct()
            .toArray();
  }

  void scanned(long rows) {
    execution.scanned(rows);
  }

  @Override
  public void checkCanceled() {
    execution.checkCanceled();
  }

  boolean failed() {
    return failure.get() != null;
  }

  /// The lanes end: what they have not committed is undone.
  void noteFailure(Throwable thrown) {
    if (failure.compareAndSet(null, thrown)) {
      cancelInner();
    }
  }

  private void cancelInner() {
    inner.forEach(StatementExecution::cancel);
  }

  ManagedTransaction begin() {
    ManagedTransaction transaction = engine.begin();
    transaction.owner(execution.viewer());
    return transaction;
  }

  InnerStatement inner(FunctionSession of, long[] tables, InnerStatement.Body body) {
    return new InnerStatement(execution.name(), of, execution.viewer(), tables, false, body, this);
  }

  /// Runs a statement in a transaction of the load's own.
  ///
  /// @param then gets null or the failure
  void run(
      ManagedTransaction transaction,
      InnerStatement work,
      Consumer<@Nullable EngineException> then) {
    AtomicReference<@Nullable StatementExecution> own = new AtomicReference<>();
    StatementExecution made =
        new StatementExecution(
            transaction,
            work,
            new ExecuteOptions(true, 0, 0, 0),
            (count, failed) -> {
              StatementExecution ended = own.get();
              if (ended != null) {
                inner.remove(ended);
              }
              then.accept(failed);
            });
    own.set(made);
    inner.add(made);
    if (failed()) {
      made.cancel();
    }
    transaction.execute(made);
  }

  PartPosition known(long part) {
    return positions.getOrDefault(part, PartPosition.BEGIN);
  }

  void committed(long part, PartPosition position) {
    positions.put(part, position);
  }

  // ---- how far it is ----

  @Override
  public boolean isLoad() {
    return true;
  }

  @Override
  public long bytes() {
    LoadSource files = source;
    return files == null ? 0 : files.readBytes();
  }

  @Override
  public long totalBytes() {
    LoadSource files = source;
    return files == null ? 0 : files.totalBytes();
  }

  /// Those that are committed, as all counts are; rows of earlier runs are among them.
  @Override
  public long rows() {
    return sum(PartPosition::rows);
  }

  @Override
  public long filtered() {
    return sum(PartPosition::filtered);
  }

  @Override
  public long rejected() {
    return sum(PartPosition::rejected);
  }

  private long sum(ToLongFunction<PartPosition> count) {
    return positions.values().stream().mapToLong(count).sum();
  }

  // ---- before the lanes ----

  @Override
  public @Nullable Task run(TaskContext context) {
    Interrupts.Source before = Interrupts.enter(this);
    try {
      execution.checkCanceled();
      execution.checkWritable("COPY FROM");
      memory.open(execution.memoryLimitBytes(), execution.tempSpace(), execution::checkCanceled);
      execution.onCancel(this::cancelInner);
      LoadPlan plan = plan();
      LoadSource open =
          statement
              .request()
              .open(
                  plan.target().schema() + "." + plan.target().table(),
                  plan.columns(),
                  plan.listed(),
                  user,
                  new StatementFiles(this, memory));
      source = open;
      execution.copying(this);
      columns = SourceColumns.of(open, plan);
      int workers = workers(context.scheduler().config().workers());
      if (control().loadId() == null) {
        startLanes(workers);
      } else {
        digest = HexFormat.of().formatHex(open.digest());
        define(LoadLog.exists(execution.catalog()), () -> register(workers));
      }
    } catch (Throwable failed) {
      noteFailure(failed);
      conclude();
    } finally {
      Interrupts.leave(before);
    }
    return null;
  }

  @Override
  public void discarded(Job job) {
    noteFailure(RunFailures.canceled());
    conclude();
  }

  private int workers(int most) {
    boolean inOrder = !plan().defaults().stream().allMatch(ExprRewriter::isRepeatable);
    int wanted = control().workers() == 0 ? most : Math.min(control().workers(), most);
    return inOrder ? 1 : wanted;
  }

  /// Goes on, unless a step has failed.
  private Consumer<@Nullable EngineException> then(Runnable next) {
    return failed -> {
      if (failed != null) {
        noteFailure(failed);
      }
      if (failed()) {
        conclude();
        return;
      }
      try {
        next.run();
      } catch (Throwable thrown) {
        noteFailure(thrown);
        conclude();
      }
    };
  }

  private void define(boolean exists, Runnable next) {
    if (exists) {
      next.run();
      return;
    }
    ManagedTransaction transaction = begin();
    define(transaction, LoadLog.DEFINITIONS.iterator(), next);
  }

  private void define(ManagedTransaction transaction, Iterator<String> left, Runnable next) {
    if (!left.hasNext()) {
      transaction.commit(CommitResponse.AVAILABLE, then(next));
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
            (run, ended) -> engine.define(sql, run, new CollectedResult(), ended),
            this);
    run(
        transaction,
        work,
        failed -> {
          if (failed == null && !failed()) {
            define(transaction, left, next);
          } else {
            transaction.rollback(() -> then(next).accept(failed));
          }
        });
  }

  private void register(int workers) {
    LoadPlan plan = plan();
    LoadLog kept =
        new LoadLog(
            engine,
            execution.catalog(),
            user.name(),
            Objects.requireNonNull(control().loadId()),
            plan.target().schema() + "." + plan.target().table(),
            digest);
    log = kept;
    lock(kept, workers, true);
  }

  /// Says that there is such a load.
  private void write(LoadLog kept, int workers) {
    ManagedTransaction transaction = begin();
    run(
        transaction,
        inner(session, kept.tables(), kept::register),
        failed -> {
          if (failed == null && !failed()) {
            transaction.commit(CommitResponse.AVAILABLE, then(() -> lock(kept, workers, false)));
          } else {
            transaction.rollback(() -> then(() -> {}).accept(failed));
          }
        });
  }

  /// @param mayBeNew whether there may be no such load yet
  private void lock(LoadLog kept, int workers, boolean mayBeNew) {
    ManagedTransaction transaction = begin();
    lock = transaction;
    CollectedResult known = new CollectedResult();
    run(
        transaction,
        inner(session, kept.tables(), (run, ended) -> kept.lock(run, known, ended)),
        then(() -> {
          LoadLog.Known found = LoadLog.known(known);
          if (found == null && mayBeNew) {
            lock = null;
            transaction.rollback(() -> then(() -> write(kept, workers)).accept(null));
          } else {
            compare(found);
            read(kept, transaction, workers);
          }
        }));
  }

  private void read(LoadLog kept, ManagedTransaction transaction, int workers) {
    CollectedResult parts = new CollectedResult();
    run(
        transaction,
        inner(session, kept.tables(), (run, ended) -> kept.read(run, parts, ended)),
        then(() -> {
          positions.putAll(LoadLog.positions(parts));
          for (PartPosition part : positions.values()) {
            loadedBefore += part.loaded();
            rowsBefore += part.rows();
          }
          startLanes(workers);
        }));
  }

  private void compare(LoadLog.@Nullable Known known) {
    String name = control().loadId();
    if (known == null) {
      throw new EngineException(
          ErrorCode.NOT_IN_PREREQUISITE_STATE, "load \"" + name + "\" is no longer known");
    }
    String table = plan().target().schema() + "." + plan().target().table();
    if (!known.table().equals(table)) {
      throw new EngineException(
              ErrorCode.NOT_IN_PREREQUISITE_STATE,
              "load \"" + name + "\" is one of table \"" + known.table() + "\"")
          .withHint("Give this load another load_id.");
    }
    if (!known.digest().equals(digest)) {
      throw new EngineException(
              ErrorCode.NOT_IN_PREREQUISITE_STATE,
              "load \"" + name + "\" has begun with other files")
          .withDetail("Names, contents or number of the files are not those of its first run.")
          .withHint("Restore the files, or give this load another load_id.");
    }
  }

  private void startLanes(int lanes) {
    running.set(lanes);
    LoadSource files = Objects.requireNonNull(source);
    for (int i = 0; i < lanes; i++) {
      LoadFeed feed = new LoadFeed(files, new SourceRows(columns().typeOids()));
      new LoadLane(this, feed, new LaneSession(session, engine.sequences())).next();
    }
  }

  // ---- after them ----

  void laneEnded() {
    if (running.decrementAndGet() == 0) {
      lanesEnded();
    }
  }

  private void lanesEnded() {
    then(
            () -> {
              LoadReport report = report(Objects.requireNonNull(source).finish());
              LoadLog kept = log;
              ManagedTransaction held = lock;
              if (kept == null || held == null) {
                engine.whenAllDurable(() -> then(() -> send(report)).accept(null));
                return;
              }
              PartPosition whole =
                  new PartPosition(report.read(), report.loaded(), report.filtered(), true);
              run(
                  held,
                  inner(session, kept.tables(), (run, ended) -> kept.write(-1, whole, run, ended)),
                  then(() -> {
                    lock = null;
                    held.commit(CommitResponse.STORED, then(() -> send(report)));
                  }));
            })
        .accept(null);
  }

  private LoadReport report(LoadSource.LoadSummary summary) {
    long rows = 0;
    long loaded = 0;
    long filtered = 0;
    for (PartPosition part : positions.values()) {
      rows += part.rows();
      loaded += part.loaded();
      filtered += part.filtered();
    }
    if (rowsBefore == 0
        && (summary.rows() != rows || summary.rejected() != rows - loaded - filtered)) {
      throw new EngineException(
          ErrorCode.INTERNAL_ERROR,
          "of %d rows %d were loaded, %d rejected and %d filtered, and %d read"
              .formatted(summary.rows(), loaded, summary.rejected(), filtered, rows));
    }
    return new LoadReport(
        rows, loaded, rows - loaded - filtered, filtered, summary.rejectFile(), control().loadId());
  }

  private void send(LoadReport report) {
    close();
    engine
        .scheduler()
        .submit(
            PlanRunner.of(report.plan(), new int[0])
                .execute(
                    execution,
                    ParameterBatch.NONE,
                    sink,
                    (sent, failed) ->
                        done.accept(
                            failed == null ? report.loaded() - loadedBefore : null, failed)));
  }

  /// The load has failed, and nothing of it runs.
  private void conclude() {
    ManagedTransaction held = lock;
    lock = null;
    if (held != null) {
      held.rollback(this::fail);
    } else {
      fail();
    }
  }

  private void fail() {
    Throwable reason = failure.get();
    try {
      close();
    } catch (Throwable failed) {
      if (reason == null) {
        reason = failed;
      }
    }
    done.accept(
        null, withState(RunFailures.report(reason == null ? RunFailures.canceled() : reason)));
  }

  /// Says what is in.
  private EngineException withState(EngineException reason) {
    long loaded = positions.values().stream().mapToLong(PartPosition::loaded).sum();
    String name = control().loadId();
    String state =
        name != null
            ? "%d rows of load \"%s\" are in the table. Run it again to go on."
                .formatted(loaded, name)
            : "%d rows are in the table.".formatted(loaded);
    return reason.withHint(reason.hint().isEmpty() ? state : reason.hint() + " " + state);
  }

  private void close() {
    LoadSource open = source;
    source = null;
    memory.close();
    if (open != null) {
      open.close();
    }
  }
}
