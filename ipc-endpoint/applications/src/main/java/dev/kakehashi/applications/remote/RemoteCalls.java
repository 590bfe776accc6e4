package dev.kakehashi.applications.remote;

import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.LinkLane;
import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.applications.link.MessageWriter;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.LoadedApplication.Invocation;
import dev.kakehashi.engine.api.application.LoadedApplication.Listener;
import dev.kakehashi.engine.api.application.LoadedApplication.Running;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Calls of procedures and routes of a process: at most so many at a time, each with a thread here that does what the call asks of the
/// engine. Thread-safe.
final class RemoteCalls {
  /// After the time limit, or a cancel, the process has so long to say that the call has ended.
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(3);

  /// A value in a message takes at most so many times its bytes; the process itself counts exactly.
  private static final long BYTES_OF_FORM = 9;

  private static final int MOST_CALLS = OwnProcess.FIRST_OF_PROCESS / 2;
  private static final long IDLE_SECONDS = 10;
  private static final AtomicLong NUMBERS = new AtomicLong();
  private static final Logger LOG = LoggerFactory.getLogger(RemoteCalls.class);

  private final RemoteApplication application;
  private final ApplicationOptions options;

  // Guarded by this.
  private final ArrayDeque<Call> waiting = new ArrayDeque<>();
  private int threads;
  private int idle;

  /// Calls that wait or run.
  private int active;

  RemoteCalls(RemoteApplication application, ApplicationDefinition definition) {
    this.application = application;
    this.options = definition.options();
  }

  /// @param what 0: a procedure; 1: a route
  Running begin(byte what, int index, Invocation invocation, Listener listener) {
    if (!application.enter()) {
      throw new EngineException(
          ErrorCode.NOT_IN_PREREQUISITE_STATE,
          "this version of application \"" + application.name() + "\" is not used any more");
    }
    Call call = new Call(what, index, invocation, listener);
    boolean refused;
    synchronized (this) {
      int most = Math.min(options.maxCalls(), MOST_CALLS);
      refused = active >= most + options.maxWaiting();
      if (!refused) {
        active++;
        waiting.add(call);
        if (idle >= waiting.size()) {
          notifyAll();
        } else if (threads < most) {
          threads++;
          Thread.ofPlatform().name("calls of " + application.name()).daemon().start(this::runCalls);
        }
      }
    }
    if (refused) {
      application.leave();
      throw new EngineException(
              ErrorCode.TOO_MANY_SESSIONS,
              "application \""
                  + application.name()
                  + "\" has "
                  + options.maxWaiting()
                  + " calls that wait")
          .withHint("The options max_calls and max_waiting of the application are the limits.");
    }
    return call;
  }

  private synchronized void ended() {
    active--;
  }

  private void runCalls() {
    for (Call call = take(); call != null; call = take()) {
      try {
        call.run();
      } finally {
        application.leave();
      }
    }
  }

  /// @return null: this thread ends
  private synchronized @Nullable Call take() {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(IDLE_SECONDS);
    idle++;
    try {
      while (waiting.isEmpty()) {
        long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        if (left <= 0) {
          threads--;
          return null;
        }
        wait(left);
      }
      return waiting.remove();
    } catch (InterruptedException e) {
      threads--;
      return null;
    } finally {
      idle--;
    }
  }

  /// One call.
  private final class Call implements Running {
    private final byte what;
    private final int index;
    private final Invocation invocation;
    private final Listener listener;
    private final AtomicBoolean canceled = new AtomicBoolean();
    private final long number = NUMBERS.incrementAndGet();
    private long rows;
    private long bytes;
    private @Nullable EngineException refused;

    // Guarded by this.
    private RemoteApplication.@Nullable Attached attached;
    private @Nullable HostSession serving;

    Call(byte what, int index, Invocation invocation, Listener listener) {
      this.what = what;
      this.index = index;
      this.invocation = invocation;
      this.listener = listener;
    }

    private ProcedureSignature signature() {
      return what == 0
          ? application.contents().procedures().get(index)
          : application.contents().routes().get(index).procedure();
    }

    private void run() {
      EngineException failure = null;
      try {
        if (canceled.get()) {
          throw canceled();
        }
        call();
      } catch (EngineException e) {
        failure = e;
      } catch (RuntimeException e) {
        LOG.error("a call of {} failed", application.name(), e);
        failure =
            new EngineException(
                ErrorCode.INTERNAL_ERROR,
                "a call of \"" + application.name() + "\" failed: " + e,
                e);
      }
      // Before it is told, so that who has been told has room for another one.
      ended();
      if (failure == null) {
        listener.done();
      } else {
        listener.failed(failure);
      }
    }

    private static EngineException canceled() {
      return new EngineException(
          ErrorCode.QUERY_CANCELED, "canceling statement due to user request");
    }

    private void call() {
      RemoteApplication.Attached used = application.attach();
      try (used) {
        HostSession session =
            used.process().session(used.lane(), invocation.user(), invocation.access());
        try {
          synchronized (this) {
            attached = used;
            serving = session;
          }
          if (canceled.get()) {
            throw canceled();
          }
          exchange(used, session);
        } catch (LinkLane.ShutException e) {
          throw canceled.get() ? canceled() : used.process().gone();
        } catch (InterruptedException e) {
          throw canceled();
        } finally {
          synchronized (this) {
            attached = null;
            serving = null;
            notifyAll();
          }
          used.process().endSession(used.lane(), invocation.user(), session);
        }
      }
    }

    private void exchange(RemoteApplication.Attached used, HostSession session)
        throws InterruptedException {
      LinkLane lane = used.lane();
      MessageReader message = new MessageReader();
      lane.send(
          new MessageWriter()
              .begin(LinkKind.CALL)
              .putLong(number)
              .put(what)
              .putInt(index)
              .put(invocation.access() != null)
              .putText(invocation.user())
              .putLong(invocation.timeLimitMillis())
              .putValues(invocation.arguments()));
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis()) + GRACE_NANOS;
      while (true) {
        byte kind = next(used, message, Math.max(1, end - System.nanoTime()));
        switch (kind) {
          case LinkKind.DONE, LinkKind.FAILED -> {
            EngineException why = refused;
            if (why != null) {
              throw why;
            }
            if (kind == LinkKind.FAILED) {
              throw message.getFailure();
            }
            return;
          }
          case LinkKind.ROWS -> {
            rows(message);
            lane.send(new MessageWriter().begin(refused == null ? LinkKind.DONE : LinkKind.ENOUGH));
          }
          default -> session.serve(kind, message);
        }
      }
    }

    private byte next(RemoteApplication.Attached used, MessageReader message, long nanos) {
      try {
        used.lane().receive(message, OwnProcess.MOST_MESSAGE, nanos);
        return message.get();
      } catch (LinkLane.LateException e) {
        used.process().kill("\"" + signature().name() + "\" did not end in time");
        throw new EngineException(
            ErrorCode.QUERY_CANCELED,
            "\""
                + signature().name()
                + "\" took more than "
                + limitMillis()
                + " ms and was ended with its process");
      } catch (EngineException e) {
        used.process().kill(String.valueOf(e.getMessage()));
        throw e;
      }
    }

    private long limitMillis() {
      long limit = signature().timeLimitMillis();
      long own = limit == 0 ? options.timeLimitMillis() : limit;
      return invocation.timeLimitMillis() == 0 ? own : Math.min(own, invocation.timeLimitMillis());
    }

    /// A refusal by the reader of the rows, or a limit, ends the call: the process is told with the answer.
    private void rows(MessageReader message) {
      bytes += message.length();
      while (refused == null && message.getBoolean()) {
        @Nullable Object[] row = message.getValues();
        if (row.length != signature().result().size()) {
          throw MessageReader.malformed("has a row of " + row.length + " columns");
        }
        rows++;
        try {
          if (rows > options.maxRows()) {
            throw new EngineException(
                ErrorCode.LIMIT_EXCEEDED,
                "\"" + signature().name() + "\" gives more than " + options.maxRows() + " rows");
          }
          if (bytes > BYTES_OF_FORM * options.maxBytes() + LinkLane.ROOM) {
            throw new EngineException(
                ErrorCode.LIMIT_EXCEEDED,
                "\"" + signature().name() + "\" gives more than " + options.maxBytes() + " bytes");
          }
          listener.row(row);
        } catch (EngineException e) {
          refused = e;
        }
      }
    }

    @Override
    public void cancel() {
      if (!canceled.compareAndSet(false, true)) {
        return;
      }
      boolean waited;
      synchronized (RemoteCalls.this) {
        waited = waiting.remove(this);
        if (waited) {
          ended();
        }
      }
      if (waited) {
        application.leave();
        listener.failed(canceled());
        return;
      }
      Thread.ofPlatform()
          .name("cancel of " + application.name())
          .daemon()
          .start(this::cancelRunning);
    }

    private void cancelRunning() {
      RemoteApplication.Attached running;
      HostSession session;
      synchronized (this) {
        running = attached;
        session = serving;
      }
      if (running == null || session == null) {
        return;
      }
      try {
        session.cancel();
        running.process().cancel(running.lane(), number);
        if (!endsSoon()) {
          running.process().kill("\"" + signature().name() + "\" was canceled and did not end");
        }
      } catch (EngineException e) {
        LOG.debug("the process of {} ended before a cancel", application.name(), e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private synchronized boolean endsSoon() throws InterruptedException {
      long end = System.nanoTime() + GRACE_NANOS;
      while (attached != null) {
        long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        if (left <= 0) {
          return false;
        }
        wait(left);
      }
      return true;
    }
  }
}
