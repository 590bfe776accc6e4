package dev.kakehashi.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/// TCP ports of the loopback interface for servers that are told their port. Thread-safe.
public final class FreePorts {
  // Below the ports that the kernel gives to clients: one of those could be taken before the server
  // has it, or while the server is down
  // for a moment.
  private static final int FIRST = 12_000;
  private static final int END = 32_000;

  private FreePorts() {}

  /// A port that nobody listens on now, from 12,000 to 31,999.
  public static int next() {
    for (int attempt = 0; attempt < 1000; attempt++) {
      int candidate = ThreadLocalRandom.current().nextInt(FIRST, END);
      try (ServerSocket socket = new ServerSocket(candidate, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (BindException e) {
        // taken: the next one
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    throw new IllegalStateException("no free TCP port from " + FIRST + " to " + (END - 1));
  }
}
