package dev.kakehashi.queue.push;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueHost;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.queue.ReceiveRequest;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Pushes the tasks of one group of a queue: a consumer that waits for tasks, posts each, and completes it or lets it fail.
///
/// The queue decides how many tasks may start, and when: a push takes as many as it can post at a time. One call for tasks is under way at
/// most; it waits as a consumer does, so an idle queue costs nothing.
/// Fields that are not final are guarded by `this`; the queue system is called without that lock.
final class QueuePush implements LeaseHolder, QueueSystem.Listener {
  /// Requests at a time of a queue without a limit.
  static final int DEFAULT_CONCURRENT = 100;

  private static final int MAX_TAKEN = 64;
  private static final long MAX_BYTES = 16 << 20;
  private static final long WAIT_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final Logger LOG = LoggerFactory.getLogger(QueuePush.class);

  /// Effect of pushes on a queue's rate.
  @FunctionalInterface
  interface RateKeeper {
    /// @param rate negative: as the queue says
    void keep(long queueId, long groupId, double rate);
  }

  private final QueueSystem queues;
  private final QueueHost host;
  private final PushRequests requests;
  private final RateKeeper rates;
  private final long queueId;
  private final long groupId;
  private final TargetRate rate = new TargetRate();
  private QueueDefinition definition;
  private QueueSystem.@Nullable Waiting waiting;
  private boolean asking;
  private boolean rateAlarm;
  private boolean closed;
  private int inFlight;

  QueuePush(
      QueueSystem queues,
      QueueHost host,
      PushRequests requests,
      RateKeeper rates,
      QueueDefinition definition,
      long groupId) {
    this.queues = queues;
    this.host = host;
    this.requests = requests;
    this.rates = rates;
    this.definition = definition;
    this.queueId = definition.queueId();
    this.groupId = groupId;
  }

  @Override
  public String name() {
    return "push";
  }

  @Override
  public void lost(LeaseToken token) {
    LOG.warn(
        "task {} of queue {} was pushed for longer than its lease",
        token.position(),
        token.queueId());
  }

  synchronized void define(QueueDefinition now) {
    definition = now;
  }

  private static int limit(QueueDefinition of) {
    int most = of.options().limits().maxConcurrent();
    return most > 0 ? Math.min(most, DEFAULT_CONCURRENT) : DEFAULT_CONCURRENT;
  }

  /// Asks for tasks, as many as may be posted now.
  void ask() {
    ReceiveRequest request;
    synchronized (this) {
      int free = limit(definition) - inFlight;
      if (closed || asking || free <= 0) {
        return;
      }
      asking = true;
      request =
          new ReceiveRequest(
              queueId,
              groupId,
              Math.min(free, MAX_TAKEN),
              MAX_BYTES,
              WAIT_NANOS,
              0,
              this,
              List.of());
    }
    QueueSystem.Waiting call = queues.receive(request, this);
    boolean gone;
    synchronized (this) {
      gone = closed;
      if (asking && !gone) {
        waiting = call;
      }
    }
    if (gone) {
      call.cancel();
    }
  }

  @Override
  public void received(List<LeasedTask> tasks) {
    QueueDefinition now;
    synchronized (this) {
      asking = false;
      waiting = null;
      inFlight += tasks.size();
      now = definition;
      long nanos = host.nanoTime();
      tasks.forEach(each -> rate.started(nanos));
    }
    String url = Objects.requireNonNullElse(now.options().push().target(), "");
    for (LeasedTask each : tasks) {
      requests.post(now, url, each, outcome -> ended(each, outcome));
    }
    // Not from within: the next call may be answered at once.
    host.execute(this::ask);
  }

  @Override
  public void failed(EngineException reason) {
    synchronized (this) {
      asking = false;
      waiting = null;
      if (closed || reason.code() == ErrorCode.SHUTTING_DOWN) {
        return;
      }
    }
    LOG.warn("tasks could not be taken for a push; trying again: {}", reason.getMessage());
    host.after(RETRY_NANOS, () -> host.execute(this::ask));
  }

  /// A request has ended; on a thread of the client.
  private void ended(LeasedTask task, PushOutcome outcome) {
    QueueChanges changes = queues.newChanges();
    try {
      if (outcome.isDone()) {
        changes.complete(task.token());
      } else if (outcome.forGood()) {
        changes.failForGood(task.token(), outcome.error());
      } else {
        changes.fail(task.token(), outcome.error(), outcome.retryMillis());
      }
      host.write(
          changes,
          failure -> {
            if (failure != null) {
              LOG.warn("the end of a push of task {} was not kept: {}", task.taskId(), failure);
            }
          });
    } catch (EngineException e) {
      changes.ended(false);
      LOG.debug("task {} was pushed in vain: {}", task.taskId(), e.getMessage());
    }
    boolean changed = false;
    double kept = -1;
    synchronized (this) {
      inFlight--;
      if (outcome.overloaded()) {
        changed = rate.refused(definition.options().limits().rate(), host.nanoTime());
        kept = rate.enforced();
      }
    }
    if (changed) {
      keep(kept);
    }
    host.execute(this::ask);
  }

  private void keep(double kept) {
    rates.keep(queueId, groupId, kept);
    synchronized (this) {
      if (kept < 0 || closed || rateAlarm) {
        return;
      }
      rateAlarm = true;
    }
    host.after(TargetRate.STEP_NANOS, () -> host.execute(this::raise));
  }

  /// A second later: the target may bear more.
  private void raise() {
    double kept;
    synchronized (this) {
      rateAlarm = false;
      if (closed) {
        return;
      }
      rate.passed(host.nanoTime());
      kept = rate.enforced();
    }
    keep(kept);
  }

  /// No further task is taken; leases that are under way end with this holder, and their tasks are handed out again.
  void close() {
    QueueSystem.Waiting call;
    synchronized (this) {
      closed = true;
      call = waiting;
      waiting = null;
    }
    if (call != null) {
      call.cancel();
    }
    queues.endHolder(this);
  }
}
