package dev.kakehashi.pgwire;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kakehashi.tck.EngineConformance;
import dev.kakehashi.tck.drive.EngineUnderTest;

/// PostgreSQL behind the engine does what every engine has to do.
class PgWireConformanceTest extends EngineConformance {
  @Override
  protected EngineUnderTest create() {
    assumeTrue(
        PgWireServer.isAvailable() || System.getProperty("kakehashi.tck.pgwire.addresses") != null,
        "PostgreSQL is not installed");
    return new PgWireUnderTest();
  }
}
