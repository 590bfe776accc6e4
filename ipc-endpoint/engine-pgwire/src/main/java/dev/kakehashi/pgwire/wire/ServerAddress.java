package dev.kakehashi.pgwire.wire;

/// Where a server listens.
///
/// @param host name or address
/// @param port 1 to 65535
public record ServerAddress(String host, int port) {
  private static final int USUAL_PORT = 5432;

  /// Reads `host`, `host:port` or `[address]:port`.
  ///
  /// @throws IllegalArgumentException when it is none
  public static ServerAddress parse(String text) {
    String host = text.trim();
    int port = USUAL_PORT;
    int colon = host.lastIndexOf(':');
    if ((colon >= 0 && colon > host.lastIndexOf(']') && host.indexOf(':') == colon)
        || (host.startsWith("[") && colon > host.indexOf(']'))) {
      String number = host.substring(colon + 1);
      port = number.matches("[0-9]{1,5}") ? Integer.parseInt(number) : 0;
      host = host.substring(0, colon);
    }
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    if (host.isEmpty() || port < 1 || port > 65_535) {
      throw new IllegalArgumentException(
          "\"" + text.trim() + "\" is no address of the form host:port");
    }
    return new ServerAddress(host, port);
  }

  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
