package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.pool.PoolLimits;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.pgwire.wire.WireSettings;
import dev.kakehashi.pgwire.wire.WireSettings.Tls;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.tck.drive.DrivenEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Passwords and certificates against a server with TLS, whose certificate is for "localhost" alone.
class WireTlsTest {
  private static final String HBA =
      """
      local all all trust
      host all clear 127.0.0.1/32 password
      host all old 127.0.0.1/32 md5
      host all all 127.0.0.1/32 scram-sha-256
      """;

  @TempDir private static Path directory;
  private static PgWireServer server;
  private static Path authority;
  private static Path stranger;

  @BeforeAll
  static void startServer() throws IOException, InterruptedException {
    assumeTrue(PgWireServer.isAvailable(), "PostgreSQL is not installed");
    authority = certificate("localhost");
    stranger = certificate("stranger");
    server =
        PgWireServer.start(
            Map.of(
                "server.crt",
                Files.readString(authority),
                "server.key",
                Files.readString(directory.resolve("localhost.key")),
                "pg_hba.conf",
                HBA),
            "ssl = on");
    server.psql("CREATE ROLE clear LOGIN SUPERUSER PASSWORD '" + PgWireServer.PASSWORD + "'");
    server.psql(
        "SET password_encryption = md5; CREATE ROLE old LOGIN SUPERUSER PASSWORD '"
            + PgWireServer.PASSWORD
            + "'");
  }

  @AfterAll
  static void stopServer() {
    if (server != null) {
      server.close();
    }
  }

  /// A certificate that signs itself.
  private static Path certificate(String host) throws IOException, InterruptedException {
    Path file = directory.resolve(host + ".crt");
    Process openssl =
        new ProcessBuilder(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=" + host,
                "-addext",
                "subjectAltName=DNS:" + host,
                "-keyout",
                directory.resolve(host + ".key").toString(),
                "-out",
                file.toString())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("openssl.log").toFile())
            .start();
    assertEquals(0, openssl.waitFor(), Files.readString(directory.resolve("openssl.log")));
    return file;
  }

  private static PgWireEngine open(String host, String user, Tls tls, @Nullable Path signed)
      throws IOException {
    return PgWireEngine.open(config(host, server.port(), user, tls, signed));
  }

  private static PgWireConfig config(
      String host, int port, String user, Tls tls, @Nullable Path signed) throws IOException {
    return new PgWireConfig(
        List.of(new ServerAddress(host, port)),
        new WireSettings(
            "kakehashi",
            user,
            server.passwordFile(),
            tls,
            signed,
            "UTC",
            Duration.ofSeconds(5),
            Duration.ofSeconds(10),
            Duration.ZERO,
            "kakehashi test"),
        new PoolLimits(5, Duration.ofMillis(100)),
        new EngineLimits(10, 0, 0),
        false,
        43);
  }

  private static String protectedBy(String host, String user, Tls tls, @Nullable Path signed)
      throws IOException {
    try (PgWireEngine engine = open(host, user, tls, signed);
        DrivenEngine client = new DrivenEngine(engine, "test", "")) {
      return client
          .query("select ssl::text from pg_stat_ssl where pid = pg_backend_pid()")
          .getFirst();
    }
  }

  private static EngineException refusal(String host, String user, Tls tls, @Nullable Path signed) {
    return assertThrows(EngineException.class, () -> open(host, user, tls, signed).close());
  }

  @Test
  void shouldProtectTheConnectionAsFarAsItIsAsked() throws IOException {
    assertEquals("false", protectedBy("127.0.0.1", PgWireServer.USER, Tls.DISABLE, null));
    assertEquals("true", protectedBy("127.0.0.1", PgWireServer.USER, Tls.REQUIRE, null));
    assertEquals("true", protectedBy("127.0.0.1", PgWireServer.USER, Tls.VERIFY_CA, authority));
    assertEquals("true", protectedBy("localhost", PgWireServer.USER, Tls.VERIFY_FULL, authority));
  }

  @Test
  void shouldRefuseAServerThatIsAnotherOne() {
    for (EngineException refusal :
        List.of(
            refusal("127.0.0.1", PgWireServer.USER, Tls.VERIFY_FULL, authority),
            refusal("127.0.0.1", PgWireServer.USER, Tls.VERIFY_CA, stranger),
            refusal("127.0.0.1", PgWireServer.USER, Tls.REQUIRE, stranger),
            refusal("localhost", PgWireServer.USER, Tls.VERIFY_FULL, null))) {
      assertEquals(ErrorCode.CANNOT_CONNECT_NOW, refusal.code());
      assertTrue(refusal.detail().contains("could not connect"), refusal.detail());
    }
  }

  @Test
  void shouldNotSendAPasswordThatCouldBeReadOnTheWay() throws IOException {
    for (String user : List.of("clear", "old")) {
      EngineException refusal = refusal("127.0.0.1", user, Tls.DISABLE, null);
      assertEquals(ErrorCode.AUTHENTICATION_FAILED, refusal.code());
      assertTrue(String.valueOf(refusal.getMessage()).contains("not sent without TLS"));
      assertEquals("true", protectedBy("127.0.0.1", user, Tls.VERIFY_CA, authority));
    }
  }

  @Test
  void shouldNoticeSomebodyInBetween() throws IOException, InterruptedException {
    try (TlsInBetween between =
        new TlsInBetween(server.port(), stranger, directory.resolve("stranger.key"))) {
      PgWireConfig config =
          config("127.0.0.1", between.port(), PgWireServer.USER, Tls.REQUIRE, null);
      EngineException refusal =
          assertThrows(EngineException.class, () -> PgWireEngine.open(config));
      assertTrue(
          (refusal.getMessage() + refusal.detail()).contains("channel binding"),
          () -> refusal + ": " + refusal.detail());
    }
  }
}
