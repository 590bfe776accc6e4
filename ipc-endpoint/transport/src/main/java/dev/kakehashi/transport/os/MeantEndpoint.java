package dev.kakehashi.transport.os;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.transport.TransportException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The endpoint that a command is about, and the OS user that it has to run as.
///
/// An option comes first, then `KAKEHASHI_RUNTIME_DIR` and `KAKEHASHI_REQUIREPEER`, then the file `client.conf`, which the environment
/// variable `KAKEHASHI_CLIENT_CONF` names; the launcher sets it. The file's `requirepeer` counts for the file's directory alone: it says
/// nothing of other endpoints.
///
/// @param directory runtime directory
/// @param requiredPeer OS user, by name or number; empty: our own
public record MeantEndpoint(Path directory, String requiredPeer) {
  private static final String DIRECTORY = "KAKEHASHI_RUNTIME_DIR";
  private static final String PEER = "KAKEHASHI_REQUIREPEER";
  private static final String FILE = "KAKEHASHI_CLIENT_CONF";
  private static final String DIRECTORY_KEY = "runtime_directory";
  private static final String PEER_KEY = "requirepeer";

  /// @param named runtime directory of an option; null: none was given
  /// @param requiredPeer of an option; empty: none was given
  /// @throws TransportException CANNOT_CONNECT when nothing says which endpoint is meant, or the file says what it cannot
  /// @throws IOException the file cannot be read
  public static MeantEndpoint of(@Nullable Path named, String requiredPeer) throws IOException {
    return of(named, requiredPeer, System.getenv());
  }

  static MeantEndpoint of(
      @Nullable Path named, String requiredPeer, Map<String, String> environment)
      throws IOException {
    String directory = named == null ? environment.getOrDefault(DIRECTORY, "") : named.toString();
    String peer = requiredPeer.isEmpty() ? environment.getOrDefault(PEER, "") : requiredPeer;
    if (directory.isEmpty() || peer.isEmpty()) {
      Map<String, String> file = file(environment.getOrDefault(FILE, ""));
      String usual = file.getOrDefault(DIRECTORY_KEY, "");
      if (directory.isEmpty()) {
        directory = usual;
      }
      if (peer.isEmpty() && !usual.isEmpty() && Path.of(directory).equals(Path.of(usual))) {
        peer = file.getOrDefault(PEER_KEY, "");
      }
    }
    if (directory.isEmpty()) {
      throw new TransportException(
          ErrorCode.CANNOT_CONNECT,
          "no endpoint was named",
          "",
          "Give --runtime-directory DIRECTORY, or set " + DIRECTORY + ".",
          null);
    }
    return new MeantEndpoint(Path.of(directory), peer);
  }

  /// The settings of an endpoint that lie beside `client.conf`; null: there are none.
  public static @Nullable Path settings() {
    String file = System.getenv().getOrDefault(FILE, "");
    if (file.isEmpty()) {
      return null;
    }
    Path settings = Path.of(file).resolveSibling("kakehashi.conf");
    return Files.isReadable(settings) ? settings : null;
  }

  private static Map<String, String> file(String name) throws IOException {
    Map<String, String> values = new HashMap<>();
    if (name.isEmpty()) {
      return values;
    }
    List<String> lines = Files.readAllLines(Path.of(name));
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).replaceFirst("#.*", "").strip();
      if (line.isEmpty()) {
        continue;
      }
      int sign = line.indexOf('=');
      String key = sign < 0 ? line : line.substring(0, sign).strip();
      if (sign < 0 || !(key.equals(DIRECTORY_KEY) || key.equals(PEER_KEY))) {
        throw new TransportException(
            ErrorCode.CANNOT_CONNECT,
            "line %d of \"%s\" is not understood: \"%s\"".formatted(i + 1, name, line),
            "",
            "The file has lines \"%s = DIRECTORY\" and \"%s = USER\"."
                .formatted(DIRECTORY_KEY, PEER_KEY),
            null);
      }
      values.put(key, line.substring(sign + 1).strip());
    }
    return values;
  }
}
