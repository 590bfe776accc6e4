package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Settings that are changed while the endpoint runs.
@Timeout(120)
class ReloadTest {
  @TempDir private Path home;

  private static String show(Session session, String setting) {
    try (PreparedStatement statement = session.prepare("show " + setting);
        Rows rows = session.query(statement)) {
      assertTrue(rows.next());
      return rows.getString(0);
    }
  }

  @Test
  void shouldChangeMemoryAtOnceAndSayWhatNeedsARestart() throws Exception {
    Path config = home.resolve("kakehashi.conf");
    Files.writeString(config, "memory = 16MB\n");
    try (EndpointProcess endpoint = EndpointProcess.open(config);
        Session session = endpoint.attach()) {
      String data = endpoint.dataDirectory().toString();
      session.execute("create table t (id int primary key, v text)");
      String insert = "insert into t select i, repeat('x', 1000) from generate_series(1, 20000) i";
      EndpointException full = assertThrows(EndpointException.class, () -> session.execute(insert));
      assertEquals("53200", full.sqlstate());
      Command.run("reload", "-D", data).expect(0, "all settings are as before");
      Files.writeString(
          config,
          "memory = 64MB\nworker_threads = 7\nlog_level = debug\nlock_timeout = 1s\nidle_in_transaction_timeout = 5min\n");
      Command.run("reload", "-D", data)
          .expect(
              0,
              "memory is 64MB, was 16MB\n",
              "lock_timeout is 1s, was 0s\n",
              "idle_in_transaction_timeout is 5min, was 0s\n",
              "log_level is debug, was info\n",
              "worker_threads stays 0 until the endpoint is started again, and will be 7\n");
      session.execute(insert);
      assertEquals("64MB", show(session, "memory"));
      assertEquals("0", show(session, "worker_threads"));
      // A file that cannot be used changes nothing.
      Files.writeString(config, "memory = 32MB\nlock_timeout = soon\n");
      Command.run("reload", "-D", data)
          .expect(1, "nothing is changed: ", config + ":2: \"lock_timeout\" cannot be \"soon\"");
      assertEquals("64MB", show(session, "memory"));
      Files.writeString(config, "memory = 32MB\nidle_in_transaction_timeout_roles = web\n");
      Command.run("reload", "-D", data)
          .expect(1, "nothing is changed: ", "\"web\" is no role=time, as web=30s");
      assertEquals("64MB", show(session, "memory"));
      Files.writeString(config, "memory = 64MB\n");
      Command.run("reload", "-D", data, "--now", "memory=96MB")
          .expect(0, "memory is 96MB, was 64MB\n", "lock_timeout is 0s, was 1s\n");
      assertEquals("96MB", show(session, "memory"));
      endpoint.signal("HUP");
      Await.untilEquals("memory after SIGHUP", "64MB", () -> show(session, "memory"));
    }
  }

  @Test
  void shouldSayThatNoEndpointRuns() throws IOException {
    Command.run("reload", "-D", home.toString()).expect(1, "no endpoint runs on \"" + home + "\"");
  }
}
