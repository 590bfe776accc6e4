package dev.kakehashi.tck.drive;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.BeginOptions.Kind;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// A client of an engine: one session, whose operations are waited for. Not thread-safe, as a session.
public final class DrivenEngine implements AutoCloseable {
  private final Engine engine;
  private final EngineSession session;
  private final List<DrivenTransaction> begun = new ArrayList<>();

  /// @param owner of its prepared transactions; empty: it may decide on everybody's
  public DrivenEngine(Engine engine, String userName, String owner) {
    this.engine = engine;
    this.session = engine.openSession(userName, owner);
  }

  /// The engine's session.
  public EngineSession session() {
    return session;
  }

  /// A prepared statement.
  ///
  /// @param parameterOids types of the parameters; 0 or less of them: to be inferred
  public Statement prepare(String sql, int... parameterOids) {
    CompletableFuture<Statement> answer = new CompletableFuture<>();
    session.prepare(
        sql, parameterOids, (statement, failure) -> Waits.answer(answer, statement, failure));
    return Waits.await(answer);
  }

  /// Begins a short transaction.
  public DrivenTransaction begin(Isolation isolation) {
    return begin(new BeginOptions(Kind.OCC, isolation, "tck"));
  }

  /// Begins a transaction.
  public DrivenTransaction begin(BeginOptions options) {
    begun.removeIf(each -> each.engine().state() != EngineTransaction.State.ACTIVE);
    DrivenTransaction transaction = new DrivenTransaction(this, engine.begin(options));
    begun.add(transaction);
    return transaction;
  }

  /// Rows of a statement in a transaction of its own.
  public List<String> query(String sql, @Nullable Object... parameters) {
    try (DrivenTransaction transaction = beginFor(sql)) {
      List<String> rows = transaction.query(sql, parameters);
      transaction.commit();
      return rows;
    }
  }

  /// Count of a statement in a transaction of its own.
  public long run(String sql, @Nullable Object... parameters) {
    try (DrivenTransaction transaction = beginFor(sql)) {
      long count = transaction.run(sql, parameters);
      transaction.commit();
      return count;
    }
  }

  /// Runs statements, each in a transaction of its own.
  public void runAll(String... statements) {
    for (String sql : statements) {
      run(sql);
    }
  }

  private DrivenTransaction beginFor(String sql) {
    DrivenTransaction transaction = begin(prepare(sql).ownTransaction(BeginOptions.DEFAULT));
    transaction.engine().ofOneStatement();
    return transaction;
  }

  /// The failure of an operation.
  ///
  /// @throws AssertionError it does not fail by an [EngineException]
  public static EngineException failureOf(Runnable operation) {
    try {
      operation.run();
    } catch (EngineException expected) {
      return expected;
    }
    throw new AssertionError("the operation does not fail");
  }

  /// Rolls back what has not ended.
  @Override
  public void close() {
    begun.forEach(DrivenTransaction::close);
    begun.clear();
    session.close();
  }
}
