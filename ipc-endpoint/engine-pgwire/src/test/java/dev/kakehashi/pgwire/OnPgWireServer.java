package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/// Tests of a class that share a server of their own.
@SuppressWarnings("NullAway.Init") // set before the tests
abstract class OnPgWireServer {
  static PgWireServer server;

  @BeforeAll
  static void startServer() {
    assumeTrue(PgWireServer.isAvailable(), "PostgreSQL is not installed");
    server = PgWireServer.start();
  }

  @AfterAll
  static void stopServer() {
    PgWireServer ended = server;
    if (ended != null) {
      ended.close();
    }
  }
}
