package dev.kakehashi.rest.queue;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.kakehashi.rest.json.StrictJson;
import dev.kakehashi.rest.problem.Problem;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// New tasks as a client sends them: one JSON object, or an array of such.
///
/// | member | |
/// |---|---|
/// | `payload` | any JSON value; or |
/// | `body` | any bytes, as PostgreSQL writes a bytea: `\x` and hexadecimal digits. All tasks of a request have the one or the other |
/// | `key`, `fair`, `priority`, `run_at`, `unique_key`, `unique_for` | as in `enqueue()`; left out or null: none |
///
/// @param isBytes whether they have bodies
/// @param rows of parameters: queue, payload or body, and the other members in their order
record TaskBody(boolean isBytes, byte[] rows) {
  /// Tasks of one request.
  static final int MAX_TASKS = 10_000;

  private static final JsonFactory JSON = new JsonFactory();
  private static final List<String> OPTIONS =
      List.of("key", "fair", "priority", "run_at", "unique_key", "unique_for");
  private static final List<String> MEMBERS =
      List.of("payload", "body", "key", "fair", "priority", "run_at", "unique_key", "unique_for");

  /// Values of one task; null: left out.
  private static final class Task {
    @Nullable String payload;
    @Nullable String body;
    final @Nullable String[] options = new String[OPTIONS.size()];
  }

  /// @throws Problem 400
  static TaskBody read(String queue, byte[] body) {
    return StrictJson.read(body, json -> read(queue, json));
  }

  private static TaskBody read(String queue, StrictJson json) throws IOException {
    ByteArrayOutputStream rows = new ByteArrayOutputStream(256);
    int[] kinds = new int[2]; // tasks with a payload, and with a body
    try (JsonGenerator out = JSON.createGenerator(rows)) {
      out.writeStartArray();
      if (json.token() == JsonToken.START_ARRAY) {
        json.array(MAX_TASKS, index -> write(out, queue, task(json), kinds));
      } else {
        write(out, queue, task(json), kinds);
      }
      out.writeEndArray();
    }
    if (kinds[0] > 0 && kinds[1] > 0) {
      throw Problem.badRequest(
          "some tasks have a \"payload\" and others a \"body\": send them apart");
    }
    if (kinds[0] + kinds[1] == 0) {
      throw Problem.badRequest("the request has no task");
    }
    return new TaskBody(kinds[1] > 0, rows.toByteArray());
  }

  private static Task task(StrictJson json) throws IOException {
    Task task = new Task();
    json.object(
        MEMBERS,
        name -> {
          switch (name) {
            case "payload" -> task.payload = copy(json);
            case "body" -> task.body = json.text();
            case "priority" ->
                task.options[OPTIONS.indexOf(name)] =
                    json.isNull() ? null : Long.toString(json.number(0, Integer.MAX_VALUE));
            case "unique_for" ->
                task.options[OPTIONS.indexOf(name)] = WaitTime.orInterval(json.textOrNull());
            default -> task.options[OPTIONS.indexOf(name)] = json.textOrNull();
          }
        });
    if ((task.payload == null) == (task.body == null)) {
      throw Problem.badRequest("a task has either \"payload\" or \"body\"")
          .withPointer(json.pointer());
    }
    return task;
  }

  /// A value as it is, with all digits of its numbers.
  private static String copy(StrictJson json) throws IOException {
    StringWriter text = new StringWriter(128);
    try (JsonGenerator out = JSON.createGenerator(text)) {
      JsonParser parser = json.parser();
      int depth = 0;
      do {
        out.copyCurrentEventExact(parser);
        JsonToken token = parser.currentToken();
        depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
      } while (depth > 0 && parser.nextToken() != null);
    }
    return text.toString();
  }

  private static void write(JsonGenerator out, String queue, Task task, int[] kinds)
      throws IOException {
    out.writeStartArray();
    out.writeString(queue);
    kinds[task.payload != null ? 0 : 1]++;
    out.writeString(task.payload != null ? task.payload : task.body);
    for (String option : task.options) {
      out.writeString(option);
    }
    out.writeEndArray();
  }
}
