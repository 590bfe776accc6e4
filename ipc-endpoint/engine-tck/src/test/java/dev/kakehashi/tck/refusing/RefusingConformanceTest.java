package dev.kakehashi.tck.refusing;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.tck.EngineConformance;
import dev.kakehashi.tck.cases.CapabilityRefusals;
import dev.kakehashi.tck.drive.EngineUnderTest;
import dev.kakehashi.tck.embedded.EmbeddedUnderTest;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The suite over an engine that has the least: READ COMMITTED, changes, definitions and a catalogue. It passes, because it refuses all
/// else.
class RefusingConformanceTest extends EngineConformance {
  private static final Capabilities LEAST =
      Capabilities.everything("refusing")
          .without(
              Capability.REPEATABLE_READ,
              Capability.SERIALIZABLE,
              Capability.READ_ONLY_TRANSACTIONS,
              Capability.LONG_TRANSACTIONS,
              Capability.SAFE_SNAPSHOTS,
              Capability.SAVEPOINTS,
              Capability.COMMANDS,
              Capability.SHARED_TRANSACTIONS,
              Capability.TWO_PHASE,
              Capability.UNDURABLE_READS,
              Capability.ROW_LOCKS,
              Capability.NOWAIT,
              Capability.SKIP_LOCKED,
              Capability.RETURNING,
              Capability.ON_CONFLICT,
              Capability.TRUNCATE,
              Capability.ROW_IDENTITY,
              Capability.DDL_IN_TRANSACTION,
              Capability.DEFERRABLE_CONSTRAINTS,
              Capability.STATISTICS,
              Capability.PARALLEL_SCAN,
              Capability.COPY_FILES,
              Capability.QUEUES,
              Capability.APPLICATIONS,
              Capability.ROLES,
              Capability.BACKUP,
              Capability.DEFINITIONS);

  @TempDir static Path directory;

  @Override
  protected EngineUnderTest create() {
    return new RefusingUnderTest(new EmbeddedUnderTest(directory));
  }

  @Test
  void shouldFindThatSomethingIsNotRefused() {
    assertTrue(capabilities().has(Capability.CHANGES));
    for (Capability present :
        new Capability[] {
          Capability.CHANGES, Capability.DDL, Capability.CATALOGUE, Capability.READ_COMMITTED
        }) {
      assertThrows(
          AssertionError.class, () -> new CapabilityRefusals(this).check(present), present.name());
    }
  }

  /// The embedded engine, which refuses.
  private static final class RefusingUnderTest implements EngineUnderTest {
    private final EmbeddedUnderTest embedded;
    private @Nullable Engine engine;

    RefusingUnderTest(EmbeddedUnderTest embedded) {
      this.embedded = embedded;
    }

    @Override
    public String name() {
      return "refusing";
    }

    @Override
    public void open() throws Exception {
      embedded.open();
      engine = new RefusingEngine(embedded.engine(), LEAST);
    }

    @Override
    public Engine engine() {
      return Objects.requireNonNull(engine, "the engine is not open");
    }

    @Override
    public void shutDown() {
      embedded.shutDown();
    }

    @Override
    public void close() {
      embedded.close();
    }
  }
}
