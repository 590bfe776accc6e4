package dev.kakehashi.rest.server;

import java.nio.file.Files;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.unixdomain.server.UnixDomainServerConnector;

/// Listens on a Unix socket and counts its connections at the gate. Its file goes with it.
final class UnixConnector extends UnixDomainServerConnector {
  private final HttpListener.UnixSocket socket;
  private final ConnectionGate gate;

  /// Whether nothing was at the path when it started.
  private boolean owns;

  UnixConnector(
      Server server,
      HttpListener.UnixSocket socket,
      ConnectionGate gate,
      ConnectionFactory... factories) {
    super(server, 0, 1, factories);
    this.socket = socket;
    this.gate = gate;
    setUnixDomainPath(socket.path());
  }

  @Override
  protected void doStart() throws Exception {
    UnixSocketFile.removeLeftover(socket.path());
    owns = true;
    super.doStart();
    // Between bind and this the umask holds. The door is closed until its server has started:
    // nobody is answered before.
    Files.setPosixFilePermissions(socket.path(), socket.permissions());
  }

  @Override
  protected void doStop() throws Exception {
    // A file at the path that this connector does not own is somebody else's.
    if (owns) {
      super.doStop();
      Files.deleteIfExists(socket.path());
    }
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
