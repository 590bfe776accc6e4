package dev.kakehashi.applications.type;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The JSON text of payloads: objects as maps, arrays as lists, numbers as [BigDecimal]; written with the spaces and escapes that jsonb
/// has.
///
/// Stateless. Users' code sees none of the library, see [dev.kakehashi.applications.jar].
final class PayloadText {
  private static final int MAX_DEPTH = 100;
  private static final int MAX_NUMBER = 1_000;
  private static final int MAX_EXPONENT_DIGITS = 4;

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  // Depth and numbers are bounded here; a payload is bounded before it is read.
                  .maxNestingDepth(MAX_DEPTH + 2)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .build())
          // Names are users': a table of them would grow without end.
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .disable(JsonWriteFeature.WRITE_HEX_UPPER_CASE)
          // Calls have virtual threads, where a buffer of the thread is never used again.
          .recyclerPool(JsonRecyclerPools.sharedConcurrentDequePool())
          .build();

  private PayloadText() {}

  /// Reads a text that is one value. The last of several members of one name counts.
  ///
  /// @throws IllegalArgumentException it is no JSON
  static @Nullable Object read(String text) {
    try (JsonParser parser = JSON.createParser(text.toCharArray())) {
      if (parser.nextToken() == null) {
        throw wrong(text.length());
      }
      Object value = value(parser, 0);
      if (parser.nextToken() != null) {
        throw wrong(parser.currentTokenLocation().getCharOffset());
      }
      return value;
    } catch (JsonProcessingException e) {
      throw wrong(e.getLocation().getCharOffset());
    } catch (IOException e) {
      // From memory: nothing else can fail.
      throw new UncheckedIOException(e);
    }
  }

  /// The value that begins with the parser's token.
  private static @Nullable Object value(JsonParser parser, int depth) throws IOException {
    if (depth > MAX_DEPTH) {
      throw new IllegalArgumentException("JSON is nested deeper than " + MAX_DEPTH);
    }
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
          parser.nextToken();
          object.put(name, value(parser, depth + 1));
        }
        yield object;
      }
      case START_ARRAY -> {
        List<@Nullable Object> array = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          array.add(value(parser, depth + 1));
        }
        yield array;
      }
      case VALUE_STRING -> parser.getText();
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> number(parser);
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> throw wrong(parser.currentTokenLocation().getCharOffset());
    };
  }

  private static BigDecimal number(JsonParser parser) throws IOException {
    String number = parser.getText();
    int exponent = Math.max(number.indexOf('e'), number.indexOf('E'));
    if (number.length() > MAX_NUMBER
        || (exponent >= 0 && digits(number, exponent + 1) > MAX_EXPONENT_DIGITS)) {
      throw wrong(parser.currentTokenLocation().getCharOffset() + number.length());
    }
    return new BigDecimal(number);
  }

  private static int digits(String number, int from) {
    char sign = number.charAt(from);
    return number.length() - from - (sign == '+' || sign == '-' ? 1 : 0);
  }

  /// @param offset where the parser has noticed it: at a wrong character, or behind a wrong word
  private static IllegalArgumentException wrong(long offset) {
    return new IllegalArgumentException("this is no JSON at character " + (offset + 1));
  }

  /// Writes one text, which the writer has when the generator is closed.
  static JsonGenerator generator(Writer out) throws IOException {
    return JSON.createGenerator(out).setPrettyPrinter(new Spaced());
  }

  /// Spaces as in jsonb.
  private static final class Spaced extends MinimalPrettyPrinter {
    private static final long serialVersionUID = 1;

    @Override
    public void writeObjectFieldValueSeparator(JsonGenerator out) throws IOException {
      out.writeRaw(": ");
    }

    @Override
    public void writeObjectEntrySeparator(JsonGenerator out) throws IOException {
      out.writeRaw(", ");
    }

    @Override
    public void writeArrayValueSeparator(JsonGenerator out) throws IOException {
      out.writeRaw(", ");
    }
  }
}
