package dev.kakehashi.engine.store.recovery;

import dev.kakehashi.engine.api.FollowedLog;
import dev.kakehashi.engine.api.LogFrame;
import dev.kakehashi.engine.api.LogPosition;
import dev.kakehashi.engine.api.LogStatus;
import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.api.TableGuard;
import dev.kakehashi.engine.store.log.DurableLog;
import dev.kakehashi.engine.store.log.StandbyLog;
import dev.kakehashi.engine.store.transaction.StoreTransactions;
import dev.kakehashi.protocol.Threads;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The thread of a standby that brings what is in memory after the log: group by group, each as one commit. So readers see states that the
/// primary has had, in its order, and none that is not durable here.
///
/// A group that cannot be applied is tried again. The log goes on meanwhile.
public final class LogFollower implements FollowedLog, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LogFollower.class);
  private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long PAUSE_MILLIS = 1000;

  private final StoreTransactions store;
  private final StandbyLog log;
  private final FollowedPrepared prepared = new FollowedPrepared();
  private final CountDownLatch stopping = new CountDownLatch(1);
  private @Nullable Thread thread;
  private volatile String primary = "";
  private volatile String problem = "it has not been asked yet";

  /// Why the last group is not applied; empty: it is.
  private volatile String applyProblem = "";

  /// @param image what has been recovered of the log
  public LogFollower(StoreTransactions store, StandbyLog log, DurableLog image) {
    this.store = store;
    this.log = log;
    prepared.load(image);
  }

  /// Begins to apply.
  public synchronized void start(TableGuard guard) {
    if (thread != null) {
      throw new IllegalStateException("the log is followed already");
    }
    Thread begun = new Thread(() -> run(guard), "kakehashi-standby-apply");
    begun.setDaemon(true);
    thread = begun;
    begun.start();
  }

  private void run(TableGuard guard) {
    GroupApply.Scratch scratch = new GroupApply.Scratch();
    while (stopping.getCount() > 0) {
      try {
        StandbyLog.Group group = log.next(WAIT_NANOS);
        if (group != null) {
          new GroupApply(store, guard, group, prepared, scratch).run();
          log.applied(group);
          guard.applied();
          applyProblem = "";
        }
      } catch (InterruptedException e) {
        LOG.debug("interrupted, which close() does", e);
      } catch (RuntimeException | OutOfMemoryError e) {
        applyProblem = String.valueOf(e.getMessage());
        LOG.error("could not apply the log at {}; trying again", applied(), e);
        pause();
      }
    }
  }

  private void pause() {
    try {
      if (stopping.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
        LOG.debug("the standby ends");
      }
    } catch (InterruptedException e) {
      LOG.debug("a pause has ended early", e);
    }
  }

  @Override
  public long logId() {
    return log.logId();
  }

  @Override
  public LogPosition position() {
    return log.position();
  }

  @Override
  public @Nullable LogFrame last() {
    return log.last();
  }

  @Override
  public LogPosition applied() {
    return log.state().applied();
  }

  @Override
  public void follow(InputStream from, OutputStream to) throws IOException, InterruptedException {
    log.follow(from, to);
  }

  @Override
  public void told(String ofPrimary, String why) {
    primary = ofPrimary;
    problem = why;
  }

  /// The primary's transactions that are prepared and not decided.
  public List<Preparation> prepared() {
    return prepared.list();
  }

  public LogStatus.Following status() {
    StandbyLog.State state = log.state();
    boolean isBehind = state.lagBytes() > 0 && state.appliedMicros() > 0;
    long now = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    return new LogStatus.Following(
        primary,
        state.applied(),
        state.lagBytes(),
        isBehind ? Math.max(0, now - state.appliedMicros()) : 0,
        state.groups(),
        applyProblem.isEmpty() ? problem : "the log is not applied: " + applyProblem);
  }

  @Override
  public synchronized void close() {
    stopping.countDown();
    Thread begun = thread;
    if (begun != null) {
      begun.interrupt();
      Threads.joinUninterruptibly(begun);
    }
  }
}
