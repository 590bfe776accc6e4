package dev.kakehashi.rest.route;

import dev.kakehashi.os.LibC;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Method;
import java.nio.channels.SocketChannel;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Whether the client of a request is still there. Nobody reads from a connection of HTTP/1.1 while its request runs, so nothing else would
/// tell; [ClientWatch] looks from time to time.
///
/// A client who has shut down his side of the connection counts as gone. A look takes a microsecond and waits for nothing.
final class ClientPresence {
  private static final Logger LOG = LoggerFactory.getLogger(ClientPresence.class);

  private static final int POLLERR = 0x8;
  private static final int POLLHUP = 0x10;
  private static final int POLLRDHUP = 0x2000;
  private static final Method DESCRIPTOR = descriptorMethod();
  private static final MethodHandle POLL =
      LibC.function(
          "poll",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.ADDRESS,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT),
          Linker.Option.critical(true));

  private ClientPresence() {}

  private static Method descriptorMethod() {
    try {
      Method method = Class.forName("sun.nio.ch.SelChImpl").getMethod("getFDVal");
      method.setAccessible(true);
      return method;
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("sun.nio.ch.SelChImpl.getFDVal", e);
    }
  }

  /// Whether the client of a request has gone, as far as the kernel knows.
  static boolean isGone(Request request) {
    return isGone(request.getConnectionMetaData().getConnection().getEndPoint());
  }

  /// Whether the client at the other side of an end point has gone.
  static boolean isGone(EndPoint connection) {
    @Nullable Object transport = connection;
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
