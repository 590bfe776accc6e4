package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Applications in processes of their own begin with the endpoint, without a call.
@Timeout(180)
class ProcessRestartTest {
  private static final int RESTARTS = Integer.getInteger("kakehashi.restarts", 3);
  private static final String SOURCE =
      """
      package shop;
      import dev.kakehashi.application.*;
      public final class Shop implements Application {
        record Task(long id) {}
        public void define(Definitions it) {
          it.handler("inbox", Task.class, (call, task) -> call.table("done", Task.class).insert(task.value()));
        }
      }
      """;

  @TempDir private Path directory;

  private static long count(Session session) {
    try (PreparedStatement statement = session.prepare("select count(*) from done");
        Rows rows = session.query(statement)) {
      assertTrue(rows.next());
      return rows.getLong(0);
    }
  }

  private static void awaitCount(Session session, long wanted) {
    Await.untilEquals("rows", wanted, () -> count(session));
  }

  @Test
  void shouldBeginWithEachStart() throws IOException, InterruptedException {
    try (EndpointProcess endpoint = EndpointProcess.open("worker_threads=2", "memory=64MB")) {
      try (Session session = endpoint.attach()) {
        session.execute("create table done (id int8 primary key)");
        session.execute("create queue inbox");
        session.execute(
            "create application shop from "
                + TestJar.literal(directory.resolve("jar"), SOURCE)
                + " with (isolation = 'process', memory = '32MB')");
        session.execute("select enqueue('inbox', '{\"id\": 0}')");
        awaitCount(session, 1);
      }
      for (int i = 1; i <= RESTARTS; i++) {
        endpoint.stop();
        endpoint.start();
        try (Session session = endpoint.attach()) {
          session.execute("select enqueue('inbox', '{\"id\": " + i + "}')");
          awaitCount(session, i + 1L);
        }
      }
    }
  }
}
