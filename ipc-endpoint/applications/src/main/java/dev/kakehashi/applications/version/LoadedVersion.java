package dev.kakehashi.applications.version;

import dev.kakehashi.applications.call.ProcedureCalls;
import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationSystem.CallState;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A version of the catalogue, whether its code is loaded or not. Thread-safe.
///
/// ```
///  code   null -> code          the first who needs it; others wait
///         code -> null          the drain of a retired version, when nobody uses it
/// ```
///
/// A statement that has read the catalogue before a change may still come after the version was retired: the code serves it, and is loaded
/// again if it has been let go. So no call is lost.
public final class LoadedVersion implements LoadedApplication {
  private static final Logger LOG = LoggerFactory.getLogger(LoadedVersion.class);

  /// How long the code of a retired version stays after its last use, because late ones come in a row.
  private static final long LINGER_MILLIS = 100;

  /// For code to end when the server does.
  private static final long END_MILLIS = 1_000;

  private final VersionOwner owner;
  private final ApplicationLimits limits;
  private final ApplicationDefinition definition;
  private @Nullable VersionCode code; // guarded by this
  private int users; // guarded by this
  private long lastUseNanos = System.nanoTime(); // guarded by this
  private boolean isRetired; // guarded by this
  private boolean isDraining; // guarded by this
  private boolean isAwaited; // guarded by this
  private final Object loading = new Object();

  public LoadedVersion(
      VersionOwner owner, ApplicationLimits limits, ApplicationDefinition definition) {
    this.owner = owner;
    this.limits = limits;
    this.definition = definition;
  }

  @Override
  public ApplicationContents contents() {
    return definition.version().contents();
  }

  public ApplicationDefinition definition() {
    return definition;
  }

  /// Loads the code now, if it is not.
  public void load() {
    acquire();
    release();
  }

  private VersionCode acquire() {
    synchronized (this) {
      users++;
      if (code != null) {
        return code;
      }
    }
    try {
      synchronized (loading) {
        synchronized (this) {
          if (code != null) {
            return code;
          }
        }
        VersionCode loaded = VersionCode.load(owner, limits, definition, this::changed);
        synchronized (this) {
          code = loaded;
        }
        return loaded;
      }
    } catch (RuntimeException | Error e) {
      release();
      throw e;
    }
  }

  private void release() {
    boolean drains;
    synchronized (this) {
      users--;
      lastUseNanos = System.nanoTime();
      drains = isRetired && !isDraining && users == 0 && code != null;
      isDraining |= drains;
      changed();
    }
    if (drains) {
      startDrain(limits.options().timeLimitMillis());
    }
  }

  /// Something of it has ended.
  private synchronized void changed() {
    if (isAwaited) {
      notifyAll();
    }
  }

  // ---- functions ----

  @Override
  public Use use() {
    VersionCode its = acquire();
    try {
      return its.use(this::release);
    } catch (RuntimeException | Error e) {
      release();
      throw e;
    }
  }

  // ---- calls ----

  @Override
  public Running procedure(int index, Invocation invocation, Listener listener) {
    VersionCode its = acquire();
    try {
      return start(its, its.procedure(index), invocation, listener);
    } finally {
      release();
    }
  }

  @Override
  public Running route(int index, Invocation invocation, Listener listener) {
    VersionCode its = acquire();
    try {
      return start(its, its.route(index), invocation, listener);
    } finally {
      release();
    }
  }

  private static Running start(
      VersionCode its, VersionCode.Called called, Invocation invocation, Listener listener) {
    return ProcedureCalls.start(
        its.environment(), called.member(), called.label(), called.counts(), invocation, listener);
  }

  /// Whether a call may begin on a thread that must not wait: the code is loaded, and calls have been short so far.
  public boolean isShort(int index, boolean isRoute) {
    VersionCode its;
    synchronized (this) {
      its = code;
    }
    return its != null
        && (isRoute ? its.route(index) : its.procedure(index)).counts().areShort()
        && its.environment().here().get().mayRun();
  }

  /// Counts of all members that have been called.
  public List<CallState> calls() {
    VersionCode its;
    synchronized (this) {
      its = code;
    }
    return its == null ? List.of() : its.calls();
  }

  // ---- life ----

  /// Begins handlers and processes, if the version has any. Blocks.
  public void activate() {
    if (definition.version().contents().handlers().isEmpty()
        && definition.version().contents().processes().isEmpty()) {
      return;
    }
    VersionCode its = acquire();
    try {
      synchronized (this) {
        if (isRetired) {
          return;
        }
        its.begin();
      }
    } finally {
      release();
    }
  }

  @Override
  public void retire(long drainMillis) {
    synchronized (this) {
      isRetired = true;
      if (isDraining || code == null) {
        return;
      }
      isDraining = true;
    }
    startDrain(drainMillis);
  }

  /// Ends all that runs of it, at once. Blocks until it has ended, or does not.
  public void end() {
    VersionCode its;
    synchronized (this) {
      isRetired = true;
      its = code;
    }
    if (its == null) {
      return;
    }
    its.end();
    its.kill(new EngineException(ErrorCode.SHUTTING_DOWN, "the server shuts down"));
    try {
      if (!awaitIdle(its, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(END_MILLIS))) {
        LOG.warn("code of application {} goes on while the server ends", definition.name());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    synchronized (this) {
      if (isDraining || code == null) {
        return; // the drain closes it
      }
      code = null;
    }
    its.close();
  }

  public synchronized boolean isRetired() {
    return isRetired;
  }

  /// Whether nobody has used it for a time.
  public synchronized boolean isUnusedFor(long nanos) {
    return users == 0
        && (code == null || code.isIdle())
        && System.nanoTime() - lastUseNanos > nanos;
  }

  /// Whether another definition has the same names and owner.
  public boolean isOf(ApplicationDefinition other) {
    return definition.schema().equals(other.schema())
        && definition.name().equals(other.name())
        && definition.owner().equals(other.owner());
  }

  /// Whether no code of it is loaded.
  public synchronized boolean isUnloaded() {
    return code == null;
  }

  private void startDrain(long drainMillis) {
    Thread.ofVirtual()
        .name("kakehashi-application-drain")
        .inheritInheritableThreadLocals(false)
        .start(() -> drain(drainMillis));
  }

  private void drain(long drainMillis) {
    try {
      VersionCode its;
      synchronized (this) {
        its = Objects.requireNonNull(code);
      }
      its.end();
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(drainMillis);
      for (boolean isLetGo = false; !isLetGo; ) {
        boolean isIdle = awaitIdle(its, deadline);
        if (!isIdle) {
          LOG.warn(
              "application {} version {} is ended although it is used",
              definition.name(),
              definition.version().number());
          its.kill(replaced());
          awaitIdle(its, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LINGER_MILLIS));
        }
        synchronized (this) {
          isLetGo = !isIdle || (users == 0 && its.isIdle());
          if (isLetGo) {
            code = null;
            isDraining = false;
          }
        }
      }
      its.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      owner.drained(this);
    }
  }

  private EngineException replaced() {
    return new EngineException(
        ErrorCode.QUERY_CANCELED,
        "version "
            + definition.version().number()
            + " of application "
            + definition.name()
            + " has been replaced, and its drain time is over");
  }

  /// Waits until nobody uses the code, and nobody has for a while.
  ///
  /// @param deadline of the monotonic clock
  private boolean awaitIdle(VersionCode its, long deadline) throws InterruptedException {
    long idleSince = 0;
    for (; ; ) {
      synchronized (this) {
        long now = System.nanoTime();
        boolean isIdle = users == 0 && its.isIdle();
        if (!isIdle) {
          idleSince = 0;
        } else if (idleSince == 0) {
          idleSince = now;
        } else if (now - idleSince >= TimeUnit.MILLISECONDS.toNanos(LINGER_MILLIS)) {
          return true;
        }
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - now);
        if (left <= 0) {
          return isIdle;
        }
        isAwaited = true;
        wait(isIdle ? Math.min(left, LINGER_MILLIS) : left);
      }
    }
  }
}
