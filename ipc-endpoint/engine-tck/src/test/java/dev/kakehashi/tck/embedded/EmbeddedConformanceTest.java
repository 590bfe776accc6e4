package dev.kakehashi.tck.embedded;

import dev.kakehashi.tck.EngineConformance;
import dev.kakehashi.tck.drive.EngineUnderTest;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/// The embedded engine does what every engine has to do.
class EmbeddedConformanceTest extends EngineConformance {
  @TempDir static Path directory;

  @Override
  protected EngineUnderTest create() {
    return new EmbeddedUnderTest(directory);
  }
}
