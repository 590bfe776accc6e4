package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.StreamSupport;

/// An answer as it was read from the connection.
///
/// @param headers names in small letters; of several with one name the last
/// @param trailers as headers, of what came after the body
/// @param isWhole whether the body has ended as its framing says
record HttpAnswer(
    int status,
    Map<String, String> headers,
    byte[] body,
    Map<String, String> trailers,
    boolean isWhole) {
  static final String TRANSACTION = "Kakehashi-Transaction";
  private static final ObjectMapper JSON = new ObjectMapper();

  String text() {
    return new String(body, StandardCharsets.UTF_8);
  }

  /// Empty: there is none.
  String header(String name) {
    return headers.getOrDefault(name.toLowerCase(Locale.ROOT), "");
  }

  /// Empty: there is none.
  String trailer(String name) {
    return trailers.getOrDefault(name.toLowerCase(Locale.ROOT), "");
  }

  static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(text, e);
    }
  }

  JsonNode json() {
    return json(text());
  }

  HttpAnswer expect(int expected) {
    assertEquals(expected, status, this::toString);
    assertTrue(isWhole, () -> "the body is broken: " + this);
    return this;
  }

  /// A problem, with its SQLSTATE.
  JsonNode problem(int expected, String sqlstate) {
    expect(expected);
    assertEquals("application/problem+json", header("Content-Type"));
    JsonNode problem = json();
    assertEquals(expected, problem.path("status").asInt(), this::toString);
    assertEquals(sqlstate, problem.path("sqlstate").asText(), this::toString);
    assertFalse(text().contains("\tat "), this::toString);
    assertFalse(text().contains("dev.kakehashi."), this::toString);
    return problem;
  }

  /// Rows of a JSON document, each value as text.
  List<List<String>> rows() {
    return StreamSupport.stream(json().path("rows").spliterator(), false)
        .map(row -> StreamSupport.stream(row.spliterator(), false).map(JsonNode::asText).toList())
        .toList();
  }

  /// The only value of the only row.
  String value() {
    expect(200);
    List<List<String>> rows = rows();
    assertEquals(1, rows.size(), this::toString);
    return rows.getFirst().getFirst();
  }

  /// How the answer says that its transaction stands, as `active`.
  String state() {
    return header(TRANSACTION).split(";", 2)[0];
  }

  /// A parameter of the field of the transaction; empty: there is none.
  String transaction(String parameter) {
    for (String part : header(TRANSACTION).split(";", -1)) {
      int equals = part.indexOf('=');
      if (equals > 0 && part.substring(0, equals).equals(parameter)) {
        return part.substring(equals + 1).replace("\"", "");
      }
    }
    return "";
  }

  /// The handle of its transaction.
  String handle() {
    String handle = transaction("handle");
    assertEquals(32, handle.length(), this::toString);
    return handle;
  }

  @Override
  public String toString() {
    String shown = body.length > 2000 ? body.length + " bytes" : text();
    return status + " " + headers + " " + shown + " " + trailers + (isWhole ? "" : " (broken)");
  }
}
