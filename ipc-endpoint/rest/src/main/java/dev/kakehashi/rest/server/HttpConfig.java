package dev.kakehashi.rest.server;

import java.util.List;
import java.util.Set;

/// How the door is set up. Immutable.
///
/// @param listeners none: there is no door
/// @param allowedHosts names, without ports, by which clients of TCP listeners may call the endpoint besides the addresses of loopback and
///     of its listeners
/// @param opensMetrics whether `/metrics` is for everybody who reaches a listener
public record HttpConfig(
    List<HttpListener> listeners,
    HttpLimits limits,
    Set<String> allowedHosts,
    boolean opensMetrics) {
  public HttpConfig {
    listeners = List.copyOf(listeners);
    allowedHosts = Set.copyOf(allowedHosts);
  }

  /// A door on a free port of 127.0.0.1.
  public static HttpConfig onLoopback() {
    return new HttpConfig(
        List.of(new HttpListener.Loopback(0)), HttpLimits.DEFAULT, Set.of(), false);
  }
}
