package dev.kakehashi.application;

import java.lang.invoke.CallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Stops code of applications that does not end; for the platform, which puts [#link] into loops and methods of what it loads.
///
/// While nothing is to be stopped, a place that asks is compiled to nothing. When something is, all of them are switched to a look at the thread, until it has ended.
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

  /// What a stopped thread throws; nothing of users' code should catch it.
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

  /// What the thread runs ends soon, if it is code of an application.
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

  /// What `System.exit` of an application becomes.
  @SuppressWarnings("DoNotCallSuggester") // code that was not written for it calls it
  public static void exit(int status) {
    throw new IllegalStateException(
        "an application cannot end the process that it runs in, exit(" + status + ")");
  }

  /// As [#exit(int)], of the runtime.
  public static void exit(Runtime runtime, int status) {
    exit(status);
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
