package dev.kakehashi.tck.embedded;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.embedded.EmbeddedEngine;
import dev.kakehashi.engine.embedded.EngineConfig;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.tck.drive.EngineUnderTest;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// The embedded engine in a directory.
public final class EmbeddedUnderTest implements EngineUnderTest {
  private static final long MEMORY_BYTES = 512L << 20;

  private final Path directory;
  private @Nullable TaskScheduler scheduler;
  private @Nullable Engine engine;

  /// In the directory that `-Dkakehashi.tck.directory` names, for the transfer test.
  public EmbeddedUnderTest() {
    this(Path.of(System.getProperty("kakehashi.tck.directory", "target/tck-store")));
  }

  /// In a directory that stays its maker's.
  public EmbeddedUnderTest(Path directory) {
    this.directory = directory;
  }

  @Override
  public String name() {
    return "embedded";
  }

  @Override
  public void open() throws Exception {
    Files.createDirectories(directory);
    TaskScheduler started = TaskScheduler.start(SchedulerConfig.builder().workers(2).build());
    try {
      engine =
          EmbeddedEngine.open(
              new EngineConfig(
                  new StoreConfig(directory, MEMORY_BYTES), 128L << 20, 512L << 20, 1000, 1000, 0),
              started);
      scheduler = started;
    } finally {
      if (scheduler != started) {
        started.close();
      }
    }
  }

  @Override
  public Engine engine() {
    Engine open = engine;
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
    if (scheduler != null) {
      scheduler.close();
      scheduler = null;
    }
  }

  /// The directory stays its maker's.
  @Override
  public void close() {
    shutDown();
  }
}
