package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kakehashi.tck.transfers.TransferTrial;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Money is moved while the server is killed and comes back. A failover takes as long as the death of a leader needs to be noticed, 20 s
/// and more: that trial is `.make/cluster-transfers.sh`, a part of `make soak`.
class KilledServerTrialTest {
  private static final int KILLS = Integer.getInteger("kakehashi.kills", 1);
  private static final int MILLIS = Integer.getInteger("kakehashi.tck.millis", 1_000);
  private static final String PROPERTY = "kakehashi.tck.pgwire.";

  @TempDir Path directory;
  private PgWireServer server;

  @BeforeEach
  void start() throws IOException {
    assumeTrue(PgWireServer.isAvailable(), "PostgreSQL is not installed");
    server = PgWireServer.start();
    System.setProperty(PROPERTY + "addresses", "127.0.0.1:" + server.port());
    System.setProperty(PROPERTY + "password", server.passwordFile().toString());
  }

  @AfterEach
  void stop() {
    System.clearProperty(PROPERTY + "addresses");
    System.clearProperty(PROPERTY + "password");
    if (server != null) {
      server.close();
    }
  }

  @Test
  void shouldLoseNothingWhenTheServerIsKilled() throws Exception {
    Path restarted = directory.resolve("restarted");
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    int code;
    try (PrintStream out = new PrintStream(written, true, StandardCharsets.UTF_8)) {
      code =
          TransferTrial.run(
              out,
              "--engine=" + PgWireUnderTest.class.getName(),
              "--ledger=" + directory.resolve("ledger"),
              "--accounts=100",
              "--kills=" + KILLS,
              "--millis=" + MILLIS,
              "--kill=" + server.crashCommand(),
              "--restart=echo $1 >> " + restarted);
    }
    String table = written.toString(StandardCharsets.UTF_8);
    System.out.println(table);
    assertEquals(0, code, table);
    assertTrue(table.contains(", 0 lost, 0 wrong accounts, sum right"), table);
    assertTrue(table.contains("kill 1: every account writable after "), table);
    assertTrue(table.contains("rate without what was killed: "), table);
    List<String> kills = Files.readAllLines(restarted);
    assertEquals(KILLS, kills.size());
    assertEquals("1", kills.getFirst());
  }
}
