package dev.kakehashi.applications.watch;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Virtual threads whose carriers somebody chooses. The JDK has them for its own tests alone, so `java.lang` has to be open to this;
/// without, there are none.
public final class CarriedThreads {
  private static final Logger LOG = LoggerFactory.getLogger(CarriedThreads.class);
  private static final @Nullable MethodHandle BUILDER;
  private static final @Nullable Executor USUAL;

  static {
    MethodHandle builder = null;
    Executor usual = null;
    try {
      Constructor<?> made =
          Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
              .getDeclaredConstructor(Executor.class);
      made.setAccessible(true);
      Method scheduler =
          Class.forName("java.lang.VirtualThread").getDeclaredMethod("defaultScheduler");
      scheduler.setAccessible(true);
      usual = (Executor) scheduler.invoke(null);
      builder =
          MethodHandles.lookup()
              .unreflectConstructor(made)
              .asType(MethodType.methodType(Thread.Builder.OfVirtual.class, Executor.class));
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.debug("calls always have threads of the usual kind", e);
    }
    BUILDER = builder;
    USUAL = usual;
  }

  private CarriedThreads() {}

  public static boolean areThere() {
    return BUILDER != null;
  }

  /// Carries all other virtual threads.
  public static Executor usual() {
    return Objects.requireNonNull(USUAL);
  }

  /// @param carriers gets what the thread has to do, again and again
  public static Thread unstarted(String name, Executor carriers, Runnable body) {
    try {
      Thread.Builder.OfVirtual builder =
          (Thread.Builder.OfVirtual) Objects.requireNonNull(BUILDER).invokeExact(carriers);
      return builder.name(name).inheritInheritableThreadLocals(false).unstarted(body);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
