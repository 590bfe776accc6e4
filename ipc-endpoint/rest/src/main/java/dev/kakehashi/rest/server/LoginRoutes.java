package dev.kakehashi.rest.server;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.kakehashi.rest.login.Authentication;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.Route;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.List;

/// `/v1/login`: a password, an OS user or a certificate for a token.
final class LoginRoutes {
  private static final JsonFactory JSON = new JsonFactory();
  private static final String AUTHORIZATION = "Authorization";

  private final Authentication authentication;

  LoginRoutes(Authentication authentication) {
    this.authentication = authentication;
  }

  List<Route> routes() {
    return List.of(
        Route.post("/v1/login").handleDirectly((exchange, body) -> login(exchange)),
        Route.delete("/v1/login").handleDirectly((exchange, body) -> logout(exchange)));
  }

  private void login(Exchange exchange) throws IOException {
    Authentication.Token token =
        authentication.login(exchange.request().known(), exchange.request().header(AUTHORIZATION));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeStartObject();
      json.writeStringField("token", token.text());
      json.writeStringField("type", "Bearer");
      json.writeStringField("user", exchange.request().user().name());
      json.writeStringField(
          "expires",
          Instant.ofEpochSecond(Instant.now().getEpochSecond() + token.seconds()).toString());
      json.writeNumberField("expiresIn", token.seconds());
      json.writeEndObject();
    }
    exchange
        .answer()
        .header("Cache-Control", "no-store")
        .send(200, ContentType.JSON, bytes.toByteArray());
  }

  private void logout(Exchange exchange) {
    authentication.logout(exchange.request().header(AUTHORIZATION));
    exchange.answer().send(204);
  }
}
