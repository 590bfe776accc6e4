package dev.kakehashi.requests;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RequestTimes;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The door of [RequestCore] for interfaces in this process. Thread-safe.
///
/// [#close()] comes before the poller's end: it ends the sessions and waits until each call has its answer.
public final class InProcessRequests implements Requests, ClientSource, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(InProcessRequests.class);
  private static final long DRAIN_NANOS = 10_000_000_000L;

  /// Sessions of shared memory have numbers below this in their lower 16 bits.
  private static final long PLACE = 0xFFFF;

  private final RequestCore core;
  private final RequestPoller poller;
  private final TransactionTokens tokens;
  private final int maxSessions;
  private final Set<InProcessSession> sessions = ConcurrentHashMap.newKeySet();
  private final AtomicInteger sessionCount = new AtomicInteger();
  private final AtomicLong generation = new AtomicLong();
  private final AtomicInteger unanswered = new AtomicInteger();
  private final RequestTimes requestTimes = new RequestTimes();
  private volatile boolean closed;

  /// @param maxSessions open at a time
  public InProcessRequests(
      RequestCore core, RequestPoller poller, TransactionTokens tokens, int maxSessions) {
    this.core = core;
    this.poller = poller;
    this.tokens = tokens;
    this.maxSessions = maxSessions;
    core.addClients(this);
  }

  /// How long requests took, from the call to the answer. Thread-safe.
  public RequestTimes requestTimes() {
    return requestTimes;
  }

  RequestPoller poller() {
    return poller;
  }

  @Override
  public RequestSession open(RequestUser user, String kind, String applicationName) {
    refuseWhenClosed();
    if (sessionCount.incrementAndGet() > maxSessions) {
      sessionCount.decrementAndGet();
      throw new EngineException(
              ErrorCode.OUT_OF_SLOTS,
              "endpoint has " + maxSessions + " sessions of this kind, its maximum")
          .withHint("Raise \"max_sessions\" of the endpoint.");
    }
    long id = generation.incrementAndGet() << 16 | PLACE;
    InProcessSession session =
        new InProcessSession(this, core, new InProcessClient(id, user, kind, applicationName));
    sessions.add(session);
    if (closed) { // meanwhile: who closes may not have seen it
      session.close();
      refuseWhenClosed();
    }
    return session;
  }

  private void refuseWhenClosed() {
    if (closed) {
      throw new EngineException(ErrorCode.SHUTTING_DOWN, "the endpoint is shutting down");
    }
  }

  void closed(InProcessSession session) {
    if (sessions.remove(session)) {
      sessionCount.decrementAndGet();
    }
  }

  /// A call begins; [#ended()] follows.
  void begins() {
    unanswered.incrementAndGet();
  }

  void ended() {
    if (unanswered.decrementAndGet() == 0 && closed) {
      synchronized (this) {
        notifyAll();
      }
    }
  }

  @Override
  public String token(RequestUser user, long handle) {
    return tokens.token(user.name(), handle);
  }

  @Override
  public OptionalLong handle(RequestUser user, String token) {
    return tokens.handle(user.name(), token);
  }

  @Override
  public void forEachClient(BiConsumer<RequestClient, @Nullable ClientRequests> each) {
    for (InProcessSession session : sessions) {
      each.accept(session.client(), session.requests());
    }
  }

  /// Ends all sessions, and waits some seconds for the last answers.
  @Override
  public void close() {
    closed = true;
    List.copyOf(sessions).forEach(InProcessSession::close);
    long deadline = System.nanoTime() + DRAIN_NANOS;
    boolean interrupted = false;
    synchronized (this) {
      long left = DRAIN_NANOS;
      while (unanswered.get() > 0 && left > 0) {
        try {
          wait(left / 1_000_000 + 1);
        } catch (InterruptedException e) {
          interrupted = true;
        }
        left = deadline - System.nanoTime();
      }
    }
    if (unanswered.get() > 0) {
      LOG.warn("{} requests of this process are still running", unanswered.get());
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
