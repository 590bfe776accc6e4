package dev.kakehashi.applications.handler;

import dev.kakehashi.applications.call.CallEnvironment;
import dev.kakehashi.applications.call.TaskCalls;
import dev.kakehashi.applications.call.UserCall;
import dev.kakehashi.applications.define.HandlerMember;
import dev.kakehashi.applications.watch.MemberCounts;
import dev.kakehashi.engine.api.application.ApplicationContents.HandlerSignature;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationHost.DirectTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.protocol.ErrorCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Takes tasks of a queue while its version is in use, as many as may be handled at a time, and renews their leases. Thread-safe.
///
/// ```
///  receiver    waits in the engine for tasks while places are free; one virtual thread
///  heart       renews leases every third of them while tasks are handled; another one
///  calls       one for each task; they complete it within their transaction, or fail it in one of its own
/// ```
public final class QueueHandler {
  private static final Logger LOG = LoggerFactory.getLogger(QueueHandler.class);
  private static final Duration WAIT = Duration.ofSeconds(60);
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long MOST_PAUSE_MILLIS = 30_000;
  private static final long LEAST_BEAT_MILLIS = 10;
  private static final String ISOLATION = "READ COMMITTED";
  private static final int MAX_ERROR = 2_000;

  private final CallEnvironment environment;
  private final HandlerMember member;
  private final String label;
  private final List<String> names; // of the queue, the first that exists
  private final String user;
  private final MemberCounts counts;
  private final Runnable changed;
  private final Thread receiver;
  private final Map<String, @Nullable UserCall> handled = new HashMap<>(); // guarded by this
  private boolean isEnding; // guarded by this
  private boolean isOver; // guarded by this
  private boolean beats; // guarded by this

  /// Begins to take tasks.
  ///
  /// @param schema of the application, where a queue without a schema is looked for first
  /// @param user owner of the application
  /// @param changed is run when it has ended
  public QueueHandler(
      CallEnvironment environment,
      HandlerMember member,
      String schema,
      String user,
      MemberCounts counts,
      Runnable changed) {
    this.environment = environment;
    this.member = member;
    this.label = label(member.signature());
    this.names = names(schema, member.signature().queue());
    this.user = user;
    this.counts = counts;
    this.changed = changed;
    receiver =
        Thread.ofVirtual()
            .name("kakehashi-application-" + label)
            .inheritInheritableThreadLocals(false)
            .unstarted(this::receive);
    receiver.start();
  }

  /// As `handler mail`.
  public static String label(HandlerSignature signature) {
    return "handler " + signature.queue();
  }

  /// Takes no more tasks; those that are handled go on.
  public void end() {
    synchronized (this) {
      isEnding = true;
      notifyAll();
    }
    receiver.interrupt();
  }

  /// Whether it has ended and no task is handled.
  public synchronized boolean isOver() {
    return isOver && handled.isEmpty();
  }

  // ---- receiver ----

  private void receive() {
    HandlerSignature signature = member.signature();
    ApplicationHost host = environment.host();
    long pause = FIRST_PAUSE_MILLIS;
    try {
      for (; ; ) {
        int free = awaitPlace();
        if (free == 0) {
          return;
        }
        try {
          begin(receive(host, signature, free));
          pause = FIRST_PAUSE_MILLIS;
        } catch (EngineException e) {
          // Its queue is gone, or rights, or too many calls wait: what helps is time.
          LOG.warn("{} of application {} takes no task: {}", label, user, e.getMessage());
          pause(pause);
          pause = Math.min(2 * pause, MOST_PAUSE_MILLIS);
        }
      }
    } catch (InterruptedException e) {
      LOG.debug("{} ends", label);
    } finally {
      synchronized (this) {
        isOver = true;
        notifyAll();
      }
      changed.run();
    }
  }

  private List<LeasedTask> receive(ApplicationHost host, HandlerSignature signature, int free)
      throws InterruptedException {
    for (int i = 0; ; i++) {
      try {
        return host.receive(
            user, names.get(i), signature.group(), free, signature.leaseMillis(), WAIT.toNanos());
      } catch (EngineException e) {
        if (e.code() != ErrorCode.UNDEFINED_OBJECT || i + 1 == names.size()) {
          throw e;
        }
      }
    }
  }

  /// Where a name without a schema is looked for: the application's, then public.
  private static List<String> names(String schema, String queue) {
    boolean quoted = false;
    for (int i = 0; i < queue.length(); i++) {
      char c = queue.charAt(i);
      quoted ^= c == '"';
      if (c == '.' && !quoted) {
        return List.of(queue);
      }
    }
    return List.of("\"" + schema.replace("\"", "\"\"") + "\"." + queue, queue);
  }

  /// @return 0: it ends
  private synchronized int awaitPlace() throws InterruptedException {
    while (!isEnding && handled.size() >= member.signature().concurrency()) {
      wait();
    }
    return isEnding ? 0 : member.signature().concurrency() - handled.size();
  }

  private synchronized void pause(long millis) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = millis; left > 0 && !isEnding; ) {
      wait(left);
      left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
    }
  }

  private void begin(List<LeasedTask> tasks) {
    List<String> notBegun = new ArrayList<>();
    @Nullable EngineException refused = null;
    for (LeasedTask task : tasks) {
      String token = task.token().text();
      synchronized (this) {
        if (isEnding || refused != null) {
          notBegun.add(token);
          continue;
        }
        handled.put(token, null);
      }
      try {
        handle(task, token);
      } catch (EngineException e) {
        refused = e;
        ended(token);
        notBegun.add(token);
      }
    }
    if (!notBegun.isEmpty()) {
      environment.host().release(notBegun);
    }
    if (refused != null) {
      throw refused;
    }
  }

  private void handle(LeasedTask task, String token) {
    UserCall run =
        TaskCalls.start(
            environment,
            member,
            label,
            user,
            counts,
            task,
            new TaskCalls.Listener() {
              @Override
              public void done() {
                ended(token);
              }

              @Override
              public void failed(EngineException reason) {
                fail(token, reason);
                ended(token);
              }
            });
    synchronized (this) {
      if (handled.containsKey(token)) {
        handled.put(token, run);
        beat(leaseMillis(task));
      }
    }
  }

  private void ended(String token) {
    synchronized (this) {
      handled.remove(token);
      notifyAll();
    }
    changed.run(); // without the lock: who is told looks at this
  }

  private void fail(String token, EngineException reason) {
    if (reason.code() == ErrorCode.LEASE_LOST) {
      return; // somebody else has it
    }
    String message = String.valueOf(reason.getMessage());
    DirectTransaction transaction = environment.host().begin(user, ISOLATION);
    try {
      transaction.fail(
          token, message.length() > MAX_ERROR ? message.substring(0, MAX_ERROR) : message);
      transaction.commit();
    } catch (EngineException e) {
      // The lease ends by itself, and the attempt counts.
      LOG.warn("{} could not fail a task: {}", label, e.getMessage());
    } finally {
      transaction.rollback();
    }
  }

  // ---- heart ----

  private long leaseMillis(LeasedTask task) {
    long asked = member.signature().leaseMillis();
    return asked > 0 ? asked : task.leaseEndMillis() - System.currentTimeMillis();
  }

  private synchronized void beat(long leaseMillis) {
    if (!beats) {
      beats = true;
      long every = Math.max(LEAST_BEAT_MILLIS, leaseMillis / 3);
      Thread.ofVirtual()
          .name("kakehashi-application-lease")
          .inheritInheritableThreadLocals(false)
          .start(() -> renew(every));
    }
  }

  private void renew(long everyMillis) {
    try {
      for (; ; ) {
        Map<String, @Nullable UserCall> now;
        synchronized (this) {
          long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(everyMillis);
          for (long left = everyMillis; left > 0 && !handled.isEmpty(); ) {
            wait(left);
            left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
          }
          if (handled.isEmpty()) {
            beats = false;
            return;
          }
          now = new HashMap<>(handled);
        }
        now.forEach(this::renew);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      LOG.warn("leases of {} are not renewed any more", label);
    }
  }

  private void renew(String token, @Nullable UserCall run) {
    try {
      environment.host().extend(token, member.signature().leaseMillis());
    } catch (EngineException e) {
      if (run != null && e.code() == ErrorCode.LEASE_LOST) {
        run.cancel(e);
      } else {
        LOG.warn("{} could not renew a lease: {}", label, e.getMessage());
      }
    }
  }
}
