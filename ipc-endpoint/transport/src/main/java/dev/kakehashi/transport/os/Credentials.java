package dev.kakehashi.transport.os;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/// Identity of the process at the other end of a Unix socket, as the kernel says.
///
/// @param processId in our PID namespace; 0 when it is not visible from it
public record Credentials(int processId, int uid, int gid) {
  private static final Method DESCRIPTOR = descriptorMethod();

  private static Method descriptorMethod() {
    try {
      Method method = Class.forName("sun.nio.ch.SelChImpl").getMethod("getFDVal");
      method.setAccessible(true);
      return method;
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("sun.nio.ch.SelChImpl.getFDVal", e);
    }
  }

  /// Credentials that the peer had when it connected (SO_PEERCRED).
  public static Credentials ofPeer(SocketChannel channel) throws IOException {
    int[] values = Linux.peerCredentials(descriptor(channel));
    if (values.length != 3) {
      throw new IOException("could not read credentials of peer: errno " + -values[0]);
    }
    return new Credentials(values[0], values[1], values[2]);
  }

  static int descriptor(SocketChannel channel) throws IOException {
    try {
      return (int) DESCRIPTOR.invoke(channel);
    } catch (ReflectiveOperationException e) {
      throw new IOException("could not find descriptor of socket", e);
    }
  }

  public static int ownUid() {
    return Linux.getuid();
  }

  /// Name of the OS user that this process runs as, or the number when it has none here.
  public static String ownUserName() {
    try {
      return userName(ownUid());
    } catch (IOException e) {
      throw new UncheckedIOException("could not find the name of the OS user", e);
    }
  }

  /// Inode of this process's PID namespace.
  public static long pidNamespace() throws IOException {
    String link = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
    return Long.parseLong(link.substring(link.indexOf('[') + 1, link.length() - 1));
  }

  /// Name of an OS user, or the number when it has none here.
  public static String userName(int uid) throws IOException {
    for (String line : Files.readAllLines(Path.of("/etc/passwd"))) {
      String[] fields = line.split(":", -1);
      if (fields.length > 2 && fields[2].equals(Integer.toString(uid))) {
        return fields[0];
      }
    }
    return Integer.toString(uid);
  }

  /// Number of an OS user given by name or number; -1 when unknown.
  public static int uidOf(String user) throws IOException {
    if (user.matches("\\d{1,9}")) {
      return Integer.parseInt(user);
    }
    for (String line : Files.readAllLines(Path.of("/etc/passwd"))) {
      String[] fields = line.split(":", -1);
      if (fields.length > 2 && fields[0].equals(user)) {
        return Integer.parseInt(fields[2]);
      }
    }
    return -1;
  }
}
