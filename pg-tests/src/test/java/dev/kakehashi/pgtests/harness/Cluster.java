package dev.kakehashi.pgtests.harness;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

/// One endpoint and one PostgreSQL server that has a foreign server `kakehashi` on it. A test class makes one and closes it.
public final class Cluster implements AutoCloseable {
  private final Workspace workspace;
  private final EndpointProcess endpoint;
  private final PostgresProcess postgres;

  private Cluster(Workspace workspace, EndpointProcess endpoint, PostgresProcess postgres) {
    this.workspace = workspace;
    this.endpoint = endpoint;
    this.postgres = postgres;
  }

  /// Starts both servers.
  ///
  /// @param name part of the directories' names
  /// @param endpointSettings `name=value` settings of the endpoint
  public static Cluster start(String name, String... endpointSettings) {
    return start(Workspace.create(name), endpointSettings);
  }

  /// Starts both servers in a workspace, which the cluster owns from now on.
  public static Cluster start(Workspace workspace, String... endpointSettings) {
    return startWith(Map.of(), workspace, endpointSettings);
  }

  /// The same with an environment of the endpoint's.
  public static Cluster startWith(
      Map<String, String> endpointEnvironment, Workspace workspace, String... endpointSettings) {
    // Whatever was started is ended when a later part does not start.
    EndpointProcess endpoint = null;
    PostgresProcess postgres = null;
    try {
      endpoint =
          EndpointProcess.startWith(
              endpointEnvironment,
              workspace.memory().resolve("run"),
              workspace.disk(),
              endpointSettings);
      postgres =
          PostgresProcess.start(
              workspace.disk(),
              Map.of(
                  "max_prepared_transactions", "10", "session_preload_libraries", "kakehashi_fdw"));
      var cluster = new Cluster(workspace, endpoint, postgres);
      cluster.createServer();
      return cluster;
    } catch (SQLException e) {
      close(postgres, endpoint, workspace);
      throw new IllegalStateException("could not create the foreign server", e);
    } catch (RuntimeException | Error e) {
      close(postgres, endpoint, workspace);
      throw e;
    }
  }

  private void createServer() throws SQLException {
    try (Connection connection = postgres.connect()) {
      createServerOn(connection);
    }
  }

  /// Makes the extension and the foreign server in any PostgreSQL of this host.
  public void createServerOn(Connection connection) throws SQLException {
    Sql.execute(
        connection,
        "CREATE EXTENSION kakehashi_fdw",
        "CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '"
            + endpoint.runtimeDirectory()
            + "')",
        "CREATE USER MAPPING FOR PUBLIC SERVER kakehashi");
  }

  public EndpointProcess endpoint() {
    return endpoint;
  }

  public PostgresProcess postgres() {
    return postgres;
  }

  public Workspace workspace() {
    return workspace;
  }

  /// A new PostgreSQL session.
  public Connection connect() throws SQLException {
    return postgres.connect();
  }

  /// Runs DDL or DML on the engine, auto-committed.
  public void onEngine(String sql) throws SQLException {
    try (Connection connection = connect();
        var statement = connection.prepareStatement("SELECT kakehashi_execute('kakehashi', ?)")) {
      statement.setString(1, sql);
      statement.execute();
    }
  }

  /// Makes a table on the engine, and the foreign table of the same name.
  ///
  /// @param columns column definitions that both sides understand
  /// @param primaryKey name of the primary key column
  public void createTable(String table, String columns, String primaryKey) throws SQLException {
    onEngine("CREATE TABLE " + table + " (" + columns + ", PRIMARY KEY (" + primaryKey + "))");
    try (Connection connection = connect();
        var statement = connection.createStatement()) {
      statement.execute(
          "IMPORT FOREIGN SCHEMA public LIMIT TO ("
              + table
              + ") FROM SERVER kakehashi INTO public");
    }
  }

  @Override
  public void close() {
    close(postgres, endpoint, workspace);
  }

  private static void close(@org.jspecify.annotations.Nullable AutoCloseable... parts) {
    RuntimeException failure = null;
    for (AutoCloseable part : parts) {
      try {
        if (part != null) {
          part.close();
        }
      } catch (Exception e) {
        if (failure == null) {
          failure = new IllegalStateException("could not end the cluster", e);
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
