package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Catalog;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.DefinedName;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.sql.parser.ApplicationStatement;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.engine.sql.parser.QueueStatement;
import dev.kakehashi.engine.sql.parser.RightsStatement;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.txn.TableLocks;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Executes one DDL statement in its transaction: the lock of the catalogue, the plan, the locks of what it touches, then step by step.
/// Waits for locks, and for the owners of rows that a unique index meets, as conditions; when it fails its own changes are undone.
///
/// Others define other things meanwhile. The plan is made before all locks are there, so it is made again if somebody has committed changes
/// of the catalogue since, unless each lock was there when it was made.
public final class DefinitionRun implements Task {
  private final Catalog catalog;
  private final DdlStatement statement;
  private final StatementExecution execution;
  private final QueryPlanner queries;
  private final Definer definer;
  private final ResultSink sink;
  private final BiConsumer<@Nullable Long, @Nullable EngineException> done;
  private final @Nullable Deployment deployment;
  private @Nullable Planned planned;

  /// Whether the plan holds whatever others commit: each of its locks was there when it was made, or nobody has committed since.
  private boolean isCovered;

  /// Statement that fills the table that is made; null: none does.
  private Prepared.@Nullable Planned filling;

  private long mark;
  private int step;

  /// Tasks of queues that it has moved so far.
  private long moved;

  /// A plan.
  ///
  /// @param locks what all of its changes need, besides its own
  /// @param committed the version that it was made with
  private record Planned(DefinitionPlan work, DefinitionLocks locks, CatalogSnapshot committed) {}

  /// Plans statements that change rows.
  @FunctionalInterface
  public interface QueryPlanner {
    Prepared.Planned plan(String sql, CatalogSnapshot catalog);
  }

  /// @param definer who runs it
  /// @param queries plans what fills a table that the statement makes
  /// @param sink of the statement, which sends no rows
  /// @param done gets the number of rows that the table was filled with or of tasks that were moved, or the failure, exactly once
  public DefinitionRun(
      Catalog catalog,
      DdlStatement statement,
      StatementExecution execution,
      Definer definer,
      QueryPlanner queries,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    this(catalog, statement, execution, definer, queries, sink, done, null);
  }

  private DefinitionRun(
      Catalog catalog,
      DdlStatement statement,
      StatementExecution execution,
      Definer definer,
      QueryPlanner queries,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done,
      @Nullable Deployment deployment) {
    this.deployment = deployment;
    this.queries = queries;
    this.definer = definer;
    this.sink = sink;
    this.catalog = catalog;
    this.statement = statement;
    this.execution = execution;
    this.done = done;
  }

  /// The task of a statement that may bring code: of such a one it begins with a look at that.
  ///
  /// @param parameters of the statement, valid until it ends
  public Task withCode(ParameterBatch parameters, DeploymentRun.Surroundings surroundings) {
    if (!(statement instanceof DdlStatement.OfApplication about
        && about.statement() instanceof ApplicationStatement.Deploying deploying)) {
      return this;
    }
    return new DeploymentRun(
        deploying,
        execution,
        parameters,
        definer,
        surroundings,
        done,
        code ->
            new DefinitionRun(catalog, statement, execution, definer, queries, sink, done, code));
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    Interrupts.Source before = Interrupts.enter(execution);
    try {
      execution.checkCanceled();
      execution.checkWritable(statement.command());
      TableLocks.Wait wait =
          changesTasksAlone() ? null : execution.lock(TableLocks.CATALOGUE, catalogueMode());
      Planned present = planned;
      if (wait == null && present != null) {
        wait = lockTables(present.work);
        if (wait == null) {
          wait = lockDefinitions(present.locks);
        }
      }
      if (wait != null) {
        return execution.await(wait, this, this::fail);
      }
      if (present != null && (isCovered || catalog.snapshot().equals(present.committed))) {
        isCovered = true;
        return steps(present, context);
      }
      undo();
      execution.plan(context, this::plan, this, this::fail);
    } catch (RowConflict conflict) {
      return retryAfter(conflict, context);
    } catch (Throwable failed) {
      fail(RunFailures.report(failed));
    } finally {
      Interrupts.leave(before);
    }
    return null;
  }

  /// Roles and applications may be named by anything: who changes them has the catalogue alone.
  private TableLocks.Mode catalogueMode() {
    boolean alone =
        switch (statement) {
          case DdlStatement.OfApplication application -> true;
          case DdlStatement.OfRights rights -> isAboutAnything(rights.statement());
          case DdlStatement.Comment comment ->
              comment.kind() == DdlStatement.Commented.ROLE
                  || comment.kind() == DdlStatement.Commented.APPLICATION;
          default -> false;
        };
    return alone ? TableLocks.Mode.EXCLUSIVE : TableLocks.Mode.SHARED;
  }

  private static boolean isAboutAnything(RightsStatement statement) {
    return switch (statement) {
      case RightsStatement.Grant grant ->
          grant.kind() == ObjectKind.APPLICATION
              || grant.kind() == ObjectKind.FUNCTION
              || grant.kind() == ObjectKind.PROCEDURE;
      case RightsStatement.OwnerTo owner -> owner.kind() == RightsStatement.Owned.APPLICATION;
      case RightsStatement.AlterDefaults defaults -> false;
      case RightsStatement.CreateRole role -> true;
      case RightsStatement.AlterRole role -> true;
      case RightsStatement.RenameRole role -> true;
      case RightsStatement.DropRole role -> true;
      case RightsStatement.GrantRole role -> true;
      case RightsStatement.DropOwned owned -> true;
      case RightsStatement.ReassignOwned owned -> true;
    };
  }

  /// It defines nothing, so others may define meanwhile: the locks of its queues are enough.
  private boolean changesTasksAlone() {
    return statement instanceof DdlStatement.OfQueue(QueueStatement queue)
        && (queue instanceof QueueStatement.Purge || queue instanceof QueueStatement.Move);
  }

  private void plan() {
    mark = execution.transaction().mark();
    CatalogSnapshot before = catalog.snapshot();
    DefinitionPlan made =
        new DefinitionPlan(
            catalog,
            execution.catalog(before),
            new ConstantDefault(execution),
            definer,
            execution.zone());
    new DefinitionPlanner(made, deployment).plan(statement);
    planFilling(made);
    DefinitionLocks locks = made.definitionLocks(before);
    isCovered = holdsAll(made, locks);
    planned = new Planned(made, locks, before);
  }

  private boolean holdsAll(DefinitionPlan made, DefinitionLocks locks) {
    return (!locks.whole() || execution.holdsLock(TableLocks.CATALOGUE, TableLocks.Mode.EXCLUSIVE))
        && made.locks().entrySet().stream()
            .allMatch(lock -> execution.holdsLock(lock.getKey(), lock.getValue()))
        && locks.objects().entrySet().stream()
            .allMatch(lock -> execution.holdsLock(lock.getKey(), lock.getValue()))
        && locks.names().entrySet().stream()
            .allMatch(lock -> execution.holdsLock(lock.getKey(), lock.getValue()));
  }

  private void planFilling(DefinitionPlan work) {
    String sql = work.filling();
    if (sql == null) {
      return;
    }
    execution.refuseLong(statement.command());
    Prepared.Planned rows = queries.plan(sql, work.state());
    rows.needs().check(work.state(), work.definer().role());
    for (long table : rows.tables()) {
      if (execution.catalog().hasObject(table)) {
        work.lock(table, TableLocks.Mode.SHARED);
      }
    }
    filling = rows;
  }

  private TableLocks.@Nullable Wait lockTables(DefinitionPlan work) {
    for (Map.Entry<Long, TableLocks.Mode> lock : work.locks().entrySet()) {
      if (lock.getValue() == TableLocks.Mode.EXCLUSIVE && execution.isBeingRead(lock.getKey())) {
        throw new EngineException(
            ErrorCode.OBJECT_IN_USE,
            "cannot "
                + statement.command()
                + " because a table is being used by active queries in this transaction");
      }
      if (lock.getValue() != TableLocks.Mode.SHARED
          && !(statement instanceof DdlStatement.CreateTable)
          && execution.hasPendingChecks(lock.getKey())) {
        throw new EngineException(
            ErrorCode.OBJECT_IN_USE,
            "cannot "
                + statement.command()
                + " because a table has pending checks of deferred constraints in this transaction");
      }
      TableLocks.Wait wait = execution.lock(lock.getKey(), lock.getValue());
      if (wait != null) {
        return wait;
      }
    }
    return null;
  }

  private TableLocks.@Nullable Wait lockDefinitions(DefinitionLocks locks) {
    TableLocks.Wait wait =
        locks.whole() ? execution.lock(TableLocks.CATALOGUE, TableLocks.Mode.EXCLUSIVE) : null;
    for (Map.Entry<Long, TableLocks.Mode> lock : locks.objects().entrySet()) {
      if (wait == null) {
        wait = execution.lock(lock.getKey(), lock.getValue());
      }
    }
    for (Map.Entry<DefinedName, TableLocks.Mode> lock : locks.names().entrySet()) {
      if (wait == null) {
        wait = execution.lock(lock.getKey(), lock.getValue());
      }
    }
    return wait;
  }

  private @Nullable Task steps(Planned present, TaskContext context) {
    DefinitionPlan work = present.work;
    while (step < work.steps().size()) {
      execution.checkCanceled();
      switch (work.steps().get(step)) {
        case DefinitionPlan.Step.Change(CatalogChange.CreateIndex index) -> {
          Condition free = execution.indexBuilds().enter();
          if (free != null) {
            execution.onCancel(free::signal);
            return context.await(free, this);
          }
          try {
            execution.transaction().define(index);
          } catch (DuplicateKey duplicate) {
            throw duplicates(work, duplicate);
          } finally {
            execution.indexBuilds().leave();
          }
        }
        case DefinitionPlan.Step.Change change -> execution.transaction().define(change.change());
        case DefinitionPlan.Step.OfQueue queue ->
            moved += queue.action().applyAsLong(execution.transaction().queueChanges());
        case DefinitionPlan.Step.Rows rows -> {
          try {
            if (!rows.pass().run(execution, context)) {
              return context.resubmit(this);
            }
          } catch (DuplicateKey duplicate) {
            throw duplicates(work, duplicate);
          }
        }
      }
      step++;
    }
    Prepared.Planned rows = filling;
    if (rows == null) {
      defined(present, moved);
      return null;
    }
    execution.restart();
    return PlanRunner.of(rows.plan(), rows.parameterOids())
        .execute(
            execution,
            ParameterBatch.NONE,
            sink,
            (count, failure) -> {
              if (failure == null) {
                defined(present, Objects.requireNonNull(count));
              } else {
                fail(failure);
              }
            });
  }

  private void defined(Planned present, long rows) {
    if (!changesTasksAlone()) {
      execution.defined(mark, present.work.changes(), present.committed, present.work.state());
    }
    done.accept(rows, null);
  }

  private static EngineException duplicates(DefinitionPlan work, DuplicateKey duplicate) {
    String name = duplicate.index().name();
    EngineException failure =
        new EngineException(
                ErrorCode.UNIQUE_VIOLATION, "could not create unique index \"" + name + "\"")
            .withDetail("Some keys are duplicated.")
            .withConstraint(name);
    for (Table table : work.state().tables()) {
      if (table.indexes().stream().anyMatch(i -> i.indexId() == duplicate.index().indexId())) {
        return failure.withTable(table.schema(), table.name());
      }
    }
    return failure;
  }

  /// A key depends on a transaction that has not ended: all steps again when it has.
  private @Nullable Task retryAfter(RowConflict conflict, TaskContext context) {
    try {
      undo();
      Condition ended = execution.onConflict(conflict);
      execution.onCancel(ended::signal);
      return context.await(
          ended,
          again -> {
            execution.conflictEnded();
            return this;
          });
    } catch (Throwable refused) {
      fail(RunFailures.report(refused));
      return null;
    }
  }

  private void undo() {
    Planned present = planned;
    if (present != null) {
      present.work.steps().stream()
          .filter(DefinitionPlan.Step.Rows.class::isInstance)
          .forEach(rows -> ((DefinitionPlan.Step.Rows) rows).pass().close());
      execution.transaction().rollbackTo(mark);
      planned = null;
      step = 0;
      moved = 0;
    }
  }

  private void fail(EngineException reason) {
    EngineException outcome = reason;
    try {
      undo();
    } catch (Throwable failed) {
      execution.undoFailed();
      if (!failed.equals(reason)) {
        failed.addSuppressed(reason);
      }
      outcome =
          new EngineException(
              ErrorCode.INTERNAL_ERROR, "could not undo " + statement.command(), failed);
    }
    done.accept(null, outcome);
  }

  @Override
  public void discarded(Job job) {
    fail(
        new EngineException(
            ErrorCode.SHUTTING_DOWN, "terminating because the engine is shutting down"));
  }
}
