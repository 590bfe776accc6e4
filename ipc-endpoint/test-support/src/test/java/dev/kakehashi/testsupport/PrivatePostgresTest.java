package dev.kakehashi.testsupport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PrivatePostgresTest {
  @Test
  void shouldKeepCommittedRowsThroughStopAndKill() {
    PrivatePostgres server = PrivatePostgres.start();
    try {
      server.psql("create table t as select 1 as id");
      server.stop();
      assertFalse(server.isAlive());
      server.startAgain();
      server.psql("insert into t values (2)");
      server.kill();
      assertFalse(server.isAlive());
      server.startAgain();
      // A division by zero tells that the rows are others.
      server.psql("select 1 / (count(*) = 2 and sum(id) = 3)::int from t");
      IllegalStateException refused =
          assertThrows(IllegalStateException.class, () -> server.psql("select * from nothing"));
      String message = String.valueOf(refused.getMessage());
      assertTrue(message.contains("relation \"nothing\" does not exist"), message);
    } finally {
      server.close();
    }
    assertFalse(Files.exists(server.directory()));
    assertFalse(server.isAlive());
  }

  @Test
  void shouldStartAfterTheCrashCommandAndTakeThatServerAway() throws Exception {
    PrivatePostgres server = PrivatePostgres.start();
    try {
      String crash = server.crashCommand();
      Process process = new ProcessBuilder("sh", "-c", crash).start();
      assertEquals(0, ServerProcess.awaitExit("the crash", process, Await.LIMIT));
      assertFalse(server.isAlive(), "it is no child any more");
      server.psql("select 1");
    } finally {
      server.close();
    }
    assertFalse(Files.exists(server.directory()));
  }

  @Test
  void shouldTakeAwayAServerThatDoesNotStart() throws Exception {
    assumeTrue(PrivatePostgres.isAvailable(), "PostgreSQL is not installed");
    PrivatePostgres.Options options =
        new PrivatePostgres.Options().small().settings("work_mem = 'much'");
    AssertionError failure = assertThrows(AssertionError.class, options::start);
    String message = String.valueOf(failure.getMessage());
    assertTrue(message.contains("work_mem"), message);
    String directory = message.split(" ", 4)[2];
    assertTrue(directory.startsWith("/tmp/kakehashi-postgres-"), directory);
    assertFalse(Files.exists(Path.of(directory)));
  }
}
