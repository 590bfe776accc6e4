package dev.kakehashi.rest.server;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/// The file of a Unix socket. Stateless.
final class UnixSocketFile {
  private UnixSocketFile() {}

  /// Removes a socket that a process has left behind. Anything else at the path stays.
  ///
  /// @throws IOException somebody listens there, or it is no socket
  static void removeLeftover(Path path) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    BasicFileAttributes attributes =
        Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!attributes.isOther()) {
      throw new BindException(path + " exists and is no socket");
    }
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.connect(UnixDomainSocketAddress.of(path));
    } catch (ConnectException e) {
      Files.delete(path);
      return;
    }
    throw new BindException("another process listens on " + path);
  }
}
