package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.RowSlices;
import dev.kakehashi.engine.exec.operator.RowsBeforeFailure;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.RowFilter;
import dev.kakehashi.engine.plan.LoadPlan;
import dev.kakehashi.engine.store.api.BulkInsert;
import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Inserts rows of files for one task of a load: completes them by defaults, drops what the condition drops, looks at the constraints,
/// inserts.
///
/// Completing is the task's own; inserting is done by one task of the transaction at a time. A row that is refused is said to a [Rejects],
/// which may take it or end the load.
///
/// Confined to its task, but for the constructor, [#begin()] and [#close()].
public final class LoadedRows implements AutoCloseable {
  /// Takes rows that are refused.
  @FunctionalInterface
  public interface Rejects {
    /// @param row of [#input()]
    /// @throws EngineException which ends the load
    void reject(int row, EngineException failure);
  }

  /// Hears of rows that are inserted together.
  @FunctionalInterface
  public interface Inserted {
    /// @param row of [#input()]
    void inserted(int row, long rowId);
  }

  /// Thrown when a row that is refused ends the load. It is not the failure of the row, which would be looked for.
  public static final class LoadEnded extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient EngineException failure;

    LoadEnded(EngineException failure) {
      super("a row was refused", failure, false, false);
      this.failure = failure;
    }

    /// Why.
    public EngineException failure() {
      return failure;
    }
  }

  /// When what is looked at after the insertion is looked at: foreign keys and deferrable unique keys.
  private enum Settling {
    /// There is nothing to look at.
    NONE,
    /// When all rows are there.
    AT_END,
    /// When some more rows are there.
    BY_BATCH,
    /// For each row by itself.
    BY_ROW
  }

  private final StoreTransaction transaction;
  private final StatementChanges ofStatement;
  private final StatementChanges ofBatch;
  private final ChangedTable table;
  private final EvalContext context;
  private final Settling settling;
  private final VectorBatch input;
  private final VectorBatch complete;

  /// Columns of the table that the files do not have, and their defaults.
  private final int[] missing;

  private final Evaluator[] defaults;
  private final GivenDefaults givenDefaults;
  private final @Nullable RowFilter filter;
  private final RowSlices slices;
  private final Consumer<VectorBatch> computation = this::complete;

  /// Rows that are complete and not inserted.
  private int[] rows = {};

  private int count;
  private boolean whole;
  private long inserted;
  private long rejected;

  /// @param ofStatement what is looked at when all rows are there
  /// @param ofBatch what is looked at when some more are; shared by the tasks, of which one at a time uses it
  /// @param given by column of the files, the column of the table
  /// @param tolerant whether a row that is refused does not end the load
  public LoadedRows(
      RunContext run,
      LoadPlan plan,
      StatementChanges ofStatement,
      StatementChanges ofBatch,
      int[] given,
      boolean tolerant) {
    this.transaction = run.scope().transaction();
    this.ofStatement = ofStatement;
    this.ofBatch = ofBatch;
    this.context = run.newContext();
    this.table = new ChangedTable(plan.target(), run, context);
    this.settling = settling(plan, tolerant);
    int width = plan.target().columns().size();
    this.input = new VectorBatch(given.length);
    this.complete = VectorBatch.view(width);
    boolean[] has = new boolean[width];
    for (int i = 0; i < given.length; i++) {
      has[given[i]] = true;
      complete.columns[given[i]] = input.columns[i];
    }
    List<Expr> computed = new ArrayList<>();
    List<Integer> without = new ArrayList<>();
    for (int c = 0; c < width; c++) {
      if (!has[c]) {
        without.add(c);
        computed.add(plan.defaults().get(c));
      }
    }
    this.missing = without.stream().mapToInt(Integer::intValue).toArray();
    this.defaults = context.evaluators(List.copyOf(computed));
    this.givenDefaults = new GivenDefaults(plan, given, context);
    Expr where = plan.where();
    this.filter = where == null ? null : RowFilter.of(where, context);
    computed.addAll(ChangedTable.computed(plan.target()));
    if (where != null) {
      computed.add(where);
    }
    this.slices = new RowSlices(computed).findingRefused();
  }

  private static Settling settling(LoadPlan plan, boolean tolerant) {
    boolean deferrable = !plan.target().deferrableKeys().isEmpty();
    if (plan.rules().isEmpty() && !deferrable) {
      return Settling.NONE;
    }
    if (plan.referencesItself()) {
      return tolerant ? Settling.BY_ROW : Settling.AT_END;
    }
    return deferrable && !tolerant ? Settling.AT_END : Settling.BY_BATCH;
  }

  /// Before the first rows. Not while another task inserts.
  public void begin() {
    slices.begin();
    if (settling == Settling.AT_END) {
      table.begin(ofStatement);
    }
  }

  /// Forgets all rows: what was inserted has been undone, and they come once more.
  public void restart() {
    count = 0;
    inserted = 0;
    rejected = 0;
    slices.begin();
  }

  /// Where rows of the files are put, as columns of the files, before [#compute].
  public VectorBatch input() {
    return input;
  }

  /// No value of the input stands for the default of its column.
  public void clearDefaults() {
    givenDefaults.clear();
  }

  /// A value of the input stands for the default of its column.
  ///
  /// @param column of the files
  public void markDefault(int row, int column) {
    givenDefaults.mark(row, column);
  }

  /// Rows inserted, and not undone.
  public long inserted() {
    return inserted;
  }

  /// Rows rejected here.
  public long rejected() {
    return rejected;
  }

  /// Whether rows are left to be computed.
  public boolean isUnfinished() {
    return slices.isUnfinished();
  }

  /// Whether the last rows completed are all those of the input that there were.
  public boolean isWhole() {
    return whole;
  }

  /// Completes the rows of the input, or those of them that are left: as many as have room.
  public void compute(Rejects rejects) {
    boolean goesOn = slices.isUnfinished();
    count = 0;
    do {
      try {
        slices.compute(input, complete.heap, computation);
        whole = !goesOn && !slices.isUnfinished();
        count = input.liveRows();
        if (rows.length < count) {
          rows = new int[VectorBatch.CAPACITY];
        }
        for (int k = 0; k < count; k++) {
          rows[k] = input.selected < 0 ? k : input.selection[k];
        }
        return;
      } catch (EngineException refused) {
        if (!RowsBeforeFailure.isOfRow(refused)) {
          throw refused;
        }
        reject(rejects, input.selected < 0 ? 0 : input.selection[0], refused);
        slices.skipFailed();
      }
    } while (slices.isUnfinished());
  }

  /// Whether complete rows wait for their insertion.
  public boolean hasRows() {
    return count > 0;
  }

  private void complete(VectorBatch batch) {
    context.functions.heap = complete.heap;
    for (int i = 0; i < missing.length; i++) {
      complete.columns[missing[i]] = defaults[i].evaluate(batch);
    }
    givenDefaults.fill(batch);
    show(batch);
    if (filter != null) {
      filter.apply(complete);
      batch.selected = complete.selected;
      if (batch.selected == 0) {
        return;
      }
    }
    table.generate(complete);
    table.check(complete);
  }

  private void show(VectorBatch batch) {
    complete.size = batch.size;
    complete.selection = batch.selection;
    complete.selected = batch.selected;
  }

  /// Inserts the rows that are complete. Nothing of them is there when it throws, and it may be called again: rows that it has rejected
  /// before do not come again.
  ///
  /// @throws dev.kakehashi.engine.store.api.RowConflict if that depends on another transaction
  public void insert(Rejects rejects) {
    long before = inserted;
    long mark = transaction.mark();
    boolean done = false;
    try {
      if (settling == Settling.BY_ROW
          || (settling == Settling.BY_BATCH && !insertTogether(rejects))) {
        insertOneByOne(rejects);
      } else if (settling != Settling.BY_BATCH) {
        insertAll(rejects);
      }
      count = 0;
      done = true;
    } finally {
      if (!done) {
        ofBatch.forget();
        inserted = before;
        transaction.rollbackTo(mark);
      }
    }
  }

  /// Whether a load can insert its rows without looking at them one by one.
  public static boolean isBulk(LoadPlan plan) {
    return settling(plan, false) == Settling.NONE;
  }

  /// Inserts the rows that are complete. Whether their keys are there already is known when all rows are there.
  public void insert(BulkInsert.Part part, Inserted listener) {
    for (int k = 0; k < count; k++) {
      listener.inserted(rows[k], part.insert(complete, rows[k]));
    }
    inserted += count;
    count = 0;
  }

  /// Failure of a load with a row whose key is there already.
  ///
  /// @param rowId the row
  public EngineException duplicateKey(DuplicateKey failure, BulkInsert bulk, long rowId) {
    int width = table.target().columns().size();
    try (VectorBatch row = VectorBatch.ofRows(width, 1)) {
      bulk.read(rowId, IntStream.range(0, width).toArray(), row);
      return table.duplicateKey(failure, row, 0);
    }
  }

  /// Inserts the rows; those that a unique key refuses are rejected.
  private void insertAll(Rejects rejects) {
    for (int k = 0; k < count; ) {
      long mark = transaction.mark();
      try {
        table.insert(complete, rows[k]);
        k++;
      } catch (EngineException refused) {
        if (!RowsBeforeFailure.isOfRow(refused)) {
          throw refused;
        }
        transaction.rollbackTo(mark);
        drop(k, rejects, refused);
      }
    }
    inserted += count;
  }

  /// Rejects row `k`, so that it is not there for another attempt.
  private void drop(int k, Rejects rejects, EngineException refused) {
    int row = rows[k];
    count--;
    System.arraycopy(rows, k + 1, rows, k, count - k);
    reject(rejects, row, refused);
  }

  private void reject(Rejects rejects, int row, EngineException refused) {
    try {
      rejects.reject(row, refused);
      rejected++;
    } catch (EngineException end) {
      throw new LoadEnded(end);
    }
  }

  /// False, with nothing done but rejects by unique keys, if what is looked at afterwards refuses one of the rows.
  private boolean insertTogether(Rejects rejects) {
    long before = inserted;
    long mark = transaction.mark();
    try {
      table.begin(ofBatch);
      insertAll(rejects);
      ofBatch.settle();
      return true;
    } catch (EngineException refused) {
      if (!RowsBeforeFailure.isOfRow(refused)) {
        throw refused;
      }
      ofBatch.forget();
      inserted = before;
      transaction.rollbackTo(mark);
      return false;
    }
  }

  private void insertOneByOne(Rejects rejects) {
    for (int k = 0; k < count; ) {
      long mark = transaction.mark();
      try {
        table.begin(ofBatch);
        table.insert(complete, rows[k]);
        ofBatch.settle();
        inserted++;
        k++;
      } catch (EngineException refused) {
        if (!RowsBeforeFailure.isOfRow(refused)) {
          throw refused;
        }
        ofBatch.forget();
        transaction.rollbackTo(mark);
        drop(k, rejects, refused);
      }
    }
  }

  @Override
  public void close() {
    input.close();
    complete.heap.close();
  }
}
