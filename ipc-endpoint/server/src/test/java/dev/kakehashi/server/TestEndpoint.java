package dev.kakehashi.server;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Session;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.scheduler.TaskScheduler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/// A running endpoint with the fixed engine, in directories of its own.
final class TestEndpoint implements AutoCloseable {
  private final Path root;
  private final FixedEngine engine = new FixedEngine();
  private final EndpointServer server;

  private TestEndpoint(Path root, Settings settings) {
    this.root = root;
    this.server =
        EndpointServer.start(
            settings,
            new EngineFactory() {
              @Override
              public String name() {
                return "fixed";
              }

              @Override
              public Engine open(Settings ignored, TaskScheduler scheduler) {
                return engine;
              }
            });
  }

  /// @param settings pairs of key and value
  static TestEndpoint start(String... settings) throws IOException {
    Path root = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    Settings all =
        Settings.defaults()
            .set("data_directory", root.resolve("data").toString())
            .set("runtime_directory", root.resolve("run").toString());
    for (int i = 0; i < settings.length; i += 2) {
      all.set(settings[i], settings[i + 1]);
    }
    return new TestEndpoint(root, all);
  }

  Path runtimeDirectory() {
    return root.resolve("run");
  }

  Path dataDirectory() {
    return root.resolve("data");
  }

  EndpointServer server() {
    return server;
  }

  FixedEngine engine() {
    return engine;
  }

  Session attach() {
    return Session.attach(AttachOptions.of(runtimeDirectory()));
  }

  /// Waits for something that the endpoint does; fails after 60 s. It is looked for after each turn of the poller, which is
  /// where sessions end and memory is given back.
  void await(String what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("timed out: " + what);
      }
      CountDownLatch turn = new CountDownLatch(1);
      server.transport().execute(turn::countDown);
      if (!turn.await(60, TimeUnit.SECONDS)) {
        throw new AssertionError("the poller hangs, timed out: " + what);
      }
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    Directories.delete(root);
  }
}
