package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.awaitEnd;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Statements as psql sends them: BEGIN, COMMIT, ROLLBACK and savepoints by name are operations of the engine's interface, everything else
/// is a statement in the open transaction, or in one of its own.
public final class ScriptSession {
  private static final Pattern SPACES = Pattern.compile("\\s+");
  private static final TestEngine.Result DONE = new TestEngine.Result(0, List.of(), List.of());

  private final TestEngine engine;
  private final List<String> savepoints = new ArrayList<>();
  private @Nullable EngineTransaction transaction;
  private boolean failed;

  public ScriptSession(TestEngine engine) {
    this.engine = engine;
  }

  public TestEngine.Result run(String sql) {
    List<String> words = SPACES.splitAsStream(sql.strip().toLowerCase(Locale.ROOT)).toList();
    EngineTransaction open = transaction;
    if (open == null) {
      if (!words.getFirst().equals("begin")) {
        return engine.run(sql);
      }
      savepoints.clear();
      failed = false;
      transaction =
          engine.begin(
              sql.contains("repeatable") ? Isolation.REPEATABLE_READ : Isolation.READ_COMMITTED);
      return DONE;
    }
    if (words.getFirst().equals("commit") && words.size() == 1) {
      transaction = null;
      if (failed) {
        engine.rollback(open);
      } else {
        engine.commit(open);
      }
      return DONE;
    }
    if (words.getFirst().equals("rollback") && words.size() == 1) {
      transaction = null;
      engine.rollback(open);
      return DONE;
    }
    if (words.getFirst().equals("rollback") && words.get(1).equals("to")) {
      int level = level(words.getLast());
      awaitEnd(done -> open.rollbackToSavepoint(level, done));
      savepoints.subList(level, savepoints.size()).clear();
      failed = false;
      return DONE;
    }
    if (failed) {
      throw new EngineException(ErrorCode.TRANSACTION_ABORTED, "current transaction is aborted");
    }
    if (words.getFirst().equals("savepoint")) {
      savepoints.add(words.get(1));
      awaitEnd(done -> open.savepoint(savepoints.size(), done));
      return DONE;
    }
    if (words.getFirst().equals("release")) {
      int level = level(words.getLast());
      awaitEnd(done -> open.releaseSavepoint(level, done));
      savepoints.subList(level - 1, savepoints.size()).clear();
      return DONE;
    }
    // As PostgreSQL does, and the extension for it: a statement that fails is undone, the rest is
    // refused.
    boolean done = false;
    try {
      TestEngine.Result result = engine.run(open, sql);
      done = true;
      return result;
    } finally {
      failed = !done;
    }
  }

  private int level(String savepoint) {
    int at = savepoints.lastIndexOf(savepoint);
    if (at < 0) {
      throw new EngineException(ErrorCode.NO_SUCH_SAVEPOINT, "no such savepoint: " + savepoint);
    }
    return at + 1;
  }
}
