package dev.kakehashi.rest.contract;

import dev.kakehashi.rest.server.RawClient;
import dev.kakehashi.rest.server.RawClient.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// How each documented status of each route is provoked: a row for each, unless it is provoked everywhere in the same way.
final class ContractRows {
  private static final String HOST = "Host: localhost\r\n";
  private static final String MONITOR = RawClient.basic("watch", "watch");
  private static final Pattern TOKEN = Pattern.compile("\"token\":\"([^\"]+)\"");

  /// Brings a status about.
  interface Provocation {
    Answer provoke(ContractDoors doors) throws IOException;
  }

  private final Map<String, Provocation> rows = new HashMap<>();

  /// @param jobs whose rows are added, as those of uploads
  ContractRows(ContractJobs jobs, ContractUploads uploads) {
    jobs.rows(this::row);
    uploads.rows(this::row);
    row("GET /v1", 200, doors -> get(doors, "/v1", RawClient.ALICE));
    row("GET /v1/openapi.json", 200, doors -> get(doors, "/v1/openapi.json", RawClient.ALICE));
    row(
        "GET /v1/openapi.json",
        304,
        doors -> {
          String etag = get(doors, "/v1/openapi.json", RawClient.ALICE).header("ETag");
          return get(
              doors, "/v1/openapi.json", RawClient.ALICE + "If-None-Match: " + etag + "\r\n");
        });
    row("POST /v1/login", 200, doors -> login(doors, RawClient.ALICE));
    row("DELETE /v1/login", 204, doors -> logout(doors, bearer(doors)));
    row("DELETE /v1/login", 400, doors -> logout(doors, RawClient.ALICE));
    row("GET /health/live", 200, doors -> get(doors, "/health/live", ""));
    row("GET /health/ready", 200, doors -> get(doors, "/health/ready", ""));
    row(
        "GET /health/ready",
        503,
        doors -> ContractDoors.send(doors.unready(), "GET", "/health/ready", HOST, ""));
    row("GET /metrics", 200, doors -> get(doors, "/metrics", MONITOR));
    row("GET /metrics", 403, doors -> get(doors, "/metrics", RawClient.ALICE));
  }

  /// @param operation as `GET /v1`
  private void row(String operation, int status, Provocation provocation) {
    if (rows.put(operation + " " + status, provocation) != null) {
      throw new IllegalStateException("two rows for " + operation + " " + status);
    }
  }

  /// Rows of what is not documented.
  List<String> unknown(List<String> documented) {
    List<String> unknown = new ArrayList<>(rows.keySet());
    unknown.removeAll(documented);
    return unknown;
  }

  /// Null: nobody knows how.
  @Nullable Provocation find(String method, String path, int status) {
    Provocation row = rows.get(method + " " + path + " " + status);
    return row == null ? everywhere(method, path, status) : row;
  }

  private static @Nullable Provocation everywhere(String method, String template, int status) {
    String path = example(template);
    return switch (status) {
      case 400 ->
          doors ->
              ContractDoors.send(
                  doors.usual(), method, path + "?unknwn=1", HOST + RawClient.ALICE, "");
      case 401 -> doors -> ContractDoors.send(doors.usual(), method, path, HOST, "");
      case 403 ->
          doors ->
              ContractDoors.send(
                  doors.usual(),
                  method,
                  path,
                  HOST + RawClient.ALICE + "Origin: http://evil.example\r\n",
                  "");
      case 421 ->
          doors ->
              ContractDoors.send(
                  doors.usual(), method, path, "Host: evil.example\r\n" + RawClient.ALICE, "");
      case 429 ->
          doors -> ContractDoors.send(doors.crowded(), method, path, HOST + RawClient.ALICE, "");
      default -> null;
    };
  }

  /// A path that the template takes.
  private static String example(String template) {
    return template
        .replace("{n}", "0")
        .replace("{handle}", "0".repeat(32))
        .replaceAll("\\{\\w+}", "x");
  }

  private static Answer get(ContractDoors doors, String path, String fields) throws IOException {
    return ContractDoors.send(doors.usual(), "GET", path, HOST + fields, "");
  }

  private static Answer login(ContractDoors doors, String fields) throws IOException {
    return ContractDoors.send(doors.usual(), "POST", "/v1/login", HOST + fields, "");
  }

  private static Answer logout(ContractDoors doors, String fields) throws IOException {
    return ContractDoors.send(doors.usual(), "DELETE", "/v1/login", HOST + fields, "");
  }

  private static String bearer(ContractDoors doors) throws IOException {
    Matcher token = TOKEN.matcher(login(doors, RawClient.ALICE).text());
    if (!token.find()) {
      throw new AssertionError("no token");
    }
    return "Authorization: Bearer " + token.group(1) + "\r\n";
  }
}
