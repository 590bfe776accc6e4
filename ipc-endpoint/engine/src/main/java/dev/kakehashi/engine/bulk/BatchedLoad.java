package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.bulk.BulkUser;
import dev.kakehashi.engine.api.bulk.LoadRequest.LoadControl;
import dev.kakehashi.engine.api.bulk.LoadSource;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.dml.LoadedRows;
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
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import java.util.Arrays;
import java.util.HexFormat;
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

/// COPY ... FROM in batches: lanes of transactions of their own, see [LoadLane]. A load with a name keeps how far it is in the transactions
/// that bring it there, see [LoadLog]: it goes on after whatever has ended it, and each row is there once.
///
/// Steps before and after the lanes come one after another; `failure` is set by the first that fails.
public final class BatchedLoad implements Task, Interrupts.Source, CopyActivity {
  private static final int MIN_BULK_ROWS = 1000;

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
  private volatile @Nullable LoadClaim claim;

  /// Signaled when it has ended; null: it has not begun.
  private volatile @Nullable Condition over;

  private long rowsBefore;

  /// @param session what functions see
  /// @param user who reads the files
  /// @param done gets the number of rows that the load has loaded, in earlier runs also, or the failure, exactly once
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

  /// Whether rows are inserted together: a few are not worth it.
  boolean isBulk() {
    return batchRows() >= MIN_BULK_ROWS && LoadedRows.isBulk(plan());
  }

  SourceColumns columns() {
    return Objects.requireNonNull(columns);
  }

  @Nullable LoadLog log() {
    LoadClaim named = claim;
    return named == null ? null : named.log();
  }

  /// Tables that a transaction of a lane locks.
  long[] tables() {
    LoadLog kept = log();
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
    return new InnerStatement(execution.name(), of, execution.viewer(), tables, false, body);
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

  /// Committed rows, as in all counts; rows of earlier runs are among them.
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
                  LoadConditions.of(plan),
                  user,
                  new StatementFiles(this, memory));
      source = open;
      execution.copying(this);
      columns = SourceColumns.of(open, plan);
      int workers = workers(context.scheduler().config().workers());
      Condition condition = context.scheduler().condition();
      over = condition;
      if (control().loadId() == null) {
        startLanes(workers);
      } else {
        LoadClaim named =
            new LoadClaim(
                this,
                engine,
                session,
                execution,
                new LoadClaim.Name(
                    user.name(),
                    Objects.requireNonNull(control().loadId()),
                    plan.target().schema() + "." + plan.target().table(),
                    HexFormat.of().formatHex(open.digest())));
        claim = named;
        named.take(() -> {
          positions.putAll(named.positions());
          for (PartPosition part : positions.values()) {
            rowsBefore += part.rows();
          }
          startLanes(workers);
        });
      }
      // So its job is there as long as the load is.
      return context.await(condition, new End());
    } catch (Throwable failed) {
      noteFailure(failed);
      conclude();
    } finally {
      Interrupts.leave(before);
    }
    return null;
  }

  /// The load has ended; or its job has, by which it ends.
  private final class End implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      return null;
    }

    @Override
    public void discarded(Job job) {
      noteFailure(RunFailures.canceled());
    }
  }

  private void done(@Nullable Long rows, @Nullable EngineException failed) {
    done.accept(rows, failed);
    Condition waiting = over;
    if (waiting != null) {
      waiting.signal();
    }
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
  Consumer<@Nullable EngineException> then(Runnable next) {
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
              LoadClaim named = claim;
              if (named == null) {
                engine.whenAllDurable(() -> then(() -> send(report)).accept(null));
                return;
              }
              named.end(
                  new PartPosition(report.read(), report.loaded(), report.filtered(), true),
                  () -> send(report));
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
                    (sent, failed) -> done(failed == null ? report.loaded() : null, failed)));
  }

  /// The load has failed, and nothing of it runs.
  private void conclude() {
    LoadClaim named = claim;
    if (named != null) {
      named.release(this::fail);
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
    done(null, withState(RunFailures.report(reason == null ? RunFailures.canceled() : reason)));
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
