package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// `SET TIME ZONE`, which is the session's and not the connection's. It holds from its execution on, whatever becomes of the transaction.
/// Immutable.
///
/// @param session whose zone it sets
/// @param sql its text
/// @param zone empty: that of the engine
record ZoneSetting(PgWireSession session, String sql, String zone) implements Statement {
  private static final Execution DONE =
      new Execution() {
        @Override
        public void cancel() {}

        @Override
        public long rowsScanned() {
          return 0;
        }
      };

  /// The zone that a statement names; empty: LOCAL or DEFAULT.
  static String zone(String sql) {
    String text = sql.strip();
    if (text.endsWith(";")) {
      text = text.substring(0, text.length() - 1).stripTrailing();
    }
    int quote = text.indexOf('\'');
    if (quote >= 0 && text.endsWith("'") && text.length() > quote + 1) {
      return text.substring(quote + 1, text.length() - 1).replace("''", "'");
    }
    String word = text.substring(Math.max(text.lastIndexOf(' '), text.lastIndexOf('=')) + 1);
    String upper = word.toUpperCase(Locale.ROOT);
    return upper.equals("LOCAL") || upper.equals("DEFAULT") ? "" : word;
  }

  @Override
  public Kind kind() {
    return Kind.DDL;
  }

  @Override
  public int[] parameterTypeOids() {
    return new int[0];
  }

  @Override
  public List<Column> columns() {
    return List.of();
  }

  @Override
  public Execution execute(
      EngineTransaction transaction,
      ParameterBatch parameters,
      ExecuteOptions options,
      ResultSink sink,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    session.timeZone(zone);
    done.accept(0L, null);
    return DONE;
  }
}
