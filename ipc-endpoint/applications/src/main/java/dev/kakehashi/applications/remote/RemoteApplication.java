package dev.kakehashi.applications.remote;

import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.LinkLane;
import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationSystem.CallState;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A version whose code runs in a process of its own. Thread-safe.
///
/// A process that dies begins again at once, and after [#CALM_DEATHS] deaths within [#CALM_NANOS] no sooner than [#PAUSE_NANOS] later.
/// Calls fail with it (08006); functions that are not volatile are called once more.
final class RemoteApplication implements LoadedApplication {
  private static final int CALM_DEATHS = 5;
  private static final long CALM_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long END_MILLIS = 10_000;

  /// For a JVM to start in, on a machine that is busy. A call ends earlier by its own limit, and when the process cannot begin.
  private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(60);

  private static final Logger LOG = LoggerFactory.getLogger(RemoteApplication.class);

  private final ProcessSettings settings;
  private final ApplicationDefinition definition;
  private final List<JarContent> jars;
  private final ApplicationHost host;
  private final ProcessReports reports;
  private final RemoteCalls calls;

  // Guarded by this.
  private @Nullable OwnProcess current;
  private @Nullable EngineException failure;
  private int uses;
  private boolean retired;
  private boolean ended;
  private @Nullable Thread restart;
  private int deaths;
  private long firstDeath;

  private RemoteApplication(
      ProcessSettings settings,
      ApplicationDefinition definition,
      List<JarContent> jars,
      ApplicationHost host,
      ProcessReports reports) {
    this.settings = settings;
    this.definition = definition;
    this.jars = List.copyOf(jars);
    this.host = host;
    this.reports = reports;
    this.calls = new RemoteCalls(this, definition);
  }

  /// Begins the version's process; blocks until its code can be called.
  ///
  /// @throws EngineException what its definition says; CANNOT_CONNECT
  static RemoteApplication open(
      ProcessSettings settings,
      ApplicationDefinition definition,
      List<JarContent> jars,
      ApplicationHost host,
      ProcessReports reports) {
    RemoteApplication application =
        new RemoteApplication(settings, definition, jars, host, reports);
    application.begin();
    return application;
  }

  private void begin() {
    OwnProcess.Started started =
        OwnProcess.start(settings, definition, jars, false, host, reports, this::died);
    OwnProcess process = started.process();
    if (!started.contents().equals(definition.version().contents())) {
      process.kill("its contents are not those that were deployed");
      throw new EngineException(
              ErrorCode.NOT_IN_PREREQUISITE_STATE,
              "application \"" + name() + "\" defines something else than when it was deployed")
          .withHint("What define() offers must not depend on anything but its code.");
    }
    boolean late;
    synchronized (this) {
      late = ended;
      if (!late) {
        current = process;
        failure = null;
      }
      notifyAll();
    }
    if (late) {
      process.stop();
    } else if (process.isDead()) {
      died();
    }
  }

  String name() {
    return definition.schema() + "." + definition.name();
  }

  private void died() {
    synchronized (this) {
      OwnProcess process = current;
      if (ended || process == null || !process.isDead()) {
        return;
      }
      current = null;
    }
    beginAgain();
  }

  private void beginAgain() {
    long now = System.nanoTime();
    Thread next;
    synchronized (this) {
      if (ended) {
        return;
      }
      if (deaths == 0 || now - firstDeath > CALM_NANOS) {
        deaths = 0;
        firstDeath = now;
      }
      long pause = ++deaths > CALM_DEATHS ? PAUSE_NANOS : 0;
      next =
          Thread.ofPlatform()
              .name("restart of " + name())
              .daemon()
              .unstarted(() -> beginAfter(pause));
      restart = next;
    }
    next.start();
  }

  private void beginAfter(long pause) {
    try {
      TimeUnit.NANOSECONDS.sleep(pause);
      synchronized (this) {
        if (ended) {
          return;
        }
      }
      begin();
    } catch (EngineException e) {
      LOG.warn("the process of application {} could not begin again", name(), e);
      synchronized (this) {
        failure = e;
        notifyAll();
      }
      beginAgain();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// The process; waits some seconds for one that begins again.
  OwnProcess process() {
    synchronized (this) {
      long end = System.nanoTime() + WAIT_NANOS;
      while ((current == null || current.isEnding()) && failure == null && !ended) {
        long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        if (left <= 0) {
          break;
        }
        try {
          wait(left);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new EngineException(
              ErrorCode.QUERY_CANCELED, "canceling statement due to user request");
        }
      }
      OwnProcess process = current;
      if (process != null) {
        return process;
      }
      EngineException failed = failure;
      throw failed != null
          ? failed
          : new EngineException(
              ErrorCode.CANNOT_CONNECT, "application \"" + name() + "\" has no process");
    }
  }

  synchronized @Nullable OwnProcess processNow() {
    return current;
  }

  synchronized boolean isEnded() {
    return ended;
  }

  List<Long> pid() {
    OwnProcess process = processNow();
    return process == null ? List.of() : List.of(process.pid());
  }

  ApplicationDefinition definition() {
    return definition;
  }

  @Override
  public ApplicationContents contents() {
    return definition.version().contents();
  }

  @Override
  public synchronized @Nullable Use use() {
    if (retired) {
      return null;
    }
    uses++;
    return new RemoteUse(this);
  }

  /// A call or use is over.
  void leave() {
    boolean last;
    synchronized (this) {
      uses--;
      last = retired && uses == 0;
    }
    if (last) {
      endInBackground();
    }
  }

  /// @return false: the version has been retired
  synchronized boolean enter() {
    if (retired) {
      return false;
    }
    uses++;
    return true;
  }

  @Override
  public Running procedure(int index, Invocation invocation, Listener listener) {
    return calls.begin((byte) 0, index, invocation, listener);
  }

  @Override
  public Running route(int index, Invocation invocation, Listener listener) {
    return calls.begin((byte) 1, index, invocation, listener);
  }

  @Override
  public void retire(long drainMillis) {
    boolean now;
    synchronized (this) {
      if (retired) {
        return;
      }
      retired = true;
      now = uses == 0;
    }
    if (now) {
      endInBackground();
    } else {
      Thread.ofPlatform()
          .name("drain of " + name())
          .daemon()
          .start(() -> {
            try {
              awaitEnd(drainMillis);
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            end();
          });
    }
  }

  private synchronized void awaitEnd(long millis) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (!ended) {
      long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
      if (left <= 0) {
        return;
      }
      wait(left);
    }
  }

  private void endInBackground() {
    Thread.ofPlatform().name("end of " + name()).daemon().start(this::end);
  }

  /// Ends the process, also one that is just beginning; blocks some seconds at most.
  void end() {
    OwnProcess process;
    Thread beginning;
    synchronized (this) {
      retired = true;
      if (ended) {
        return;
      }
      ended = true;
      process = current;
      beginning = restart;
      current = null;
      notifyAll();
    }
    if (process != null) {
      process.stop();
    }
    if (beginning != null) {
      beginning.interrupt();
      try {
        beginning.join(END_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /// Counts of calls as the process has them; none while there is no process.
  List<CallState> counts() {
    OwnProcess process = processNow();
    if (process == null) {
      return List.of();
    }
    int version = definition.version().number();
    return process.counts(reader ->
        reader.getList(from ->
            new CallState(
                name(),
                version,
                from.getText(),
                from.getInt(),
                from.getLong(),
                from.getLong(),
                from.getLong())));
  }

  /// A lane with the process that it belongs to.
  record Attached(OwnProcess process, LinkLane lane) implements AutoCloseable {
    @Override
    public void close() {
      process.release(lane);
    }
  }

  /// A lane for a call; of the next process, if one is just ending.
  Attached attach() {
    while (true) {
      OwnProcess process = process();
      try {
        return new Attached(process, process.acquire());
      } catch (EngineException e) {
        if (e.code() != ErrorCode.CONNECTION_FAILURE) {
          throw e;
        }
        if (!process.isEnding()) {
          throw e;
        }
      }
    }
  }

  /// Waits for a reply of a function, which must come within its time limit.
  ///
  /// @return its kind, which has been read
  byte reply(Attached attached, MessageReader reader, String function) {
    try {
      attached
          .lane()
          .receive(
              reader,
              OwnProcess.MOST_MESSAGE,
              TimeUnit.MILLISECONDS.toNanos(definition.options().functionTimeMillis()));
    } catch (LinkLane.LateException e) {
      throw tooLong(attached, function);
    } catch (EngineException e) {
      attached.process().kill(String.valueOf(e.getMessage()));
      throw e;
    }
    byte kind = reader.get();
    if (kind == LinkKind.FAILED) {
      throw reader.getFailure();
    }
    return kind;
  }

  EngineException tooLong(Attached attached, String function) {
    attached.process().kill("function \"" + function + "\" took too long");
    return new EngineException(
            ErrorCode.QUERY_CANCELED,
            "function \""
                + function
                + "\" took more than "
                + definition.options().functionTimeMillis()
                + " ms for one batch of rows")
        .withDetail("Its process has been ended, and begins again.")
        .withHint("The option function_time_limit of the application is the limit.");
  }
}
