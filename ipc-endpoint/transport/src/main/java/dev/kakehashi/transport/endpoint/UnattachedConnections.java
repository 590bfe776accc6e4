package dev.kakehashi.transport.endpoint;

import java.nio.channels.SelectionKey;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Connections that have not said yet who they are. There is room for so many; when it is used up, the OS user who has the most gives the
/// oldest of his, so that nobody keeps others out by connections that say nothing.
///
/// Attach thread only.
final class UnattachedConnections {
  static final int CAPACITY = 256;

  private final Map<SelectionKey, AttachServer.Connection> connections = new LinkedHashMap<>();
  private final Map<Integer, Integer> counts = new HashMap<>(); // by uid, above 0

  void put(SelectionKey key, AttachServer.Connection connection) {
    connections.put(key, connection);
    counts.merge(connection.credentials.uid(), 1, Integer::sum);
  }

  /// Takes a connection out, if it is one of these.
  void remove(SelectionKey key) {
    AttachServer.Connection connection = connections.remove(key);
    if (connection != null) {
      counts.computeIfPresent(
          connection.credentials.uid(), (uid, count) -> count == 1 ? null : count - 1);
    }
  }

  /// One of these.
  AttachServer.Connection get(SelectionKey key) {
    return java.util.Objects.requireNonNull(connections.get(key));
  }

  boolean isEmpty() {
    return connections.isEmpty();
  }

  /// In the order in which they came.
  List<SelectionKey> keys() {
    return List.copyOf(connections.keySet());
  }

  /// The one that has to go; null: there is room.
  @Nullable SelectionKey surplus() {
    if (connections.size() <= CAPACITY) {
      return null;
    }
    int busiest = busiest();
    for (Map.Entry<SelectionKey, AttachServer.Connection> each : connections.entrySet()) {
      if (each.getValue().credentials.uid() == busiest) {
        return each.getKey();
      }
    }
    throw new IllegalStateException("OS user " + busiest + " has no connection");
  }

  private int busiest() {
    int busiest = -1;
    int most = 0;
    for (Map.Entry<Integer, Integer> each : counts.entrySet()) {
      if (each.getValue() > most) {
        busiest = each.getKey();
        most = each.getValue();
      }
    }
    return busiest;
  }
}
