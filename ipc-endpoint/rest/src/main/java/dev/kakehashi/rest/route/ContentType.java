package dev.kakehashi.rest.route;

import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.PreEncodedHttpField;

/// The type of an answer's body, with its header field made beforehand. Immutable.
public final class ContentType {
  public static final ContentType JSON = of("application/json");
  public static final ContentType PROBLEM = of("application/problem+json");
  public static final ContentType NDJSON = of("application/x-ndjson");
  public static final ContentType CSV = of("text/csv; charset=utf-8");
  public static final ContentType ARROW_STREAM = of("application/vnd.apache.arrow.stream");
  public static final ContentType ROWS = of("application/vnd.kakehashi.rows");
  public static final ContentType TEXT = of("text/plain; charset=utf-8");
  public static final ContentType OPENMETRICS =
      of("application/openmetrics-text; version=1.0.0; charset=utf-8");

  private final String value;
  private final HttpField field;

  private ContentType(String value) {
    this.value = value;
    this.field = new PreEncodedHttpField(HttpHeader.CONTENT_TYPE, value);
  }

  /// Worth being kept by who uses it often.
  public static ContentType of(String value) {
    return new ContentType(value);
  }

  public String value() {
    return value;
  }

  HttpField field() {
    return field;
  }
}
