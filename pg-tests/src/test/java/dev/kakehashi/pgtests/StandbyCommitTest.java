package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.EndpointProcess;
import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.Workspace;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.testsupport.FreePorts;
import dev.kakehashi.testsupport.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// Commits over both sides when a machine is lost, with an endpoint whose standby is synchronous: rows of the table in docs/operations.md.
class StandbyCommitTest {
  private static final int CLIENTS = 4;
  private static final int COMMITS = 200;

  private final AtomicLong nextId = new AtomicLong(1);
  private final ConcurrentSkipListSet<Long> acknowledged = new ConcurrentSkipListSet<>();

  private interface Loss {
    void run() throws Exception;
  }

  /// Each transaction has a row on either side. Ends when a server is lost.
  private Void commit(Cluster cluster) {
    try (Connection connection = cluster.connect()) {
      connection.setAutoCommit(false);
      while (true) {
        long id = nextId.getAndIncrement();
        Sql.execute(
            connection,
            "INSERT INTO item VALUES (" + id + ", 1)",
            "INSERT INTO local_item VALUES (" + id + ", -1)");
        connection.commit();
        acknowledged.add(id);
      }
    } catch (SQLException e) {
      assertTrue(acknowledged.size() >= COMMITS, "before the loss: " + e);
      return null;
    }
  }

  private void commitUntil(Cluster cluster, Loss loss) throws Exception {
    try (ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
      List<Future<Void>> running = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        running.add(clients.submit(() -> commit(cluster)));
      }
      Await.until("commits", () -> acknowledged.size() >= COMMITS);
      loss.run();
      for (Future<Void> each : running) {
        each.get(60, TimeUnit.SECONDS);
      }
    }
  }

  private static void prepare(Cluster cluster) throws SQLException {
    cluster.createTable("item", "id int8, v int4", "id");
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "CREATE TABLE local_item (id int8, v int4)");
    }
  }

  /// Lets commits of the cluster's endpoint wait for a standby, as ALTER SYSTEM does, which is no statement of a transaction.
  private static void wait(Workspace workspace, Cluster cluster) throws IOException {
    Files.writeString(
        workspace.disk().resolve("endpoint/kakehashi.auto.conf"), "synchronous_standby = second\n");
    cluster.endpoint().command("", "reload");
    Await.until(
        "the synchronous standby",
        () -> cluster.endpoint().command("", "status").contains("commits wait for standby second"));
  }

  private static void use(Connection connection, EndpointProcess endpoint) throws SQLException {
    Sql.execute(
        connection,
        "ALTER SERVER kakehashi OPTIONS (SET runtime_dir '" + endpoint.runtimeDirectory() + "')");
  }

  private static Set<Long> ids(Connection connection, String table) throws SQLException {
    Set<Long> ids = new TreeSet<>();
    for (String id : Sql.rows(connection, "SELECT id FROM " + table)) {
      ids.add(Long.parseLong(id));
    }
    return ids;
  }

  /// Decides what is left, and says how many parts got which outcome.
  private static Map<String, Integer> resolve(Connection connection) throws SQLException {
    Map<String, Integer> outcomes = new HashMap<>();
    for (String row :
        Sql.rows(
            connection, "SELECT global_id || ' ' || outcome FROM kakehashi_resolve('kakehashi')")) {
      String id = row.substring(0, row.indexOf(' '));
      String outcome = row.substring(row.indexOf(' ') + 1);
      outcomes.merge(outcome, 1, Integer::sum);
      if (outcome.equals("unknown")) {
        Sql.execute(
            connection,
            "SELECT kakehashi_execute('kakehashi', 'ROLLBACK PREPARED ''" + id + "''')");
      }
    }
    return outcomes;
  }

  /// All of a transaction is there, or nothing of it; and each that a client was told of.
  private void check(Connection connection, String when) throws SQLException {
    Map<String, Integer> outcomes = resolve(connection);
    Set<Long> ours = ids(connection, "local_item");
    assertEquals(ours, ids(connection, "item"), "by half: " + outcomes);
    TreeSet<Long> lost = new TreeSet<>(acknowledged);
    lost.removeAll(ours);
    assertEquals(List.of(), List.copyOf(lost), "acknowledged, and not there");
    assertEquals(
        "0", Sql.value(connection, "SELECT sum(v) FROM (TABLE item UNION ALL TABLE local_item) t"));
    assertEquals(List.of(), Sql.rows(connection, "SELECT * FROM kakehashi_resolve('kakehashi')"));
    System.out.println(
        "StandbyCommitTest: %s: %d commits kept, %s".formatted(when, ours.size(), outcomes));
  }

  @Test
  void shouldLoseNothingWithTheEndpointWhenItsStandbyIsSynchronous() throws Exception {
    Workspace workspace = Workspace.create("commit");
    try (var cluster = Cluster.start(workspace, "http_port=0")) {
      prepare(cluster);
      try (EndpointProcess standby = StandbyFdwTest.standby(cluster, workspace)) {
        wait(workspace, cluster);
        commitUntil(cluster, cluster.endpoint()::kill);
        standby.command("", "promote");
        try (Connection connection = cluster.connect()) {
          use(connection, standby);
        }
        try (Connection connection = cluster.connect()) {
          check(connection, "the endpoint is lost");
        }
      }
    }
  }

  /// A standby of PostgreSQL on the second machine. The caller ends it.
  private static ServerProcess postgresStandby(Cluster cluster, Path home, int port) {
    Path data = home.resolve("data");
    Path binaries = Installation.postgresBinaries();
    OsProcess.runOk(
        List.of(
            binaries.resolve("pg_basebackup").toString(),
            "-D",
            data.toString(),
            "-R",
            "-c",
            "fast"),
        cluster.postgres().environment(),
        Duration.ofMinutes(1));
    List<String> command = new ArrayList<>(Installation.asServerUser());
    command.addAll(
        List.of(
            binaries.resolve("postgres").toString(),
            "-D",
            data.toString(),
            "-p",
            Integer.toString(port),
            "-k",
            home.toString()));
    ServerProcess standby =
        new ServerProcess("PostgreSQL's standby", command, Map.of(), home.resolve("postgres.log"));
    standby.start();
    standby.awaitReady(
        () -> standby.sinceStart().contains("ready to accept read-only connections"));
    return standby;
  }

  private static boolean isSynchronous(Connection primary) {
    try {
      return Sql.rows(primary, "SELECT sync_state FROM pg_stat_replication")
          .equals(List.of("sync"));
    } catch (SQLException e) {
      throw new IllegalStateException("the primary does not answer", e);
    }
  }

  private static Connection connect(int port) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres");
  }

  @Test
  void shouldLoseNothingWithTheMachineWhenBothStandbysAreSynchronous() throws Exception {
    Workspace workspace = Workspace.create("machine");
    try (var cluster = Cluster.start(workspace, "http_port=0")) {
      prepare(cluster);
      int port = FreePorts.next();
      try (EndpointProcess standby = StandbyFdwTest.standby(cluster, workspace);
          ServerProcess second =
              postgresStandby(cluster, workspace.newDiskDirectory("postgres2"), port)) {
        wait(workspace, cluster);
        try (Connection connection = cluster.connect()) {
          Sql.execute(connection, "ALTER SYSTEM SET synchronous_standby_names = '*'");
          Sql.execute(connection, "SELECT pg_reload_conf()");
          Await.until("the synchronous standby of PostgreSQL", () -> isSynchronous(connection));
        }
        commitUntil(
            cluster,
            () -> {
              // A machine loses both at once. A backend whose postmaster is gone no longer waits
              // for the standby, and would go on here.
              cluster.endpoint().kill();
              cluster.postgres().kill();
            });
        standby.command("", "promote");
        try (Connection connection = connect(port)) {
          assertEquals("t", Sql.value(connection, "SELECT pg_promote()"));
          use(connection, standby);
        }
        try (Connection connection = connect(port)) {
          check(connection, "the machine is lost");
        }
        second.stop();
      }
    }
  }
}
