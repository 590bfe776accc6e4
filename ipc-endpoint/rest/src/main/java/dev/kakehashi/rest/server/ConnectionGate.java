package dev.kakehashi.rest.server;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.io.EndPoint;

/// Counts connections and turns away those that are too many, in all or from one address. Thread-safe.
final class ConnectionGate {
  private final int max;
  private final int maxOfAddress;
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong accepted = new AtomicLong();

  /// Addresses of open connections: a closed one does not tell its address.
  private final Map<EndPoint, InetAddress> addresses = new ConcurrentHashMap<>();

  /// Only addresses with an open connection.
  private final Map<InetAddress, Integer> byAddress = new ConcurrentHashMap<>();

  ConnectionGate(HttpLimits limits) {
    this.max = limits.connections();
    this.maxOfAddress = limits.connectionsOfAddress();
  }

  /// Counts a connection, and closes it if there are too many. [#closed] follows in both cases.
  void opened(EndPoint endPoint) {
    int count = open.incrementAndGet();
    boolean isTooMany = count > max;
    if (endPoint.getRemoteSocketAddress() instanceof InetSocketAddress remote) {
      InetAddress address = remote.getAddress();
      addresses.put(endPoint, address);
      isTooMany |= byAddress.merge(address, 1, Integer::sum) > maxOfAddress;
    }
    if (isTooMany) {
      refused.incrementAndGet();
      endPoint.close();
    } else {
      accepted.incrementAndGet();
    }
  }

  void closed(EndPoint endPoint) {
    InetAddress address = addresses.remove(endPoint);
    if (address != null) {
      byAddress.computeIfPresent(address, (key, count) -> count == 1 ? null : count - 1);
    }
    open.decrementAndGet();
  }

  int open() {
    return open.get();
  }

  long accepted() {
    return accepted.get();
  }

  long refused() {
    return refused.get();
  }
}
