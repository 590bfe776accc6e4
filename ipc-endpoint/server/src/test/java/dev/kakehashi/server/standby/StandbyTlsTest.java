package dev.kakehashi.server.standby;

import dev.kakehashi.client.Session;
import dev.kakehashi.server.Command;
import dev.kakehashi.server.EndpointProcess;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.testsupport.FreePorts;
import dev.kakehashi.testsupport.TestKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A standby that follows over TLS, and trusts one authority.
@Timeout(240)
class StandbyTlsTest {
  private static final int ROWS = 20_000;

  @TempDir private Path home;

  /// Starts a standby that is made of a backup, and does something with it.
  private void follow(
      EndpointProcess primary, Path backup, String authority, String host, int port, Look look)
      throws Exception {
    try (EndpointProcess standby =
        EndpointProcess.prepare(
            "primary=https://%s:%d".formatted(host, port),
            "primary_user=replica",
            "primary_password_file=" + home.resolve("password"),
            "primary_tls_authority=" + authority,
            "standby_name=second")) {
      Command.run("restore", "--standby", backup.toString(), standby.dataDirectory().toString())
          .expect(0, "restored the backup of");
      standby.start();
      look.at(primary, standby);
    }
  }

  private interface Look {
    void at(EndpointProcess primary, EndpointProcess standby) throws Exception;
  }

  private static void awaitProblem(EndpointProcess standby, String problem) {
    Await.until(problem, () -> standby.ask("status").output().contains(problem));
  }

  @Test
  void shouldFollowAPrimaryWhoseAuthorityItTrusts() throws Exception {
    TestKeys keys = new TestKeys(Files.createDirectory(home.resolve("keys")));
    keys.make("server", "CN=primary");
    keys.writeCertificate("authority", home.resolve("authority.pem"));
    keys.writeCertificate("server", home.resolve("server.pem"));
    keys.writeKey("server", home.resolve("server.key"));
    TestKeys others = new TestKeys(Files.createDirectory(home.resolve("others")));
    others.writeCertificate("authority", home.resolve("other.pem"));
    Files.writeString(home.resolve("password"), "secret\n");
    int port = FreePorts.next();
    try (EndpointProcess primary =
        EndpointProcess.open(
            "http_tls=0.0.0.0:" + port,
            "http_tls_certificate=" + home.resolve("server.pem"),
            "http_tls_key=" + home.resolve("server.key"))) {
      try (Session session = primary.attach()) {
        session.execute("create table entry (id int8 primary key, v text)");
        session.execute("create role replica login password 'secret'");
        session.execute("grant kakehashi_replication to replica");
      }
      Path backup = home.resolve("backup");
      primary.ask("backup", backup.toString(), "-q").expect(0);
      String trusted = home.resolve("authority.pem").toString();
      follow(primary, backup, trusted, "localhost", port, this::followed);
      follow(
          primary,
          backup,
          home.resolve("other.pem").toString(),
          "localhost",
          port,
          (first, second) -> awaitProblem(second, "PKIX path validation failed"));
      // The certificate has 127.0.0.1 and localhost.
      follow(
          primary,
          backup,
          trusted,
          "127.0.0.2",
          port,
          (first, second) -> awaitProblem(second, "127.0.0.2"));
    }
  }

  private void followed(EndpointProcess primary, EndpointProcess standby) {
    try (Session session = primary.attach()) {
      session.execute(
          "insert into entry select i, repeat('x', 500) from generate_series(1, %d) i"
              .formatted(ROWS));
    }
    List<String> expected =
        List.of(String.valueOf(IntStream.rangeClosed(1, ROWS).asLongStream().sum()));
    Await.untilEquals(
        "rows of the primary",
        expected,
        () -> StandbyPair.column(standby, "select coalesce(sum(id), 0)::text from entry"));
    primary.ask("status").expect(0, "standby second: has 1/");
  }
}
