package dev.kakehashi.transport.os;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Messages to systemd about this process, as sd_notify(3) sends them: a datagram to the socket that the environment names. Thread-safe.
public final class ServiceManager {
  /// Longest name of a Unix socket, with the zero that ends one.
  private static final int PATH_BYTES = 108;

  private final @Nullable String socket;

  /// @param socket path, or `@` and an abstract name; null or empty: nobody wants to know
  ServiceManager(@Nullable String socket) {
    this.socket = socket == null || socket.isEmpty() ? null : socket;
  }

  /// The one that has started this process, if any has.
  public static ServiceManager ofEnvironment() {
    return new ServiceManager(System.getenv("NOTIFY_SOCKET"));
  }

  /// Clients can be served.
  public void ready() throws IOException {
    tell("READY=1\nSTATUS=clients can attach");
  }

  /// The process ends.
  public void stopping() throws IOException {
    tell("STOPPING=1\nSTATUS=ending");
  }

  /// @param state lines of `NAME=value`
  private void tell(String state) throws IOException {
    if (socket == null) {
      return;
    }
    byte[] name = socket.getBytes(StandardCharsets.UTF_8);
    if (name.length >= PATH_BYTES || (name[0] != '/' && name[0] != '@')) {
      throw new IOException("NOTIFY_SOCKET is \"" + socket + "\", which is no Unix socket");
    }
    if (name[0] == '@') {
      name[0] = 0;
    }
    int result = Linux.sendDatagram(name, state.getBytes(StandardCharsets.UTF_8));
    if (result < 0) {
      throw new IOException("could not write to \"" + socket + "\": errno " + -result);
    }
  }
}
