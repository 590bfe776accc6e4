package dev.kakehashi.rest.route;

import dev.kakehashi.rest.problem.Problem;
import java.util.Locale;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/// Checks of a body before it is read. Stateless.
final class BodyChecks {
  private BodyChecks() {}

  /// @return whether a body has been announced as what the route takes; else there must be none, which only HTTP/2 lets the client keep
  ///     open
  /// @throws Problem 413: announced too long; 501: in a transfer coding that is not known; 415: of a type or coding that the route does not
  ///     take
  static boolean check(Request request, Route route) {
    long length = request.getLength();
    HttpFields header = request.getHeaders();
    boolean isChunked = length < 0 && header.contains(HttpHeader.TRANSFER_ENCODING);
    if (length == 0 || (length < 0 && !isChunked && !mayFollow(request, route))) {
      return false;
    }
    String transfer = header.get(HttpHeader.TRANSFER_ENCODING);
    if (transfer != null && !transfer.equalsIgnoreCase("chunked")) {
      throw Problem.of(
              501,
              "transfer-coding",
              "Transfer coding",
              "only the transfer coding chunked is known")
          .withHeader("Connection", "close");
    }
    if (length > route.maxBody()) {
      throw BodyGauge.tooLarge(route.maxBody());
    }
    String type = mediaType(request);
    if (!route.accepts().contains(type)) {
      throw unsupported(route, type);
    }
    @Nullable String coding = header.get(HttpHeader.CONTENT_ENCODING);
    if (coding != null
        && !coding.equalsIgnoreCase("identity")
        && !route.codings().contains(coding.toLowerCase(Locale.ROOT))) {
      throw unsupported(
          "content coding \"" + coding + "\" is not known here",
          "Accept-Encoding",
          route.codings().isEmpty() ? "identity" : String.join(", ", route.codings()));
    }
    return true;
  }

  /// Whether a body of unknown length is to be expected: in HTTP/2 alone, where it is announced by its type. A type by itself does no harm
  /// to a route that takes no body.
  private static boolean mayFollow(Request request, Route route) {
    return request.getConnectionMetaData().getHttpVersion().getVersion()
            > HttpVersion.HTTP_1_1.getVersion()
        && !route.accepts().isEmpty()
        && request.getHeaders().contains(HttpHeader.CONTENT_TYPE);
  }

  /// A body of a type that the route does not take.
  static Problem unsupported(Route route, String type) {
    return unsupported(
        route.accepts().isEmpty()
            ? route + " takes no body"
            : "content type \"" + type + "\" is not one of " + String.join(", ", route.accepts()),
        route.method().equals("PATCH") ? "Accept-Patch" : "Accept-Post",
        String.join(", ", route.accepts()));
  }

  private static Problem unsupported(String detail, String header, String value) {
    return Problem.of(415, "unsupported-media-type", "Unsupported media type", detail)
        .withHeader(header, value);
  }

  /// In small letters, without parameters; empty: none is given.
  static String mediaType(Request request) {
    @Nullable String type = request.getHeaders().get(HttpHeader.CONTENT_TYPE);
    if (type == null) {
      return "";
    }
    int semicolon = type.indexOf(';');
    return (semicolon < 0 ? type : type.substring(0, semicolon)).strip().toLowerCase(Locale.ROOT);
  }
}
