package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.bulk.BatchedLoad;
import dev.kakehashi.engine.bulk.LoadRun;
import dev.kakehashi.engine.catalog.LocationUser;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.sql.statement.AlterSystem;
import dev.kakehashi.engine.sql.statement.Analyze;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.sql.statement.SetConstraints;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.scheduler.Task;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Makes the tasks of statements without a plan, each by its kind. One object per execution of such a statement.
///
/// @param run gives a load in batches its session
/// @param finished called once by the task, with the count of rows or with why there is none
record StatementTasks(
    EmbeddedEngine engine,
    EmbeddedSession session,
    EmbeddedWork run,
    ManagedTransaction transaction,
    ParameterBatch parameters,
    ResultSink sink,
    BiConsumer<@Nullable Long, @Nullable EngineException> finished) {

  /// @throws IllegalStateException for one that has a plan, or that its session does
  Task task(Prepared prepared, StatementExecution execution) {
    return switch (prepared) {
      case Prepared.Load load -> load(load, execution);
      case Prepared.Call call ->
          new ProcedureRun(engine, call, execution, parameters, roleName(), sink, finished);
      case Analyze analyze -> analyze(analyze, execution);
      case AlterSystem change -> alterSystem(change);
      case SetConstraints set -> transaction.setConstraints(set, execution, finished);
      case Prepared.Definition definition ->
          engine.define(
              definition.statement(),
              execution,
              parameters,
              session.definer(transaction.catalog(), roleName()),
              sink,
              finished);
      case Prepared.Planned _, Prepared.Dump _, Prepared.Measured _ ->
          throw new IllegalStateException("its plan makes the task");
      case Prepared.OfSession _ -> throw new IllegalStateException("its session does it");
    };
  }

  private String roleName() {
    return run.userName();
  }

  private long roleId() {
    return session.roleId(transaction.catalog(), roleName());
  }

  private Task load(Prepared.Load load, StatementExecution execution) {
    LocationUser user = new LocationUser(roleName(), transaction.catalog(), roleId());
    return load.isInBatches()
        ? new BatchedLoad(load, engine.loads(), execution, run, user, sink, finished)
        : new LoadRun(load, execution, user, sink, finished);
  }

  private Task analyze(Analyze analyze, StatementExecution execution) {
    return engine.analyze(
        owned(analyze.tables(transaction.catalog())),
        execution,
        failure ->
            finished.accept(
                failure == null ? 0L : null, failure == null ? null : RunFailures.report(failure)));
  }

  /// Tables that the role owns. Statistics of others are not collected; PostgreSQL warns.
  private List<Table> owned(List<Table> tables) {
    Permissions permissions = new Permissions(transaction.catalog(), roleId());
    return tables.stream().filter(table -> permissions.owns(table.rights())).toList();
  }

  private Task alterSystem(AlterSystem change) {
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
}
