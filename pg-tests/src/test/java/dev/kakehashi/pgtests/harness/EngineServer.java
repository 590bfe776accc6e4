package dev.kakehashi.pgtests.harness;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A PostgreSQL that keeps the rows of an endpoint whose engine is `pgwire`. It belongs to the endpoint's process, and ends after it.
///
/// An endpoint has one when its settings name [#SETTING], or when the system property `kakehashi.engine` is `pgwire` and its settings name
/// no engine.
final class EngineServer implements AutoCloseable {
  /// The setting of an endpoint over such a server.
  static final String SETTING = "engine=pgwire";

  private static final String ROLE = "kakehashi";

  private final PostgresProcess postgres;

  private EngineServer(PostgresProcess postgres) {
    this.postgres = postgres;
  }

  /// Whether this run has endpoints over such servers.
  static boolean isOfThisRun() {
    return SETTING.equals("engine=" + System.getProperty("kakehashi.engine"));
  }

  /// Starts one below the home of an endpoint.
  ///
  /// @param settings of the endpoint
  /// @return null: the endpoint keeps its rows itself
  static @Nullable EngineServer forEndpoint(Path home, List<String> settings) {
    boolean named = settings.stream().anyMatch(each -> each.startsWith("engine="));
    if (named ? !settings.contains(SETTING) : !isOfThisRun()) {
      return null;
    }
    PostgresProcess postgres =
        PostgresProcess.start(
            Workspace.newDirectory(home, "engine"),
            Map.of(
                "max_prepared_transactions", "50",
                "shared_buffers", "64MB",
                "jit", "off",
                "full_page_writes", "off"));
    try (Connection connection = postgres.connect()) {
      Sql.execute(
          connection,
          "CREATE ROLE " + ROLE + " LOGIN",
          "GRANT pg_signal_backend, pg_read_all_stats TO " + ROLE,
          "CREATE DATABASE kakehashi OWNER " + ROLE);
      return new EngineServer(postgres);
    } catch (SQLException e) {
      postgres.close();
      throw new IllegalStateException("could not make the database of the engine", e);
    }
  }

  /// Settings of the endpoint, by which it finds the server.
  List<String> endpointSettings() {
    return List.of(SETTING, "pgwire_addresses=127.0.0.1:" + postgres.port(), "pgwire_user=" + ROLE);
  }

  @Override
  public void close() {
    postgres.close();
  }
}
