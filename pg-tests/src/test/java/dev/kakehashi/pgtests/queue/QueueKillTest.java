package dev.kakehashi.pgtests.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.Workspace;
import dev.kakehashi.testsupport.Await;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Consumers of three doors, the endpoint and PostgreSQL are killed at random under load. Nothing that was reported is lost, no effect is
/// there twice or without its task, no attempt is counted as another one was, and the counts are exact at the end.
///
/// Each producer's transaction has a row and the task of the same number: in PostgreSQL's own table, or in the engine's. Each consumer's
/// has the effect, whose key is the number, and the completion; psql's has a row of PostgreSQL's own, too.
class QueueKillTest {
  private static final int KILLS = Integer.getInteger("kakehashi.queueKills", 3);

  /// So many tasks are completed between two kills, at least.
  private static final int PROGRESS = 5;

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final List<String> CONSUMERS = List.of("java", "psql", "http");
  private static final List<String> PRODUCERS = List.of("javaProducer", "psqlProducer");

  private static final String PRODUCE =
      """
      CREATE PROCEDURE produce(first int8) LANGUAGE plpgsql AS $$
      BEGIN
        FOR id IN first..first + 1000000 LOOP
          INSERT INTO sent VALUES (id);
          PERFORM kakehashi_enqueue('kakehashi', 'work', to_jsonb(id));
          COMMIT;
          RAISE NOTICE 'sent %', id;
          PERFORM pg_sleep(0.005);
        END LOOP;
      END $$\
      """;

  private static final String CONSUME =
      """
      CREATE PROCEDURE consume() LANGUAGE plpgsql AS $$
      DECLARE
        task record;
        id int8;
        ready int;
        lost bool;
      BEGIN
        LOOP
          CALL kakehashi_wait('kakehashi', 'work', '1 s', 2, NULL, NULL, ready);
          FOR task IN SELECT * FROM kakehashi_receive('kakehashi', 'work', 2) LOOP
            id := task.payload::text::int8;
            RAISE NOTICE 'got % %', id, task.attempt;
            lost := false;
            BEGIN
              INSERT INTO effect VALUES (id, 'psql');
              INSERT INTO local_effect VALUES (id);
              PERFORM kakehashi_complete('kakehashi', task.token);
            EXCEPTION
              WHEN unique_violation THEN
                lost := true;
                PERFORM kakehashi_complete('kakehashi', task.token);
                RAISE NOTICE 'failed: task % is lent although it is done', id;
            END;
            COMMIT;
            IF NOT lost THEN
              RAISE NOTICE 'done %', id;
            END IF;
          END LOOP;
          COMMIT;
        END LOOP;
      END $$\
      """;

  private final TaskHistory history = new TaskHistory();

  @Test
  @Timeout(3600)
  void shouldLoseNothingAndDoNothingTwiceThroughKills() throws Exception {
    Random random = Sql.seededRandom("QueueKillTest");
    System.out.println("QueueKillTest: -Dkakehashi.queueKills=" + KILLS);
    Workspace workspace = Workspace.create("queue-kills");
    Path socket = workspace.memory().resolve("http");
    try (Cluster cluster = Cluster.start(workspace, "http_socket=" + socket)) {
      cluster.createTable("item", "id int8", "id");
      cluster.createTable("effect", "id int8, door text", "id");
      cluster.onEngine("CREATE QUEUE work WITH (max_attempts = 0, min_backoff = '1ms')");
      try (Connection connection = cluster.connect()) {
        Sql.execute(
            connection,
            "CREATE TABLE sent (id int8 PRIMARY KEY)",
            "CREATE TABLE local_effect (id int8 PRIMARY KEY)",
            PRODUCE,
            CONSUME);
      }
      try (QueueClients consumers = new QueueClients(cluster, socket, history)) {
        PRODUCERS.forEach(consumers::start);
        CONSUMERS.forEach(consumers::start);
        for (int kill = 0; kill < KILLS; kill++) {
          progress(consumers, kill);
          if (kill % 20 == 19) {
            System.out.printf("%d kills, %d tasks%n", kill, history.doneCount());
          }
          TimeUnit.MILLISECONDS.sleep(
              random.nextInt(50)); // the random moment is the point of the test
          kill(cluster, consumers, KILLS < 10 ? kill : random.nextInt(8));
        }
        progress(consumers, KILLS);
        PRODUCERS.forEach(consumers::kill);
        drain(cluster, consumers);
      }
      assertWhole(cluster);
      cluster.endpoint().stop();
      assertTrue(cluster.endpoint().command("", "check").contains("no problems"));
      System.out.printf(
          "QueueKillTest: %d tasks, %d deliveries over %d kills%n",
          history.doneCount(), history.deliveryCount(), KILLS);
    }
  }

  /// Waits until some tasks are completed; what was killed, or has ended with its server, is started anew.
  private void progress(QueueClients clients, int kill) {
    int until = history.doneCount() + PROGRESS;
    Await.until(
        "tasks to be completed after kill " + kill,
        LIMIT,
        () -> {
          PRODUCERS.forEach(clients::start);
          CONSUMERS.forEach(clients::start);
          return history.doneCount() >= until;
        });
    assertEquals(List.of(), history.wrong());
  }

  private static void kill(Cluster cluster, QueueClients clients, int what) {
    switch (what) {
      case 0 -> {
        cluster.endpoint().kill();
        cluster.endpoint().start();
      }
      case 1 -> {
        cluster.postgres().kill();
        cluster.postgres().start();
      }
      case 2, 3 -> clients.kill("java");
      case 4 -> clients.kill("psql");
      case 5 -> clients.kill("http");
      case 6 -> clients.kill("javaProducer");
      default -> clients.kill("psqlProducer");
    }
  }

  private static List<String> onEngine(Connection connection, String sql) throws SQLException {
    return Sql.rows(
        connection, "SELECT n FROM kakehashi_query('kakehashi', '" + sql + "') AS t (n int8)");
  }

  /// Until nothing is left to be done.
  private void drain(Cluster cluster, QueueClients clients) throws SQLException {
    try (Connection connection = cluster.connect()) {
      Await.until(
          "the end of all tasks",
          LIMIT,
          () -> {
            CONSUMERS.forEach(clients::start);
            try {
              Sql.rows(connection, "SELECT outcome FROM kakehashi_resolve('kakehashi')");
              return onEngine(
                      connection,
                      "SELECT ready + delayed + leased FROM kakehashi_catalog.queues"
                          + " WHERE NOT EXISTS (SELECT FROM kakehashi_catalog.leases)")
                  .equals(List.of("0"));
            } catch (SQLException e) {
              throw new IllegalStateException("could not ask", e);
            }
          });
    }
  }

  private void assertWhole(Cluster cluster) throws SQLException {
    try (Connection connection = cluster.connect()) {
      Set<Long> effects = numbers(connection, "SELECT id FROM effect");
      Set<Long> items = numbers(connection, "SELECT id FROM item");
      Set<Long> sent = numbers(connection, "SELECT id FROM sent");
      assertEquals(List.of(), history.wrong());
      Set<Long> produced = new HashSet<>(items);
      produced.addAll(sent);
      assertEquals(produced, effects, "rows of producers, and effects of their tasks");
      assertTrue(produced.containsAll(history.sent()), "a task that was reported is lost");
      assertTrue(effects.containsAll(history.done()), "an effect that was reported is lost");
      assertEquals(
          numbers(connection, "SELECT id FROM effect WHERE door = 'psql'"),
          numbers(connection, "SELECT id FROM local_effect"),
          "effects of psql in both servers");
      assertEquals(
          List.of(Integer.toString(effects.size())),
          onEngine(
              connection,
              "SELECT done FROM kakehashi_catalog.queues WHERE enqueued = done AND dead = 0 AND canceled = 0"));
    }
  }

  private static Set<Long> numbers(Connection connection, String sql) throws SQLException {
    Set<Long> numbers = new HashSet<>();
    for (String each : Sql.rows(connection, sql)) {
      numbers.add(Long.parseLong(each));
    }
    return numbers;
  }
}
