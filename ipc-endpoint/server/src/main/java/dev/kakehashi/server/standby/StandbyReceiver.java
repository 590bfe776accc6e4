package dev.kakehashi.server.standby;

import dev.kakehashi.engine.api.FollowedLog;
import dev.kakehashi.protocol.Threads;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The thread that brings a standby's log after that of its primary, until it is closed. A primary that is away is asked again each second.
public final class StandbyReceiver implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StandbyReceiver.class);
  private static final long PAUSE_MILLIS = 1000;

  private final FollowedLog log;
  private final PrimaryClient primary;
  private final CountDownLatch stopping = new CountDownLatch(1);
  private final Thread thread;
  private String problem = "it has not been asked yet";

  public StandbyReceiver(FollowedLog log, PrimaryClient primary) {
    this.log = log;
    this.primary = primary;
    log.told(primary.name(), problem);
    this.thread = new Thread(this::run, "kakehashi-standby");
    thread.start();
  }

  private void tell(String why) {
    problem = why;
    log.told(primary.name(), why);
  }

  private void run() {
    boolean isStopping = false;
    while (!isStopping) {
      try {
        follow();
        isStopping = stopping.getCount() == 0;
      } catch (IOException | RuntimeException | OutOfMemoryError e) {
        isStopping = hasFailed(e.getMessage() == null ? e.toString() : e.getMessage(), e);
      } catch (InterruptedException e) {
        // Nobody may stop this thread but close().
        isStopping = stopping.getCount() == 0;
      }
    }
  }

  private void follow() throws IOException, InterruptedException {
    try (PrimaryStream opened = primary.open(log)) {
      LOG.info("the primary is followed from {} on", log.position());
      tell("");
      log.follow(opened.input(), opened.output());
    }
  }

  private boolean hasFailed(String reason, Throwable e) {
    if (stopping.getCount() == 0) {
      return true;
    }
    if (!reason.equals(problem)) {
      LOG.warn("the primary is not followed; trying again: {}", reason);
      LOG.debug("why", e);
    }
    tell(reason);
    try {
      return stopping.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      LOG.debug("a pause has ended early", interrupted);
      return stopping.getCount() == 0;
    }
  }

  @Override
  public void close() {
    stopping.countDown();
    primary.close();
    thread.interrupt();
    Threads.joinUninterruptibly(thread);
  }
}
