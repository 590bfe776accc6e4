package dev.kakehashi.tck.refusing;

import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Planning;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.capability.Capability;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A session that plans no statement of which its engine lacks something.
final class RefusingSession implements EngineSession {
  /// By which words a statement needs a capability. In this order: a statement that needs two is refused for the first.
  private static final Map<Capability, Pattern> WORDS = new EnumMap<>(Capability.class);

  static {
    words(Capability.NOWAIT, " nowait$");
    words(Capability.SKIP_LOCKED, " skip locked$");
    words(Capability.ROW_LOCKS, " for update$");
    words(Capability.RETURNING, " returning ");
    words(Capability.ON_CONFLICT, " on conflict ");
    words(Capability.TRUNCATE, "^truncate ");
    words(Capability.DEFERRABLE_CONSTRAINTS, " deferrable");
    words(Capability.STATISTICS, "column_statistics");
    words(Capability.COPY_FILES, "^copy ");
    words(Capability.QUEUES, "^create queue ");
    words(Capability.ROLES, "^create role ");
    words(Capability.APPLICATIONS, " application ");
  }

  private final RefusingEngine engine;
  private final EngineSession behind;

  RefusingSession(RefusingEngine engine, EngineSession behind) {
    this.engine = engine;
    this.behind = behind;
  }

  private static void words(Capability capability, String pattern) {
    WORDS.put(capability, Pattern.compile(pattern));
  }

  RefusingEngine engine() {
    return engine;
  }

  @Override
  public Planning prepare(
      String sql,
      int[] parameterTypeOids,
      BiConsumer<@Nullable Statement, @Nullable EngineException> done) {
    for (Map.Entry<Capability, Pattern> each : WORDS.entrySet()) {
      if (!engine.capabilities().has(each.getKey()) && each.getValue().matcher(sql).find()) {
        done.accept(null, engine.lacking(each.getKey()));
        return Planning.ENDED;
      }
    }
    return behind.prepare(
        sql,
        parameterTypeOids,
        (statement, failure) ->
            done.accept(
                statement == null ? null : new RefusingStatement(this, statement), failure));
  }

  @Override
  public void viewer(Viewer newViewer) {
    behind.viewer(newViewer);
  }

  @Override
  public void prepare(
      EngineTransaction transaction, String globalId, Consumer<@Nullable EngineException> done) {
    if (engine.capabilities().has(Capability.TWO_PHASE)) {
      behind.prepare(((RefusingTransaction) transaction).behind(), globalId, done);
      return;
    }
    transaction.rollback(() -> done.accept(engine.lacking(Capability.TWO_PHASE)));
  }

  @Override
  public void commitPrepared(
      String globalId,
      EngineTransaction.CommitResponse response,
      Consumer<@Nullable EngineException> done) {
    behind.commitPrepared(globalId, response, done);
  }

  @Override
  public void rollbackPrepared(String globalId, Consumer<@Nullable EngineException> done) {
    behind.rollbackPrepared(globalId, done);
  }

  @Override
  public void close() {
    behind.close();
  }
}
