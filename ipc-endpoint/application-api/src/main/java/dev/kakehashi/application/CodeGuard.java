package dev.kakehashi.application;

import java.lang.invoke.CallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Stops code of applications that does not end; for the platform, which puts [#link] into loops and methods of what it loads.
///
/// While nothing is to be stopped, a place that asks is compiled to nothing. When something is, all of them are switched to a look at the
/// thread, until it has ended.
public final class CodeGuard {
  private static final MethodType NOTHING = MethodType.methodType(void.class);
  private static final Set<Thread> STOPPED = ConcurrentHashMap.newKeySet();
  private static final MethodHandle GO_ON = MethodHandles.empty(NOTHING);
  private static final MethodHandle LOOK;
  private static final MutableCallSite SITE = new MutableCallSite(GO_ON);

  static {
    try {
      LOOK = MethodHandles.lookup().findStatic(CodeGuard.class, "look", NOTHING);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private CodeGuard() {}

  /// Error that a stopped thread throws; users' code should not catch it.
  public static final class Stopped extends Error {
    private static final long serialVersionUID = 1;

    private Stopped() {
      super("the platform has stopped this call", null, false, true);
    }
  }

  /// Bootstrap method of the places that ask.
  public static CallSite link(MethodHandles.Lookup caller, String name, MethodType type) {
    return SITE;
  }

  /// Ends the code of the thread soon, if it is code of an application.
  public static void stop(Thread thread) {
    synchronized (SITE) {
      if (STOPPED.add(thread)) {
        switchTo(LOOK);
      }
    }
  }

  /// The thread may go on.
  public static void resume(Thread thread) {
    synchronized (SITE) {
      if (STOPPED.remove(thread) && STOPPED.isEmpty()) {
        switchTo(GO_ON);
      }
    }
  }

  /// Replacement of `System.exit` in applications.
  @SuppressWarnings("DoNotCallSuggester") // code that was not written for it calls it
  public static void exit(int status) {
    throw new IllegalStateException(
        "an application cannot end the process that it runs in, exit(" + status + ")");
  }

  /// As [#exit(int)], of the runtime.
  public static void exit(Runtime runtime, int status) {
    exit(status);
  }

  /// Checks a method before an application calls it by reflection, or gets a handle of it.
  ///
  /// @throws IllegalStateException it would end the process
  public static void check(Method method) {
    check(method.getDeclaringClass(), method.getName());
  }

  /// As [MethodHandles.Lookup#unreflect].
  public static MethodHandle unreflect(MethodHandles.Lookup lookup, Method method)
      throws IllegalAccessException {
    check(method);
    return lookup.unreflect(method);
  }

  /// As [MethodHandles.Lookup#findStatic].
  public static MethodHandle findStatic(
      MethodHandles.Lookup lookup, Class<?> owner, String name, MethodType type)
      throws NoSuchMethodException, IllegalAccessException {
    check(owner, name);
    return lookup.findStatic(owner, name, type);
  }

  /// As [MethodHandles.Lookup#findVirtual].
  public static MethodHandle findVirtual(
      MethodHandles.Lookup lookup, Class<?> owner, String name, MethodType type)
      throws NoSuchMethodException, IllegalAccessException {
    check(owner, name);
    return lookup.findVirtual(owner, name, type);
  }

  /// As [MethodHandles.Lookup#bind].
  public static MethodHandle bind(
      MethodHandles.Lookup lookup, Object receiver, String name, MethodType type)
      throws NoSuchMethodException, IllegalAccessException {
    check(receiver.getClass(), name);
    return lookup.bind(receiver, name, type);
  }

  private static void check(Class<?> owner, String name) {
    boolean ends =
        (owner.equals(System.class) && name.equals("exit"))
            || (owner.equals(Runtime.class) && (name.equals("exit") || name.equals("halt")));
    if (ends) {
      throw new IllegalStateException(
          "an application cannot end the process that it runs in, " + name + " by reflection");
    }
  }

  private static void switchTo(MethodHandle target) {
    SITE.setTarget(target);
    MutableCallSite.syncAll(new MutableCallSite[] {SITE});
  }

  @SuppressWarnings("unused") // through its handle
  private static void look() {
    if (STOPPED.contains(Thread.currentThread())) {
      throw new Stopped();
    }
  }
}
