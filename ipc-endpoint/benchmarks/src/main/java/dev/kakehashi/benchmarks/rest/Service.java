package dev.kakehashi.benchmarks.rest;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// An HTTP service on this host, as one of its users.
///
/// @param token of the user
public record Service(int port, String token) {
  private static final Pattern TOKEN = Pattern.compile("\"token\":\"([^\"]+)\"");

  /// Logs in to the endpoint.
  public static Service login(int port, String user, String password) throws IOException {
    String basic =
        Base64.getEncoder()
            .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
    byte[] request =
        Wire.request("POST", "/v1/login", "Authorization: Basic " + basic + "\r\n", "");
    try (Wire wire = new Wire(port)) {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      int status = wire.exchange(request, body);
      Matcher matcher = TOKEN.matcher(body.toString(StandardCharsets.UTF_8));
      if (status != 200 || !matcher.find()) {
        throw new IOException("login: " + status + " " + body.toString(StandardCharsets.UTF_8));
      }
      return new Service(port, matcher.group(1));
    }
  }

  /// A statement.
  ///
  /// @param fields of the header, each with its line end
  /// @param parameters as JSON, without brackets
  public byte[] statement(String path, String fields, String sql, String parameters) {
    return Wire.request(
        "POST",
        path,
        authorization() + "Content-Type: application/json\r\n" + fields,
        "{\"sql\":\"" + sql + "\",\"parameters\":[" + parameters + "]}");
  }

  public byte[] get(String path, String fields) {
    return Wire.request("GET", path, authorization() + fields, "");
  }

  private String authorization() {
    return "Authorization: Bearer " + token + "\r\n";
  }
}
