package dev.kakehashi.tools.shell.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/// Makes of a problem (RFC 9457) what shared memory would have said.
final class ProblemReader {
  private static final int MOST_TEXT = 200;
  private static final int UNAUTHORIZED = 401;

  private ProblemReader() {}

  /// @param body a JSON object; something else is shown as it is
  static Failure failure(int status, byte[] body) {
    Map<String, String> members;
    try {
      members = members(body);
    } catch (IOException none) {
      String text = new String(body, StandardCharsets.UTF_8).strip();
      members =
          Map.of(
              "detail",
              "HTTP " + status + " " + text.substring(0, Math.min(text.length(), MOST_TEXT)));
    }
    String sqlstate = members.getOrDefault("sqlstate", "");
    ErrorCode code =
        status == UNAUTHORIZED ? ErrorCode.AUTHENTICATION_FAILED : ErrorCode.CANNOT_CONNECT;
    return new Failure(
        code.number(),
        sqlstate.isEmpty() ? code.sqlstate() : sqlstate,
        members.getOrDefault("detail", members.getOrDefault("title", "HTTP " + status)),
        members.getOrDefault("sqlDetail", ""),
        members.getOrDefault("hint", ""),
        members.getOrDefault("schema", ""),
        members.getOrDefault("table", ""),
        members.getOrDefault("column", ""),
        members.getOrDefault("constraint", ""),
        position(members.getOrDefault("position", "0")),
        false);
  }

  private static int position(String text) {
    return text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : 0;
  }

  private static Map<String, String> members(byte[] body) throws IOException {
    Map<String, String> members = new HashMap<>();
    try (JsonParser json = new JsonFactory().createParser(body)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("the problem is no object");
      }
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        JsonToken value = json.nextToken();
        if (value.isStructStart()) {
          json.skipChildren();
        } else {
          members.put(name, json.getText());
        }
      }
    }
    return members;
  }
}
