package dev.kakehashi.rest.server;

import dev.kakehashi.rest.problem.Problem;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.unixdomain.server.UnixDomainServerConnector;
import org.jspecify.annotations.Nullable;

/// Keeps pages of browsers away that do not come from the endpoint itself: a name that was made to lead here (DNS rebinding), and requests
/// of other sites. Immutable.
final class OriginCheck {
  private final Set<String> hosts = new HashSet<>();

  OriginCheck(HttpConfig config) {
    hosts.addAll(Set.of("localhost", "127.0.0.1", "[::1]", "::1"));
    config.allowedHosts().forEach(this::add);
    for (HttpListener listener : config.listeners()) {
      if (listener instanceof HttpListener.Tls tls) {
        add(tls.host());
      }
    }
  }

  /// An IPv6 address as the field Host has it, too.
  private void add(String host) {
    String lower = host.toLowerCase(Locale.ROOT);
    hosts.add(lower);
    if (lower.indexOf(':') >= 0 && !lower.startsWith("[")) {
      hosts.add("[" + lower + "]");
    }
  }

  /// @throws Problem 400: no host; 421: one that is not ours; 403: a page of another site asks
  void check(Request request) {
    // A browser cannot reach a Unix socket, and its clients put any name there.
    boolean isTcp =
        !(request.getConnectionMetaData().getConnector() instanceof UnixDomainServerConnector);
    HttpURI uri = request.getHttpURI();
    if (isTcp) {
      @Nullable String host = uri.getHost();
      if (host == null) {
        throw Problem.badRequest("the request names no host");
      }
      if (!hosts.contains(host) && !hosts.contains(host.toLowerCase(Locale.ROOT))) {
        throw Problem.of(
            421, "wrong-host", "Misdirected request", "the endpoint is not called by this name");
      }
    }
    @Nullable String origin = request.getHeaders().get(HttpHeader.ORIGIN);
    String scheme = request.getConnectionMetaData().isSecure() ? "https://" : "http://";
    if (origin != null && !origin.equalsIgnoreCase(scheme + uri.getAuthority())) {
      throw refused();
    }
    @Nullable String site = request.getHeaders().get("Sec-Fetch-Site");
    if (site != null && !site.equals("same-origin") && !site.equals("none")) {
      throw refused();
    }
  }

  private static Problem refused() {
    return Problem.of(403, "other-origin", "Other origin", "pages of other sites get no answer");
  }
}
