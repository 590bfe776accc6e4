package dev.kakehashi.rest.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import dev.kakehashi.rest.problem.Problem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads one JSON body from its beginning to its end. Each value is read once, in the order of the body; one that has another type, a
/// member that is unknown or comes twice, and a broken text are a [Problem] with the place (RFC 6901). One use, one thread.
///
/// ```java
/// String sql = StrictJson.read(body, json -> {
///   String[] text = {""};
///   json.object(List.of("sql"), name -> text[0] = json.text());
///   return text[0];
/// });
/// ```
public final class StrictJson {
  /// Most objects and arrays in each other.
  public static final int MAX_DEPTH = 64;

  /// Digits of a number.
  public static final int MAX_NUMBER = 1000;

  private static final int MAX_NAME = 1000;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(MAX_NUMBER)
                  .maxNameLength(MAX_NAME)
                  // The body is bounded before it is read.
                  .maxStringLength(Integer.MAX_VALUE)
                  .build())
          // A place in the source would repeat what the client has sent.
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .build();

  private final JsonParser parser;

  private StrictJson(JsonParser parser) {
    this.parser = parser;
  }

  /// Makes something of a body. On a value of the body as the parser has it now.
  @FunctionalInterface
  public interface Reader<T> {
    T read(StrictJson json) throws IOException;
  }

  /// Takes the value of a member.
  @FunctionalInterface
  public interface Member {
    void read(String name) throws IOException;
  }

  /// Takes an element.
  @FunctionalInterface
  public interface Element {
    void read(int index) throws IOException;
  }

  /// Reads a whole body, which has one value.
  ///
  /// @throws Problem 400: it is no JSON, or not what the reader asks for
  public static <T> T read(byte[] body, Reader<T> reader) {
    Utf8Text.check(body);
    try (JsonParser parser = FACTORY.createParser(body)) {
      StrictJson json = new StrictJson(parser);
      if (parser.nextToken() == null) {
        throw broken("the body is empty");
      }
      T value = reader.read(json);
      if (parser.nextToken() != null) {
        throw broken("something follows the JSON value");
      }
      return value;
    } catch (JsonEOFException e) {
      throw broken("the JSON text ends early");
    } catch (StreamConstraintsException e) {
      throw broken("the JSON text is nested too deeply, or has too long a number or name");
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      throw broken(
          "the JSON text is broken at byte " + Math.max(0, e.getLocation().getByteOffset()));
    } catch (IOException e) {
      // From memory: nothing else can fail.
      throw new UncheckedIOException(e);
    }
  }

  private static Problem broken(String detail) {
    return Problem.of(400, "broken-json", "Broken JSON", detail);
  }

  /// Reads an object.
  ///
  /// @param known names of its members
  /// @param member called for each, and reads its value
  public void object(List<String> known, Member member) throws IOException {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      throw wrong("an object");
    }
    Set<String> seen = new HashSet<>(8);
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      if (!known.contains(name)) {
        throw Problem.unknownName("member", name, known).withPointer(pointer());
      }
      if (!seen.add(name)) {
        throw broken("member \"" + name + "\" comes twice").withPointer(pointer());
      }
      parser.nextToken();
      member.read(name);
    }
  }

  /// Reads an object whose members have any names.
  ///
  /// @param most members
  /// @param member called for each, and reads its value
  public void members(int most, Member member) throws IOException {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      throw wrong("an object");
    }
    Set<String> seen = new HashSet<>(8);
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      if (!seen.add(name)) {
        throw broken("member \"" + name + "\" comes twice").withPointer(pointer());
      }
      if (seen.size() > most) {
        throw Problem.badRequest("an object has more than " + most + " members")
            .withPointer(pointer());
      }
      parser.nextToken();
      member.read(name);
    }
  }

  /// Reads an array.
  ///
  /// @param maxLength of it
  /// @param element called for each, and reads it
  public void array(int maxLength, Element element) throws IOException {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw wrong("an array");
    }
    int index = 0;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (index == maxLength) {
        throw Problem.badRequest("an array has more than " + maxLength + " elements")
            .withPointer(pointer());
      }
      element.read(index);
      index++;
    }
  }

  /// Reads a string.
  public String text() throws IOException {
    if (parser.currentToken() != JsonToken.VALUE_STRING) {
      throw wrong("a string");
    }
    String text = parser.getText();
    if (Utf8Text.hasLoneSurrogate(text)) {
      throw broken("a string has half of a character").withPointer(pointer());
    }
    return text;
  }

  /// Reads a string or null.
  public @Nullable String textOrNull() throws IOException {
    return isNull() ? null : text();
  }

  public boolean isNull() {
    return parser.currentToken() == JsonToken.VALUE_NULL;
  }

  /// Reads a whole number.
  public long number(long min, long max) throws IOException {
    if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT
        && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
      long value = parser.getLongValue();
      if (value >= min && value <= max) {
        return value;
      }
    }
    throw wrong("a whole number from " + min + " to " + max);
  }

  public boolean bool() throws IOException {
    return switch (parser.currentToken()) {
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> throw wrong("true or false");
    };
  }

  /// Current token: for members that take several types.
  public JsonToken token() {
    return parser.currentToken();
  }

  /// The text of a string or number as it was sent, after unescaping.
  public String rawText() throws IOException {
    return token() == JsonToken.VALUE_STRING ? text() : parser.getText();
  }

  /// The parser at the value that comes, for values that are copied as they are. It has to be left at the last token of the value.
  public JsonParser parser() {
    return parser;
  }

  /// Where the value is (RFC 6901).
  public String pointer() {
    return parser.getParsingContext().pathAsPointer().toString();
  }

  /// The value is not what is needed here.
  ///
  /// @param expected as `a string`
  public Problem wrong(String expected) {
    String pointer = pointer();
    return Problem.of(
            400,
            "wrong-type",
            "Wrong type",
            (pointer.isEmpty() ? "the body" : pointer) + " is not " + expected)
        .withPointer(pointer);
  }
}
