package dev.kakehashi.rest.server;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.Route;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;

/// `/v1`: what the endpoint is and what it bears, so that nobody has to find out its limits by meeting them.
final class AboutRoute {
  private static final JsonFactory JSON = new JsonFactory();

  private AboutRoute() {}

  /// @param others limits of what is behind the door, by name
  static Route of(String version, HttpLimits limits, Map<String, Long> others) {
    byte[] answer = answer(version, limits, others);
    return Route.get("/v1")
        .handleDirectly((exchange, body) -> exchange.answer().send(200, ContentType.JSON, answer));
  }

  private static byte[] answer(String version, HttpLimits limits, Map<String, Long> others) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeStartObject();
      json.writeStringField("name", "kakehashi");
      json.writeStringField("version", version);
      json.writeStringField("openapi", "/v1/openapi.json");
      json.writeObjectFieldStart("limits");
      json.writeNumberField("headerBytes", limits.headerBytes());
      json.writeNumberField("bodyBytes", Route.DEFAULT_MAX_BODY);
      json.writeNumberField("bodyBytesPerSecond", limits.bodyBytesPerSecond());
      json.writeNumberField("idleMillis", limits.idleMillis());
      json.writeNumberField("requestsOfUser", limits.requestsOfUser());
      for (Map.Entry<String, Long> other : others.entrySet()) {
        json.writeNumberField(other.getKey(), other.getValue());
      }
      json.writeEndObject();
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }
}
