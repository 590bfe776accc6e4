package dev.kakehashi.transport.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.transport.os.Credentials;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Choice of the connection that has to go when too many have not said who they are.
@SuppressWarnings("NullAway.Init") // set before each test
class UnattachedConnectionsTest {
  private static final int BUSY = 1001;
  private static final int QUIET = 1002;

  private final UnattachedConnections connections = new UnattachedConnections();
  private final List<SocketChannel> channels = new ArrayList<>();
  private Selector selector;

  @BeforeEach
  void open() throws IOException {
    selector = Selector.open();
  }

  @AfterEach
  void close() throws IOException {
    for (SocketChannel channel : channels) {
      channel.close();
    }
    selector.close();
  }

  private SelectionKey connect(int uid) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    channels.add(channel);
    channel.configureBlocking(false);
    SelectionKey key = channel.register(selector, 0);
    connections.put(key, new AttachServer.Connection(channel, new Credentials(1, uid, 0), 0));
    return key;
  }

  @Test
  void shouldLetTheOldestOfTheBusiestUserGo() throws IOException {
    SelectionKey quiet = connect(QUIET);
    SelectionKey oldest = connect(BUSY);
    SelectionKey second = connect(BUSY);
    while (connections.keys().size() < UnattachedConnections.CAPACITY) {
      connect(BUSY);
    }
    assertNull(connections.surplus());
    SelectionKey late = connect(QUIET);
    assertSame(oldest, connections.surplus());
    connections.remove(oldest);
    assertNull(connections.surplus());
    connect(QUIET);
    assertSame(second, connections.surplus());
    assertTrue(connections.keys().containsAll(List.of(quiet, late)));
  }

  /// Counts of a user go with his connections.
  @Test
  void shouldCountConnectionsThatAreThere() throws IOException {
    List<SelectionKey> gone = new ArrayList<>();
    for (int i = 0; i < UnattachedConnections.CAPACITY; i++) {
      gone.add(connect(BUSY));
    }
    gone.forEach(connections::remove);
    gone.forEach(connections::remove); // an attached one ends, too
    assertTrue(connections.isEmpty());
    SelectionKey oldest = connect(QUIET);
    while (connections.keys().size() <= UnattachedConnections.CAPACITY) {
      connect(QUIET);
    }
    assertSame(oldest, connections.surplus());
  }

  @Test
  void shouldListConnectionsInTheOrderInWhichTheyCame() throws IOException {
    List<SelectionKey> keys = List.of(connect(BUSY), connect(QUIET), connect(BUSY));
    assertEquals(keys, connections.keys());
    assertEquals(QUIET, connections.get(keys.get(1)).credentials.uid());
  }
}
