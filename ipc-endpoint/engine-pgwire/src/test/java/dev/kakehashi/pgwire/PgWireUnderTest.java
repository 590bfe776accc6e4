package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.pgwire.pool.PoolLimits;
import dev.kakehashi.pgwire.wire.ServerAddress;
import dev.kakehashi.pgwire.wire.WireSettings;
import dev.kakehashi.tck.drive.EngineUnderTest;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The engine over a private PostgreSQL, or over the servers that `-Dkakehashi.tck.pgwire.addresses`, `.database`, `.user` and `.password`
/// (a file) name. `.nodeIsolation` is the engine's setting of that name, `.report` names the report.
public final class PgWireUnderTest implements EngineUnderTest {
  private static final String PROPERTY = "kakehashi.tck.pgwire.";
  private static final long ENDPOINT = 42;

  private final List<ServerAddress> addresses;
  private final @Nullable PgWireServer server;
  private @Nullable PgWireEngine engine;

  public PgWireUnderTest() {
    String named = System.getProperty(PROPERTY + "addresses", "");
    server = named.isEmpty() ? PgWireServer.start() : null;
    addresses =
        server == null
            ? Arrays.stream(named.split(",")).map(ServerAddress::parse).toList()
            : List.of(new ServerAddress("127.0.0.1", server.port()));
  }

  @Override
  public String name() {
    return PgWireEngine.NAME;
  }

  @Override
  public String reportName() {
    return System.getProperty(PROPERTY + "report", name());
  }

  @Override
  public void open() throws IOException {
    engine = PgWireEngine.open(config(addresses, passwordFile()));
  }

  private @Nullable Path passwordFile() throws IOException {
    if (server != null) {
      return server.passwordFile();
    }
    String named = System.getProperty(PROPERTY + "password", "");
    return named.isEmpty() ? null : Path.of(named);
  }

  static PgWireConfig config(List<ServerAddress> addresses, @Nullable Path password) {
    return config(
        addresses,
        password,
        new PoolLimits(60, Duration.ofSeconds(30)),
        new EngineLimits(1000, 0, 0));
  }

  static PgWireConfig config(
      List<ServerAddress> addresses,
      @Nullable Path password,
      PoolLimits pool,
      EngineLimits limits) {
    return new PgWireConfig(
        addresses,
        new WireSettings(
            System.getProperty(PROPERTY + "database", "kakehashi"),
            System.getProperty(PROPERTY + "user", PgWireServer.USER),
            password,
            WireSettings.Tls.DISABLE,
            null,
            "UTC",
            Duration.ofSeconds(5),
            Duration.ofSeconds(10),
            Duration.ZERO,
            "kakehashi test"),
        pool,
        limits,
        Boolean.getBoolean(PROPERTY + "nodeIsolation"),
        ENDPOINT);
  }

  @Override
  public Engine engine() {
    PgWireEngine open = engine;
    if (open == null) {
      throw new IllegalStateException("the engine is not open");
    }
    return open;
  }

  @Override
  public void shutDown() {
    if (engine != null) {
      engine.close();
      engine = null;
    }
  }

  @Override
  public boolean canKillStore() {
    return server != null;
  }

  @Override
  public void killStore() {
    if (server == null) {
      throw new UnsupportedOperationException("the servers are not ours");
    }
    server.crash();
  }

  @Override
  public void close() {
    shutDown();
    if (server != null) {
      server.close();
    }
  }
}
