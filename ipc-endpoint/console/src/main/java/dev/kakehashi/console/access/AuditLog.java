package dev.kakehashi.console.access;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.rest.sql.TextQueries;
import dev.kakehashi.rest.sql.TextResult;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Actions of users in the console: rows of the table `kakehashi_console.audit`, which belongs to the user who runs the endpoint.
/// Thread-safe.
///
/// A row is durable before its action begins, and gets its outcome afterwards. An action without its row is refused. The newest [#KEPT]
/// rows are kept.
public final class AuditLog {
  /// The table. Its columns are described in `docs/console.md`.
  public static final String TABLE = "kakehashi_console.audit";

  private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);

  private static final long KEPT = 100_000;

  /// Rows between two looks for old ones.
  private static final long SWEEP_EVERY = 1_000;

  private static final int MAX_STATEMENT = 10_000;
  private static final int MAX_OUTCOME = 1_000;

  private static final TextQueries.Limits LIMITS =
      new TextQueries.Limits(1, 100, 1_000, 10_000_000_000L);

  private static final String SCHEMA = "CREATE SCHEMA IF NOT EXISTS kakehashi_console";
  private static final String CREATE =
      """
      CREATE TABLE IF NOT EXISTS kakehashi_console.audit (
        audit_id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, acted_at timestamptz NOT NULL DEFAULT now(),
        user_name text NOT NULL, address text NOT NULL, action text NOT NULL, object text NOT NULL, statement text, outcome text)\
      """;
  private static final String INSERT =
      """
      INSERT INTO kakehashi_console.audit (user_name, address, action, object, statement)
      VALUES ($1::text, $2::text, $3::text, $4::text, $5::text) RETURNING audit_id\
      """;
  private static final String OUTCOME =
      "UPDATE kakehashi_console.audit SET outcome = $2::text WHERE audit_id = $1::int8";
  private static final String SWEEP =
      "DELETE FROM kakehashi_console.audit WHERE audit_id < $1::int8";

  private final TextQueries queries;
  private final RequestUser operator;
  private final ReentrantLock lock = new ReentrantLock();
  private boolean exists; // guarded by lock

  /// @param operator who runs the endpoint: in his name the rows are written
  public AuditLog(TextQueries queries, RequestUser operator) {
    this.queries = queries;
    this.operator = operator;
  }

  /// Does something in a visitor's name, and notes it.
  ///
  /// @param object that it is done to
  /// @param statement by which it is done; null: it is no statement
  /// @param act says what came out
  /// @throws EngineException it could not be noted, and was not done; or what `act` throws
  public String run(
      Visitor visitor,
      String action,
      String object,
      @Nullable String statement,
      Supplier<String> act) {
    String id = insert(visitor, action, object, statement);
    String outcome = "not finished";
    try {
      outcome = act.get();
      return outcome;
    } catch (EngineException e) {
      outcome = e.sqlstate() + " " + e.getMessage();
      throw e;
    } finally {
      query(OUTCOME, id, clipped(outcome, MAX_OUTCOME));
      sweep(Long.parseLong(id));
    }
  }

  /// Notes what harms nobody: it counts also if it cannot be noted.
  void done(Visitor visitor, String action, String object) {
    try {
      query(OUTCOME, insert(visitor, action, object, null), "done");
    } catch (EngineException e) {
      LOG.warn("the console could not note \"{}\" of {}: {}", action, visitor, e.getMessage());
    }
  }

  /// Makes the table, if it is not there.
  public void prepare() {
    lock.lock();
    try {
      if (!exists) {
        query(SCHEMA);
        query(CREATE);
        exists = true;
      }
    } finally {
      lock.unlock();
    }
  }

  private String insert(Visitor visitor, String action, String object, @Nullable String statement) {
    prepare();
    LOG.info("console: {}: {} {}", visitor, action, object);
    TextResult result =
        query(
            INSERT,
            visitor.user().name(),
            visitor.address(),
            action,
            object,
            statement == null ? null : clipped(statement, MAX_STATEMENT));
    return Objects.requireNonNull(result.rows().getFirst()[0]);
  }

  private void sweep(long id) {
    if (id % SWEEP_EVERY == 0 && id > KEPT) {
      query(SWEEP, Long.toString(id - KEPT));
    }
  }

  private TextResult query(String sql, @Nullable String... parameters) {
    return queries.run(operator, sql, Arrays.asList(parameters), LIMITS, cancel -> {});
  }

  private static String clipped(String text, int most) {
    return text.length() <= most ? text : text.substring(0, most) + "…";
  }
}
