package dev.kakehashi.rest.route;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Method;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Looks every second whether the client of a request is still there, until it is stopped. Nobody reads from a connection of HTTP/1.1 while its request runs, so nothing else would tell.
///
/// A client who has shut down his side of the connection counts as gone. A look takes a microsecond and waits for nothing.
///
/// Lock: this guards `task` and `stopped`.
@SuppressWarnings("restricted") // poll(2), with its documented signature
final class ClientPresence implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(ClientPresence.class);
  private static final long PERIOD_MILLIS = 1000;

  private static final int POLLERR = 0x8;
  private static final int POLLHUP = 0x10;
  private static final int POLLRDHUP = 0x2000;
  private static final Method DESCRIPTOR = descriptorMethod();
  private static final MethodHandle POLL =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("poll"),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT,
                  ValueLayout.ADDRESS,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_INT),
              Linker.Option.critical(true));

  private final Request request;
  private final Scheduler scheduler;
  private final Runnable gone;
  private Scheduler.@Nullable Task task;
  private boolean stopped;

  /// @param gone called once if the client goes, on a thread that it must not block
  ClientPresence(Request request, Runnable gone) {
    this.request = request;
    this.scheduler = request.getComponents().getScheduler();
    this.gone = gone;
  }

  private static Method descriptorMethod() {
    try {
      Method method = Class.forName("sun.nio.ch.SelChImpl").getMethod("getFDVal");
      method.setAccessible(true);
      return method;
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("sun.nio.ch.SelChImpl.getFDVal", e);
    }
  }

  /// The first look is after a second.
  synchronized void start() {
    if (!stopped) {
      task = scheduler.schedule(this, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /// Idempotent.
  synchronized void stop() {
    stopped = true;
    if (task != null) {
      task.cancel();
      task = null;
    }
  }

  @Override
  public void run() {
    if (isGone(request)) {
      stop();
      gone.run();
    } else {
      start();
    }
  }

  /// Whether the client of a request has gone, as far as the kernel knows.
  static boolean isGone(Request request) {
    @Nullable Object transport = request.getConnectionMetaData().getConnection().getEndPoint();
    // One end point lies on the other with TLS.
    while (transport instanceof EndPoint endPoint) {
      transport = endPoint.getTransport();
    }
    if (!(transport instanceof SocketChannel channel)) {
      return false;
    }
    if (!channel.isOpen()) {
      return true;
    }
    try {
      // `struct pollfd`: the descriptor, then two short words, of which the second is what the
      // kernel says.
      int[] pollfd = {(int) DESCRIPTOR.invoke(channel), POLLRDHUP};
      int ready = (int) POLL.invokeExact(MemorySegment.ofArray(pollfd), 1L, 0);
      return ready > 0 && (pollfd[1] >>> Short.SIZE & (POLLERR | POLLHUP | POLLRDHUP)) != 0;
    } catch (Throwable e) {
      LOG.warn("could not look whether a client is still there", e);
      return false;
    }
  }
}
