package dev.kakehashi.transport.os;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.transport.TransportException;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;

/// Whether an endpoint is the one that is meant: its OS user owns the runtime directory and listens there, and nobody else could have put
/// another in its place. Asked before anything is sent.
///
/// Immutable. The extension asks the same (`src/ipc/peer.c`).
public final class RequiredPeer {
  private static final int ROOT = 0;
  private static final int OTHERS_WRITE = 022;
  private static final int STICKY = 01000;

  private final int uid;
  private final String option;

  private RequiredPeer(int uid, String option) {
    this.uid = uid;
    this.option = option;
  }

  /// @param user name or number of the OS user that the endpoint has to run as; empty: our own
  /// @param option how the user of this process names another, for hints: a format of its name
  /// @throws TransportException CANNOT_CONNECT when there is none of that name
  public static RequiredPeer of(String user, String option) throws IOException {
    int uid = user.isEmpty() ? Credentials.ownUid() : Credentials.uidOf(user);
    if (uid == -1) {
      throw new TransportException(
          ErrorCode.CANNOT_CONNECT, "OS user \"%s\" does not exist".formatted(user));
    }
    return new RequiredPeer(uid, option);
  }

  /// The runtime directory without links: what a link leads to could be another directory the next time.
  ///
  /// @throws TransportException CANNOT_CONNECT when there is none that we can look at, AUTHENTICATION_FAILED when it or one that leads to
  ///     it belongs to somebody else or may be changed by others
  public Path trusted(Path directory) throws IOException {
    Path real;
    try {
      real = directory.toRealPath();
    } catch (IOException e) {
      throw new TransportException(
          ErrorCode.CANNOT_CONNECT,
          "could not connect to the endpoint in \"%s\": %s"
              .formatted(
                  directory,
                  e instanceof AccessDeniedException ? "permission denied" : "no such directory"),
          "",
          e instanceof AccessDeniedException
              ? "The OS user of this process needs access to the runtime directory of the endpoint."
              : "Is the endpoint running with this runtime directory?",
          e);
    }
    for (Path above = real.getParent(); above != null; above = above.getParent()) {
      checkAncestor(above);
    }
    Map<String, Object> attributes = attributes(real);
    if (owner(attributes) != uid) {
      throw distrusted("runtime directory", real, owner(attributes));
    }
    if ((mode(attributes) & OTHERS_WRITE) != 0) {
      throw refused("runtime directory \"%s\" may be changed by other OS users".formatted(real));
    }
    return real;
  }

  /// Checks a directory that leads to the runtime directory: a user that may write into it could put another in its place.
  private void checkAncestor(Path directory) throws IOException {
    Map<String, Object> attributes = attributes(directory);
    int owner = owner(attributes);
    if (owner != ROOT && owner != uid && owner != Credentials.ownUid()) {
      throw distrusted("directory", directory, owner);
    }
    // In a sticky directory everybody may make files, and nobody may touch those of others.
    if ((mode(attributes) & OTHERS_WRITE) != 0 && (mode(attributes) & STICKY) == 0) {
      throw refused(
          "directory \"%s\", which leads to the endpoint, may be changed by other OS users"
              .formatted(directory));
    }
  }

  /// Checks who listens at the other end of a connected socket, as the kernel says.
  ///
  /// @throws TransportException AUTHENTICATION_FAILED when it is another OS user
  public void check(SocketChannel channel, Path socket) throws IOException {
    int listener = Credentials.ofPeer(channel).uid();
    if (listener != uid) {
      throw distrusted("endpoint at", socket, listener);
    }
  }

  private static Map<String, Object> attributes(Path path) throws IOException {
    return Files.readAttributes(path, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
  }

  private static int owner(Map<String, Object> attributes) {
    return (int) java.util.Objects.requireNonNull(attributes.get("uid"));
  }

  private static int mode(Map<String, Object> attributes) {
    return (int) java.util.Objects.requireNonNull(attributes.get("mode"));
  }

  private TransportException distrusted(String what, Path path, int is) throws IOException {
    return new TransportException(
        ErrorCode.AUTHENTICATION_FAILED,
        "%s \"%s\" belongs to OS user \"%s\", not to \"%s\""
            .formatted(what, path, Credentials.userName(is), Credentials.userName(uid)),
        "",
        "If it is the one that you mean, say so: " + option.formatted(Credentials.userName(is)),
        null);
  }

  private static TransportException refused(String message) {
    return new TransportException(ErrorCode.AUTHENTICATION_FAILED, message);
  }
}
