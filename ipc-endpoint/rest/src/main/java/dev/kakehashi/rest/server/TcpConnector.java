package dev.kakehashi.rest.server;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/// Listens on a TCP port and counts its connections at the gate. The selector accepts, and there is one: a request stays on its thread.
final class TcpConnector extends ServerConnector {
  private final ConnectionGate gate;
  private final Runnable beforeEach;

  /// @param beforeEach called before a connection is set up, on the selector's thread
  TcpConnector(
      Server server, ConnectionGate gate, Runnable beforeEach, ConnectionFactory... factories) {
    super(server, 0, 1, factories);
    this.gate = gate;
    this.beforeEach = beforeEach;
  }

  @Override
  protected SocketChannelEndPoint newEndPoint(
      SocketChannel channel, ManagedSelector selector, SelectionKey key) throws IOException {
    beforeEach.run();
    return super.newEndPoint(channel, selector, key);
  }

  @Override
  protected void onEndPointOpened(EndPoint endPoint) {
    super.onEndPointOpened(endPoint);
    gate.opened(endPoint);
  }

  @Override
  protected void onEndPointClosed(EndPoint endPoint) {
    gate.closed(endPoint);
    super.onEndPointClosed(endPoint);
  }
}
