package dev.kakehashi.console.access;

import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.ExchangeRequest;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Cookies of the console. Their names have the port, because browsers keep the cookies of all ports of a host together. Stateless.
public final class Cookies {
  private static final String TOKEN = "kakehashi_console";
  private static final String NOTICE = "kakehashi_notice";
  private static final int NOTICE_SECONDS = 30;
  private static final int MAX_NOTICE = 500;

  private Cookies() {}

  private static String name(ExchangeRequest request, String name) {
    @Nullable String host = request.header("Host");
    int colon = host == null ? -1 : host.lastIndexOf(':');
    String port = colon < 0 || host == null ? "" : host.substring(colon + 1);
    return port.matches("[0-9]{1,5}") ? name + "_" + port : name;
  }

  private static @Nullable String get(Exchange exchange, String name) {
    @Nullable String field = exchange.request().header("Cookie");
    if (field == null) {
      return null;
    }
    String wanted = name(exchange.request(), name) + "=";
    for (String pair : field.split("[;,]", -1)) {
      String cookie = pair.strip();
      if (cookie.startsWith(wanted)) {
        String value = cookie.substring(wanted.length());
        boolean isQuoted = value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"");
        return isQuoted ? value.substring(1, value.length() - 1) : value;
      }
    }
    return null;
  }

  private static void set(Exchange exchange, String name, String value, long seconds) {
    exchange
        .answer()
        .header(
            "Set-Cookie",
            name(exchange.request(), name)
                + "="
                + value
                + "; Path=/console; HttpOnly; SameSite=Strict; Max-Age="
                + seconds
                + (exchange.request().isSecure() ? "; Secure" : ""));
  }

  static @Nullable String token(Exchange exchange) {
    return get(exchange, TOKEN);
  }

  static void token(Exchange exchange, String token, long seconds) {
    set(exchange, TOKEN, token, seconds);
  }

  static void removeToken(Exchange exchange) {
    set(exchange, TOKEN, "", 0);
  }

  /// Sets the notice that the next page says once.
  public static void notice(Exchange exchange, String text) {
    String shown = text.length() <= MAX_NOTICE ? text : text.substring(0, MAX_NOTICE) + "…";
    set(exchange, NOTICE, URLEncoder.encode(shown, StandardCharsets.UTF_8), NOTICE_SECONDS);
  }

  /// Notice that an action before this page has left for it; empty: none. It is forgotten then.
  public static String takeNotice(Exchange exchange) {
    @Nullable String text = get(exchange, NOTICE);
    if (text == null || text.isEmpty()) {
      return "";
    }
    set(exchange, NOTICE, "", 0);
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return ""; // not one of ours
    }
  }
}
