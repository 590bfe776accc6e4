package dev.kakehashi.console.access;

import dev.kakehashi.console.html.Frame;
import dev.kakehashi.console.html.Html;
import dev.kakehashi.rest.login.Authentication;
import dev.kakehashi.rest.login.LoginCredentials;
import dev.kakehashi.rest.login.Users;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.ExchangeAnswer;
import dev.kakehashi.rest.route.Route;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Logs users in and out. A browser keeps a token of the door in a cookie, so there are as many logins as the door allows, and they end
/// when its tokens end. Thread-safe.
public final class Doorman {
  static final ContentType PAGE = ContentType.of("text/html; charset=utf-8");
  private static final String FORM = "application/x-www-form-urlencoded";
  private static final int MAX_FORM = 16 << 10;
  private static final int UNAUTHORIZED = 401;

  private final Authentication authentication;
  private final AuditLog audit;

  public Doorman(Authentication authentication, AuditLog audit) {
    this.authentication = authentication;
    this.audit = audit;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/console/login").anonymous().handle(exchange -> answer(exchange, 200, "", null)),
        Route.post("/console/login")
            .accepts(FORM)
            .maxBody(MAX_FORM)
            .anonymous()
            .handle(this::login),
        Route.post("/console/logout")
            .accepts(FORM)
            .maxBody(MAX_FORM)
            .anonymous()
            .handle(this::logout));
  }

  /// Visitor who asks; null: nobody who has logged in.
  public @Nullable Visitor visitor(Exchange exchange) {
    @Nullable String token = Cookies.token(exchange);
    if (token == null || token.isEmpty()) {
      return null;
    }
    String address = exchange.request().clientAddress();
    try {
      Users.@Nullable Known known =
          authentication.find(new LoginCredentials("Bearer " + token, address, null));
      return known == null ? null : new Visitor(known.user(), token, address);
    } catch (Problem ended) {
      return null; // 401: the token is none any more
    }
  }

  /// @param form with the field `csrf`
  /// @throws Problem 403: the form is not one of the visitor's pages
  public static void check(Visitor visitor, Map<String, String> form) {
    if (!visitor.hasSent(form.getOrDefault("csrf", ""))) {
      throw Problem.of(
          403, "other-form", "Other form", "the form is not of this login; load the page again");
    }
  }

  /// Security fields that every page has.
  public static ExchangeAnswer guarded(Exchange exchange) {
    return exchange
        .answer()
        .header("Content-Security-Policy", Frame.POLICY)
        .header("Referrer-Policy", "same-origin")
        .header("Cross-Origin-Opener-Policy", "same-origin")
        .header("Cache-Control", "no-store");
  }

  /// Sends a page.
  public static void send(Exchange exchange, int status, Html page) {
    guarded(exchange).send(status, PAGE, page.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static void answer(Exchange exchange, int status, String user, @Nullable String failure) {
    send(exchange, status, Frame.login(user, failure));
  }

  private void login(Exchange exchange) throws IOException {
    Map<String, String> form = exchange.request().form(Set.of("user", "password"));
    String user = form.getOrDefault("user", "");
    String pair = user + ":" + form.getOrDefault("password", "");
    String field =
        "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
    String address = exchange.request().clientAddress();
    try {
      LoginCredentials credentials = new LoginCredentials(field, address, null);
      Users.@Nullable Known known = authentication.find(credentials);
      if (known == null) {
        known = authentication.prove(credentials);
      }
      Authentication.Token token = authentication.login(known, field);
      audit.done(new Visitor(known.user(), token.text(), address), "log in", "");
      Cookies.token(exchange, token.text(), token.seconds());
    } catch (Problem refused) {
      if (refused.status() != UNAUTHORIZED) {
        exchange.answer().header("Retry-After", "5");
      }
      answer(
          exchange,
          refused.status(),
          user,
          refused.status() == UNAUTHORIZED ? "User or password is wrong." : refused.detail());
      return;
    }
    guarded(exchange).header("Location", "/console/overview").send(303);
  }

  private void logout(Exchange exchange) throws IOException {
    @Nullable Visitor visitor = visitor(exchange);
    if (visitor != null) {
      check(visitor, exchange.request().form(Set.of("csrf")));
      authentication.logout("Bearer " + visitor.token());
      audit.done(visitor, "log out", "");
    }
    Cookies.removeToken(exchange);
    guarded(exchange).header("Location", "/console/login").send(303);
  }
}
