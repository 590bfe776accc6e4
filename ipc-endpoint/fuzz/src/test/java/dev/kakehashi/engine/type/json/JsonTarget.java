package dev.kakehashi.engine.type.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.JsonParameters;
import dev.kakehashi.fuzz.FuzzTarget;
import dev.kakehashi.fuzz.Verdict;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.rest.json.StrictJson;
import dev.kakehashi.rest.json.Utf8Text;
import dev.kakehashi.rest.problem.Problem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/// A JSON text in all places that take one: a body of a request, parameters of a statement, and a value of json and jsonb.
///
/// The text that jsonb makes of a value, it makes of that text again.
public final class JsonTarget implements FuzzTarget {
  private static final int[] TYPES = {
    TypeOid.INT4, TypeOid.TEXT, TypeOid.NUMERIC, TypeOid.TIMESTAMP, TypeOid.JSONB, TypeOid.BYTEA
  };
  private static final int MAX_MEMBERS = 100;

  private static final JsonFactory FACTORY = new JsonFactory();

  @Override
  public void run(byte[] input) throws IOException {
    body(input);
    parameters(input);
    value(new String(input, StandardCharsets.UTF_8));
  }

  private static void body(byte[] input) {
    try {
      StrictJson.read(input, JsonTarget::visit);
    } catch (Problem e) {
      refused(e);
    }
  }

  private static boolean visit(StrictJson json) throws IOException {
    switch (json.token()) {
      case START_OBJECT -> json.members(MAX_MEMBERS, name -> visit(json));
      case START_ARRAY -> json.array(MAX_MEMBERS, index -> visit(json));
      case VALUE_STRING -> json.text();
      case VALUE_NUMBER_INT -> json.number(Long.MIN_VALUE, Long.MAX_VALUE);
      case VALUE_TRUE, VALUE_FALSE -> json.bool();
      default -> json.rawText();
    }
    return true;
  }

  private static void parameters(byte[] input) throws IOException {
    try {
      // As the door does, before it keeps the bytes of the parameters.
      Utf8Text.check(input);
    } catch (Problem e) {
      refused(e);
      return;
    }
    try (var parser = FACTORY.createParser(input)) {
      if (parser.nextToken() != null) {
        JsonParameters.rows(parser, TYPES, new JsonParameters.Limits(MAX_MEMBERS, 1 << 20));
      }
    } catch (EngineException e) {
      refused(e);
    } catch (JsonProcessingException e) {
      // Broken JSON, as it declares.
      return;
    }
  }

  private static void value(String text) {
    try {
      JsonParser.asWritten(text);
    } catch (EngineException e) {
      refused(e);
    }
    String first;
    try {
      JsonValue value = JsonParser.parse(text);
      JsonbText.pretty(value);
      first = JsonbText.of(value);
    } catch (EngineException e) {
      refused(e);
      return;
    }
    String second = JsonbText.of(JsonParser.parse(first));
    if (!first.equals(second)) {
      throw new AssertionError("jsonb makes %s of %s".formatted(second, first));
    }
  }

  private static void refused(RuntimeException e) {
    if (!Verdict.isRefusal(e)) {
      throw e;
    }
  }
}
