package dev.kakehashi.applications;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.applications.host.NativeApplications;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.application.DirectAccess;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.TaskScheduler;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Applications with a scheduler and an engine in memory.
final class PlatformRig implements AutoCloseable {
  private static final AtomicLong IDS = new AtomicLong(100);

  final MemoryHost host = new MemoryHost();
  final TaskScheduler scheduler = TaskScheduler.start(SchedulerConfig.builder().workers(2).build());
  final NativeApplications system = new NativeApplications(scheduler, null);

  PlatformRig() {
    system.start(host, List.of());
  }

  /// A version as a deployment makes it; not committed.
  ApplicationDefinition version(
      long applicationId, int number, ApplicationOptions options, JarContent... jars) {
    List<ApplicationDefinition.Jar> stored = new ArrayList<>();
    for (JarContent jar : jars) {
      String sum = Integer.toHexString(java.util.Arrays.hashCode(jar.bytes()));
      host.jars.put(sum, jar.bytes());
      stored.add(new ApplicationDefinition.Jar(jar.name(), sum, jar.bytes().length));
    }
    return new ApplicationDefinition(
        applicationId,
        "public",
        "shop",
        "owner",
        new ApplicationDefinition.VersionDefinition(
            IDS.incrementAndGet(),
            number,
            CodeIsolation.NONE,
            stored,
            system.inspect("shop", List.of(jars), CodeIsolation.NONE)),
        options);
  }

  ApplicationDefinition deploy(JarContent... jars) {
    return deploy(ApplicationOptions.DEFAULT, jars);
  }

  ApplicationDefinition deploy(ApplicationOptions options, JarContent... jars) {
    ApplicationDefinition definition = version(1, 1, options, jars);
    system.define(List.of(definition));
    return definition;
  }

  /// Rows and end of a call.
  static final class Outcome implements LoadedApplication.Listener {
    final List<@Nullable Object[]> rows = new ArrayList<>();
    volatile @Nullable EngineException failure;
    private final CountDownLatch over = new CountDownLatch(1);

    @Override
    public synchronized void row(@Nullable Object[] values) {
      rows.add(values);
    }

    @Override
    public void done() {
      end();
    }

    @Override
    public void failed(EngineException reason) {
      failure = reason;
      end();
    }

    private void end() {
      assertTrue(over.getCount() == 1, "told twice");
      over.countDown();
    }

    Outcome await() {
      try {
        assertTrue(over.await(20, TimeUnit.SECONDS), "the call does not end");
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      return this;
    }

    boolean isOver() {
      return over.getCount() == 0;
    }

    List<@Nullable Object[]> succeeded() {
      await();
      if (failure != null) {
        throw new AssertionError(failure.sqlstate() + " " + failure.getMessage(), failure);
      }
      return rows;
    }

    EngineException failed() {
      await();
      if (failure == null) {
        throw new AssertionError("succeeded");
      }
      return failure;
    }
  }

  Outcome call(LoadedApplication application, String name, @Nullable Object... arguments) {
    return call(application, name, null, arguments);
  }

  Outcome call(
      LoadedApplication application,
      String name,
      @Nullable DirectAccess access,
      @Nullable Object... arguments) {
    Outcome outcome = new Outcome();
    start(application, name, access, outcome, arguments);
    return outcome;
  }

  LoadedApplication.Running start(
      LoadedApplication application,
      String name,
      @Nullable DirectAccess access,
      LoadedApplication.Listener listener,
      @Nullable Object... arguments) {
    int index =
        application.contents().procedures().stream().map(p -> p.name()).toList().indexOf(name);
    return application.procedure(
        index, new LoadedApplication.Invocation(arguments, "caller", access, 0), listener);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    system.close();
    scheduler.close();
  }
}
