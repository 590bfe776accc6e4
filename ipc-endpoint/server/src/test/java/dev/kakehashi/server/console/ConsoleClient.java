package dev.kakehashi.server.console;

import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A browser without a window: it keeps cookies, and follows nothing. One thread.
final class ConsoleClient implements AutoCloseable {
  private static final Pattern CSRF = Pattern.compile("name=\"csrf\" value=\"([^\"]+)\"");

  private final CookieManager cookies = new CookieManager();
  private final HttpClient client =
      HttpClient.newBuilder().cookieHandler(cookies).version(HttpClient.Version.HTTP_1_1).build();
  private final URI uri;

  ConsoleClient(URI uri) {
    this.uri = uri;
  }

  CookieManager cookies() {
    return cookies;
  }

  HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return client.send(HttpRequest.newBuilder(uri.resolve(path)).build(), BodyHandlers.ofString());
  }

  /// @param fields names and values in turn
  HttpResponse<String> post(String path, String... fields)
      throws IOException, InterruptedException {
    StringBuilder form = new StringBuilder();
    for (int i = 0; i < fields.length; i += 2) {
      form.append(i == 0 ? "" : "&")
          .append(fields[i])
          .append('=')
          .append(URLEncoder.encode(fields[i + 1], StandardCharsets.UTF_8));
    }
    return client.send(
        HttpRequest.newBuilder(uri.resolve(path))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(BodyPublishers.ofString(form.toString()))
            .build(),
        BodyHandlers.ofString());
  }

  int login(String user, String password) throws IOException, InterruptedException {
    return post("/console/login", "user", user, "password", password).statusCode();
  }

  /// The field of the forms of this login.
  String csrf() throws IOException, InterruptedException {
    Matcher matcher = CSRF.matcher(get("/console/sql").body());
    if (!matcher.find()) {
      throw new IllegalStateException("the page has no form");
    }
    return matcher.group(1);
  }

  /// Runs a statement on the SQL page.
  HttpResponse<String> sql(String statement) throws IOException, InterruptedException {
    return post("/console/sql", "csrf", csrf(), "sql", statement, "act", "run");
  }

  @Override
  public void close() {
    client.close();
  }
}
