package dev.kakehashi.tools.shell.http;

import dev.kakehashi.tools.shell.ShellException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Where the HTTP door of an endpoint is: `http://host:port`, `https://host:port`, `unix:/path/of/the/socket`. Immutable.
///
/// @param host empty: a Unix socket
/// @param socket of a Unix socket; null: it is none
/// @param authority trusted certificates in a PEM file; null: those of the JVM
public record HttpPlace(
    String text,
    boolean secure,
    String host,
    int port,
    @Nullable Path socket,
    @Nullable Path authority) {
  private static final int MOST_PORT = 65_535;

  /// @throws ShellException it is none
  public static HttpPlace of(String text, @Nullable Path authority) {
    if (text.startsWith("unix:")) {
      String path = text.substring("unix:".length()).replaceFirst("^//", "");
      if (path.isEmpty()) {
        throw wrong(text);
      }
      return new HttpPlace(text, false, "", 0, Path.of(path).toAbsolutePath(), null);
    }
    URI uri;
    try {
      uri = new URI(text);
    } catch (URISyntaxException none) {
      throw wrong(text);
    }
    String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
    boolean secure = scheme.equals("https");
    @Nullable String host = uri.getHost();
    boolean isRoot = uri.getPath() == null || uri.getPath().isEmpty() || uri.getPath().equals("/");
    if ((!secure && !scheme.equals("http"))
        || host == null
        || uri.getRawQuery() != null
        || uri.getRawFragment() != null
        || !isRoot) {
      throw wrong(text);
    }
    if (uri.getRawUserInfo() != null) {
      throw new ShellException(
          "--url: user and password do not belong there, where others see them; use --user and $KAKEHASHI_PASSWORD");
    }
    int port = uri.getPort() < 0 ? (secure ? 443 : 80) : uri.getPort();
    if (port > MOST_PORT) {
      throw wrong(text);
    }
    String bare =
        host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    return new HttpPlace(text, secure, bare, port, null, authority);
  }

  private static ShellException wrong(String text) {
    return new ShellException(
        "--url: \"" + text + "\" is none of http://HOST:PORT, https://HOST:PORT, unix:/PATH");
  }

  boolean isUnix() {
    return socket != null;
  }

  Path socketPath() {
    return Objects.requireNonNull(socket);
  }

  /// As the field Host has it.
  String hostField() {
    if (isUnix()) {
      return "localhost";
    }
    String name = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    return port == (secure ? 443 : 80) ? name : name + ":" + port;
  }
}
