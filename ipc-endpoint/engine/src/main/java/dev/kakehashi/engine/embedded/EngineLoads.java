package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.bulk.LoadEngine;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.LiveTables;
import dev.kakehashi.engine.ddl.Definer;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.sql.SqlFront;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.parser.DdlParser;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.type.SequenceAccess;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.valuetext.time.Zone;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Services of this engine for loads in batches.
final class EngineLoads implements LoadEngine {
  private final EmbeddedEngine engine;
  private final LiveTables facts;

  EngineLoads(EmbeddedEngine engine, LiveTables facts) {
    this.engine = engine;
    this.facts = facts;
  }

  @Override
  public ManagedTransaction begin() {
    return engine.begin(BeginOptions.DEFAULT);
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
    String operator = engine.roles().operator();
    Definer definer =
        new Definer(
            RoleSet.SUPERUSER,
            RoleSet.SUPERUSER,
            operator,
            operator,
            engine.roles()::names,
            engine.surroundings().locationNames());
    DdlStatement statement = DdlParser.parse(sql, Lexer.tokenize(sql));
    return engine.define(statement, execution, ParameterBatch.NONE, definer, sink, done);
  }

  @Override
  public SequenceAccess sequences() {
    return engine.sequences();
  }

  @Override
  public TaskScheduler scheduler() {
    return engine.scheduler();
  }

  @Override
  public void whenAllDurable(Runnable done) {
    engine.whenAllDurable(done);
  }
}
