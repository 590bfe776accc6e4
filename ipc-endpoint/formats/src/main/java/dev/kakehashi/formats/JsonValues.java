package dev.kakehashi.formats;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.number.DecimalText;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// A JSON value of a request as the text that json or jsonb has in a row batch.
///
/// json: without blanks, members in their order, numbers as written. jsonb: as PostgreSQL writes it: members by length and bytes of their
/// names, the last of several with one name, numbers as numeric, blanks after colons and commas.
public final class JsonValues {
  private static final Comparator<byte[]> NAMES =
      Comparator.<byte[]>comparingInt(name -> name.length).thenComparing(Arrays::compareUnsigned);

  private final boolean binary;
  private final int maxBytes;
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  /// Bytes of the scalars and names so far: few characters of a number can be many of numeric.
  private long held;

  private JsonValues(boolean binary, int maxBytes) {
    this.binary = binary;
    this.maxBytes = maxBytes;
  }

  /// Reads the value that the parser is at, to its end.
  ///
  /// @param typeOid json or jsonb
  /// @throws EngineException LIMIT_EXCEEDED, UNTRANSLATABLE_CHARACTER, CHARACTER_NOT_IN_REPERTOIRE, NUMERIC_VALUE_OUT_OF_RANGE
  public static byte[] read(JsonParser parser, int typeOid, int maxBytes) throws IOException {
    JsonValues values = new JsonValues(typeOid == TypeOid.JSONB, maxBytes);
    values.write(values.node(parser));
    return values.out.toByteArray();
  }

  /// Members, a list of nodes, or the text of a scalar in UTF-8.
  private Object node(JsonParser parser) throws IOException {
    JsonToken token = parser.currentToken();
    return switch (token) {
      case START_OBJECT -> members(parser);
      case START_ARRAY -> {
        List<Object> elements = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          elements.add(node(parser));
        }
        yield elements;
      }
      case VALUE_STRING -> string(parser.getText());
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> number(parser.getText());
      default -> parser.getText().getBytes(StandardCharsets.US_ASCII);
    };
  }

  private Object members(JsonParser parser) throws IOException {
    Map<byte[], Member> sorted = new TreeMap<>(NAMES);
    List<Member> members = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      byte[] quoted = string(name);
      parser.nextToken();
      Object value = node(parser);
      if (binary) {
        sorted.put(name.getBytes(StandardCharsets.UTF_8), new Member(quoted, value));
      } else {
        members.add(new Member(quoted, value));
      }
    }
    return new Members(binary ? List.copyOf(sorted.values()) : members);
  }

  private record Member(byte[] name, Object value) {}

  private record Members(List<Member> all) {}

  private byte[] string(String text) {
    boolean hasNul = text.indexOf('\0') >= 0;
    if (hasNul && binary) {
      throw new EngineException(
              ErrorCode.UNTRANSLATABLE_CHARACTER, "unsupported Unicode escape sequence")
          .withDetail("\\u0000 cannot be converted to text.");
    }
    TextInput.utf8(hasNul ? text.replace('\0', ' ') : text);
    return hold(JsonText.quoted(text));
  }

  private byte[] hold(byte[] text) {
    held += text.length;
    if (held > maxBytes) {
      throw tooLong();
    }
    return text;
  }

  private EngineException tooLong() {
    return new EngineException(
        ErrorCode.LIMIT_EXCEEDED, "JSON value is longer than " + maxBytes + " bytes");
  }

  private byte[] number(String text) {
    String shown = binary ? DecimalText.finite(text).toPlainString() : text;
    return hold(shown.getBytes(StandardCharsets.US_ASCII));
  }

  private void write(Object node) {
    switch (node) {
      case Members members -> {
        out.write('{');
        boolean first = true;
        for (Member member : members.all()) {
          separate(first);
          first = false;
          put(member.name());
          out.write(':');
          if (binary) {
            out.write(' ');
          }
          write(member.value());
        }
        out.write('}');
      }
      case List<?> elements -> {
        out.write('[');
        boolean first = true;
        for (Object element : elements) {
          separate(first);
          first = false;
          write(element);
        }
        out.write(']');
      }
      default -> put((byte[]) node);
    }
  }

  private void separate(boolean first) {
    if (!first) {
      out.write(',');
      if (binary) {
        out.write(' ');
      }
    }
  }

  private void put(byte[] text) {
    if (text.length > maxBytes - out.size()) {
      throw tooLong();
    }
    out.writeBytes(text);
  }
}
