package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.PostgresProcess;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.testsupport.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Backends of one server die in the middle of appends; the sessions of another server on the same endpoint go on.
///
/// Two servers, because PostgreSQL answers a killed backend by ending all its other backends.
class BackendKilledTest {
  private static final int KILLS = 50;

  /// The requirement is a second, and the longest pause is printed; the rest is for a busy machine.
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Test
  void shouldServeOthersWithinASecondAndLeakNothing() throws Exception {
    Random random = Sql.seededRandom("BackendKilledTest");
    try (var cluster = Cluster.start("backend")) {
      cluster.createTable("item", "id int8, val int4", "id");
      try (var other =
              PostgresProcess.start(cluster.workspace().newDiskDirectory("other"), Map.of());
          Connection witness = other.connect()) {
        cluster.createServerOn(witness);
        Sql.execute(witness, "IMPORT FOREIGN SCHEMA public FROM SERVER kakehashi INTO public");
        Sql.execute(witness, "INSERT INTO item VALUES (0, 0)");
        long filesBefore = 0;
        Duration longest = Duration.ZERO;
        for (int i = 0; i < KILLS; i++) {
          Duration pause;
          try (Connection bystander = cluster.connect()) {
            killOneWriter(cluster, random);
            long began = System.nanoTime();
            Sql.execute(witness, "UPDATE item SET val = val + 1 WHERE id = 0");
            pause = Duration.ofNanos(System.nanoTime() - began);
            cluster.postgres().awaitRecovery(bystander);
          }
          assertTrue(
              pause.compareTo(LONGEST_PAUSE) < 0,
              "kill " + i + ": the other server waited " + pause);
          longest = pause.compareTo(longest) > 0 ? pause : longest;
          if (i == 0) {
            filesBefore = cluster.endpoint().openFiles();
          }
        }
        System.out.println("BackendKilledTest: longest pause " + longest.toMillis() + " ms");
        assertEquals(
            Integer.toString(KILLS), Sql.value(witness, "SELECT val FROM item WHERE id = 0"));
        // Rows come in pairs, one transaction each: a transaction of a killed backend is rolled
        // back.
        assertEquals("0", Sql.value(witness, "SELECT count(*) % 2 FROM item WHERE id > 0"));
        long limit = filesBefore + 10;
        Await.until(
            "release of the dead sessions' files (at most " + limit + ")",
            LIMIT,
            () -> cluster.endpoint().openFiles() <= limit);
      }
    }
  }

  /// Lets a backend write as fast as it can and kills it after a random time.
  private static void killOneWriter(Cluster cluster, Random random) throws Exception {
    Connection victim = cluster.connect();
    long pid = Long.parseLong(Sql.value(victim, "SELECT pg_backend_pid()"));
    Sql.execute(victim, "SELECT count(*) FROM item");
    long first = Math.abs(random.nextLong() >> 8) / 2 * 2 + 2;
    var begun = new CountDownLatch(1);
    CompletableFuture<Void> writing =
        CompletableFuture.runAsync(() -> {
          try {
            victim.setAutoCommit(false);
            begun.countDown();
            for (long id = first; ; id += 2) {
              Sql.execute(
                  victim,
                  "INSERT INTO item VALUES (" + id + ", 1)",
                  "INSERT INTO item VALUES (" + (id + 1) + ", 1)");
              victim.commit();
            }
          } catch (SQLException e) {
            // 57P02 or a broken connection: the kill arrived
          }
        });
    assertTrue(begun.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS));
    // The random moment is the point of the test.
    TimeUnit.MICROSECONDS.sleep(random.nextInt(40_000));
    OsProcess.signal("KILL", pid);
    writing.join();
    try {
      victim.close();
    } catch (SQLException e) {
      // its server end is dead
    }
  }
}
