package dev.kakehashi.applications.version;

import dev.kakehashi.application.Application;
import dev.kakehashi.applications.Refusals;
import dev.kakehashi.applications.define.DefinedMembers;
import dev.kakehashi.applications.define.DefinitionReader;
import dev.kakehashi.applications.jar.JarImage;
import dev.kakehashi.applications.jar.VersionModules;
import dev.kakehashi.applications.watch.CallWatch;
import dev.kakehashi.applications.watch.UserFailures;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Users' classes of a version that have been loaded, with what they have defined. A reference to it holds its class loader.
///
/// Code that runs when it is made and closed runs on a thread of its own, for ten seconds at most.
final class UserCode {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int MAX_JARS = 1_000;

  private final String name;
  private final Application application;
  private final DefinedMembers members;

  private UserCode(String name, Application application, DefinedMembers members) {
    this.name = name;
    this.application = application;
    this.members = members;
  }

  /// @param name for displays
  /// @throws EngineException see [dev.kakehashi.engine.api.application.ApplicationSystem#inspect]
  static UserCode load(String name, List<JarContent> jars, CallWatch watch) {
    if (jars.isEmpty() || jars.size() > MAX_JARS) {
      throw Refusals.of("an application has 1 to %d jars, not %d", MAX_JARS, jars.size());
    }
    List<JarImage> images = jars.stream().map(jar -> JarImage.of(jar.name(), jar.bytes())).toList();
    Class<? extends Application> type = VersionModules.load(name, images);
    return run(
        "application class " + type.getName(),
        type.getClassLoader(),
        watch,
        () -> {
          Application application = type.getConstructor().newInstance();
          DefinitionReader reader = new DefinitionReader();
          application.define(reader);
          return new UserCode(name, application, reader.members());
        });
  }

  DefinedMembers members() {
    return members;
  }

  ClassLoader loader() {
    return application.getClass().getClassLoader();
  }

  /// Lets the application end what it has started, and stops threads that it leaves behind. Blocks; never fails.
  void close(CallWatch watch, UserFailures failures) {
    try {
      run(
          "close of application class " + application.getClass().getName(),
          loader(),
          watch,
          () -> {
            application.close();
            return Boolean.TRUE;
          });
    } catch (EngineException e) {
      failures.report("close", 0, e);
    }
    LeftThreads.stop(loader(), watch, failures);
  }

  private static <T> T run(String place, ClassLoader loader, CallWatch watch, Callable<T> body) {
    AtomicReference<@Nullable T> result = new AtomicReference<>();
    AtomicReference<@Nullable EngineException> failure = new AtomicReference<>();
    CountDownLatch over = new CountDownLatch(1);
    Thread thread =
        Thread.ofVirtual()
            .name(place)
            .inheritInheritableThreadLocals(false)
            .unstarted(() -> {
              Thread.currentThread().setContextClassLoader(loader);
              try {
                result.set(body.call());
              } catch (Throwable t) {
                failure.set(refusal(place, t));
              } finally {
                over.countDown();
                watch.settle(Thread.currentThread());
              }
            });
    thread.start();
    try {
      if (!over.await(LIMIT.toNanos(), TimeUnit.NANOSECONDS)) {
        watch.stop(thread, () -> over.getCount() > 0);
        throw Refusals.of("%s takes longer than %d s", place, LIMIT.toSeconds());
      }
    } catch (InterruptedException e) {
      watch.stop(thread, () -> over.getCount() > 0);
      Thread.currentThread().interrupt();
      throw new EngineException(ErrorCode.QUERY_CANCELED, place + " was interrupted", e);
    }
    EngineException why = failure.get();
    if (why != null) {
      throw why;
    }
    return Objects.requireNonNull(result.get());
  }

  /// Error for an exception of users' code while it is deployed, without the code's objects.
  private static EngineException refusal(String place, Throwable thrown) {
    return switch (thrown) {
      case EngineException ours -> ours;
      case NoSuchMethodException e ->
          Refusals.of("%s has no public constructor without parameters", place);
      case IllegalAccessException e ->
          Refusals.of("%s has no public constructor without parameters", place);
      case InstantiationException e -> Refusals.of("%s is abstract", place);
      case java.lang.reflect.InvocationTargetException e when e.getCause() != null ->
          refusal(place, e.getCause());
      case LinkageError e -> Refusals.of("%s cannot be linked: %s", place, trace(e));
      case Throwable other -> Refusals.of("%s has failed: %s", place, trace(other));
    };
  }

  /// Class, message, and the first frame.
  private static String trace(Throwable thrown) {
    StackTraceElement[] frames = thrown.getStackTrace();
    String text =
        thrown instanceof dev.kakehashi.application.CodeGuard.Stopped
            ? "it was stopped"
            : String.format(
                Locale.ROOT, "%s: %s", thrown.getClass().getName(), UserFailures.text(thrown));
    return frames.length == 0 ? text : text + ", at " + frames[0];
  }

  @Override
  public String toString() {
    return name;
  }
}
