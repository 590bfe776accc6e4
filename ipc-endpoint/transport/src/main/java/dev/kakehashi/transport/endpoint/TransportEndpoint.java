package dev.kakehashi.transport.endpoint;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.RequestTimes;
import dev.kakehashi.protocol.Threads;
import dev.kakehashi.protocol.layout.ControlPageLayout;
import dev.kakehashi.transport.TransportConfig;
import dev.kakehashi.transport.TransportException;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.Function;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The endpoint's side of the transport: runtime directory, attach thread, poller.
///
/// Call protocol: [#start]; clients attach once it has returned; [#stopping()] refuses new ones; [#close()] ends all sessions, waits for
/// running responses and removes the runtime directory.
public final class TransportEndpoint implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TransportEndpoint.class);
  private static final long IDLE_TICK_NANOS = 1_000_000_000L;
  private static final long DRAIN_NANOS = 10_000_000_000L;

  // Fields that all requests begin with, after the message header.
  private static final int SESSION_ID_OFFSET = Protocol.MESSAGE_HEADER_BYTES;
  private static final int REQUEST_ID_OFFSET = SESSION_ID_OFFSET + 8;
  private static final int SLOT_OFFSET = REQUEST_ID_OFFSET + 8;
  private static final int COMMON_BYTES = SLOT_OFFSET + 2;

  private final TransportConfig config;
  private final RuntimeDirectory directory;
  private final ControlPage control;
  private final Doorbell doorbell;
  private final RequestHandler handler;
  private final WatchedChannels watched;
  private final Poller poller;
  private final Crowd crowd;
  private final SessionTable sessions;
  private final AttachServer attachServer;
  private final List<Thread> pollerThreads;

  private TransportEndpoint(
      TransportConfig config,
      RuntimeDirectory directory,
      Function<TransportEndpoint, RequestHandler> handlers,
      Authenticator authenticator,
      AttachedEngine engine)
      throws IOException {
    this.config = config;
    this.directory = directory;
    long incarnation = System.currentTimeMillis() << 16 | (ProcessHandle.current().pid() & 0xFFFF);
    this.control = ControlPage.create(directory, incarnation);
    this.doorbell = Doorbell.create(directory);
    this.crowd =
        new Crowd(Runtime.getRuntime().availableProcessors(), System.nanoTime(), control::crowded);
    this.watched = new WatchedChannels(this::retime);
    this.handler = handlers.apply(this);
    this.poller =
        new Poller(
            doorbell, this::frame, inspector(), this::tick, IDLE_TICK_NANOS, config.polling());
    this.sessions = new SessionTable(config, directory, poller, control, watched, handler);
    this.attachServer =
        AttachServer.open(directory, config, sessions, authenticator, engine, incarnation);
    sessions.attachServer(attachServer);
    this.pollerThreads = poller.threads();
  }

  /// Makes the runtime directory and starts to serve, see below.
  ///
  /// @throws TransportException when the directory cannot be used, or another endpoint uses it
  public static TransportEndpoint start(
      TransportConfig config,
      Function<TransportEndpoint, RequestHandler> handlers,
      Authenticator authenticator,
      AttachedEngine engine) {
    return start(config, RuntimeDirectory.open(config), handlers, authenticator, engine);
  }

  /// Starts to serve in a runtime directory that its caller has made, and may have put something else into.
  ///
  /// @param directory of that configuration; owned from here on, also if this fails
  /// @param handlers makes the handler of requests; it may keep the endpoint for [#execute(Runnable)], but not use it before this method
  ///     returns
  /// @param engine what clients are told of the engine; any thread
  /// @throws TransportException when the directory cannot be used
  public static TransportEndpoint start(
      TransportConfig config,
      RuntimeDirectory directory,
      Function<TransportEndpoint, RequestHandler> handlers,
      Authenticator authenticator,
      AttachedEngine engine) {
    try {
      TransportEndpoint endpoint =
          new TransportEndpoint(config, directory, handlers, authenticator, engine);
      endpoint.sessions.warmUp();
      endpoint.pollerThreads.forEach(Thread::start);
      endpoint.attachServer.start();
      endpoint.control.state(ControlPageLayout.STATE_READY);
      return endpoint;
    } catch (IOException e) {
      directory.close();
      throw new TransportException(
          ErrorCode.INTERNAL_ERROR,
          "could not set up \"" + directory.path() + "\": " + RuntimeDirectory.reason(e),
          e);
    } catch (RuntimeException e) {
      directory.close();
      throw e;
    }
  }

  public TransportConfig config() {
    return config;
  }

  /// Runs `command` on the poller. Thread-safe.
  public void execute(Runnable command) {
    poller.execute(command);
  }

  /// Runs `command` after those of earlier calls, at once on the calling thread if no thread of the poller is awake; else as
  /// [#execute(Runnable)] does. Thread-safe.
  public void runOrExecute(Runnable command) {
    poller.runOrExecute(command);
  }

  /// Runs `work`, which may block, on the calling thread once the requests that have arrived by now are handled.
  ///
  /// @return false: the calling thread is not the poller's, or has other work to do then
  public boolean tryDefer(Runnable work) {
    return poller.tryDefer(work);
  }

  /// The work that was deferred to the calling thread does not block from here on. Thread-safe.
  ///
  /// @return whether the thread reads requests again when it returns: work that blocks is to be deferred again
  public boolean unblocked() {
    return poller.unblocked();
  }

  /// Attached sessions. Thread-safe.
  public int sessionCount() {
    return sessions.count();
  }

  /// Sessions whose clients are attached. Thread-safe.
  public List<EndpointSession> sessions() {
    return sessions.list();
  }

  /// How long requests took, from their arrival to their last answer. Thread-safe.
  public RequestTimes requestTimes() {
    return sessions.requestTimes();
  }

  /// Resources in use: for leak tests and for status. Thread-safe.
  public ResourceUsage usage() {
    return sessions.usage();
  }

  /// Direct reads since the start, as far as clients tell. Thread-safe.
  public long directReads() {
    return sessions.directReads();
  }

  /// Shared memory in use.
  ///
  /// @param mailboxes of sessions, also of those whose last response still runs
  /// @param requests without a final frame
  /// @param blocks of the arenas
  /// @param queues request queues that are open
  /// @param watchedChannels channels that wait for their readers
  public record ResourceUsage(
      int mailboxes, int requests, int blocks, int queues, int watchedChannels) {}

  private void frame(RequestQueue queue, UnsafeBuffer frame) {
    EndpointSession session = null;
    try {
      int templateId = Frames.templateId(frame);
      if (frame.capacity() < COMMON_BYTES) {
        throw new MalformedFrameException("request of " + frame.capacity() + " bytes");
      }
      long sessionId = frame.getLong(SESSION_ID_OFFSET, ByteOrder.LITTLE_ENDIAN);
      session = sessions.find(sessionId, queue);
      if (session == null) {
        LOG.debug("dropping a request of session {} from queue {}", sessionId, queue.name());
        return;
      }
      crowd.asked(session, System.nanoTime());
      dispatch(session, templateId, frame);
    } catch (MalformedFrameException | IllegalArgumentException | IndexOutOfBoundsException e) {
      // The codecs report what they refuse by the latter two.
      refuse(session, queue, String.valueOf(e.getMessage()));
    } catch (RuntimeException | Error e) {
      LOG.error("handler of requests failed", e);
      refuse(session, queue, "internal error");
    }
  }

  private void dispatch(EndpointSession session, int templateId, UnsafeBuffer frame) {
    long requestId = frame.getLong(REQUEST_ID_OFFSET, ByteOrder.LITTLE_ENDIAN);
    int slot = frame.getShort(SLOT_OFFSET, ByteOrder.LITTLE_ENDIAN) & 0xFFFF;
    ResponseChannel channel = session.admit(requestId, slot);
    try {
      handler.request(session, requestId, channel, templateId, frame);
    } catch (RuntimeException | Error e) {
      if (channel != null) {
        channel.finishRefused(String.valueOf(e.getMessage()));
      }
      throw e;
    }
  }

  private void refuse(@Nullable EndpointSession session, RequestQueue queue, String reason) {
    if (session != null) {
      session.refuse(reason);
    } else {
      queue.warn("dropping a request: " + reason);
    }
  }

  private long tick(long now) {
    long next = Math.min(handler.tick(now), sessions.tick(now));
    control.usage(sessions.usage(), handler.openTransactions());
    control.heartbeat(now);
    return next;
  }

  private void retime() {
    poller.retime();
  }

  private Poller.ChannelInspector inspector() {
    return new Poller.ChannelInspector() {
      @Override
      public void checkWritable() {
        watched.checkReleased();
      }

      @Override
      public long inspect(long nowNanos) {
        return watched.inspect();
      }

      @Override
      public void queueFailed(RequestQueue queue) {
        sessions.queueFailed(queue);
      }
    };
  }

  /// Refuses new sessions; those attached go on.
  public void stopping() {
    control.state(ControlPageLayout.STATE_STOPPING);
    attachServer.refuseNew();
  }

  /// Ends all sessions, waits a while for their last responses, and removes the runtime directory.
  ///
  /// Mapped memory stays mapped until the process ends if a response is still running then.
  @Override
  public void close() {
    stopping();
    attachServer.close();
    long deadline = System.nanoTime() + DRAIN_NANOS;
    boolean drained = sessions.awaitReleased(deadline);
    poller.stop();
    boolean ended = true;
    for (Thread thread : pollerThreads) {
      // Code of users to which the thread has lent its time may not come back.
      ended &= Threads.joinUninterruptibly(thread, System.nanoTime() + DRAIN_NANOS);
    }
    control.state(ControlPageLayout.STATE_STOPPED);
    if (drained && ended) {
      sessions.close();
      doorbell.close();
      control.close();
    } else {
      LOG.warn(
          "{} still running; their memory stays mapped", ended ? "responses are" : "calls are");
    }
    directory.close();
  }
}
