package dev.kakehashi.applications.type;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.kakehashi.application.Json;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Values of users' code as JSON: numbers and booleans as themselves, bytes in base64, times in ISO 8601, everything else as strings.
final class PayloadValues {
  private PayloadValues() {}

  /// @param value of a class of the table of types
  static void write(JsonGenerator out, @Nullable Object value) throws IOException {
    switch (value) {
      case null -> out.writeNull();
      case Boolean flag -> out.writeBoolean(flag);
      case Double number when !Double.isFinite(number) -> out.writeString(number.toString());
      case Float number when !Float.isFinite(number) -> out.writeString(number.toString());
      case BigDecimal number -> out.writeNumber(number.toPlainString());
      case Number number -> out.writeNumber(number.toString());
      case Json json -> out.writeRawValue(json.text());
      case byte[] bytes -> out.writeString(Base64.getEncoder().encodeToString(bytes));
      case Object array when array.getClass().isArray() -> {
        out.writeStartArray();
        for (int i = 0; i < Array.getLength(array); i++) {
          write(out, Array.get(array, i));
        }
        out.writeEndArray();
      }
      default -> out.writeString(value.toString());
    }
  }

  /// @param json of [PayloadText#read]
  /// @throws RuntimeException it is no value of the type
  static @Nullable Object read(JavaType type, @Nullable Object json) {
    if (json == null) {
      return null;
    }
    Class<?> boxed = type.boxed();
    if (boxed.isArray() && boxed != byte[].class) {
      List<?> elements = (List<?>) json;
      Class<?> component = boxed.getComponentType();
      JavaType element = java.util.Objects.requireNonNull(JavaType.of(component));
      Object array = Array.newInstance(component, elements.size());
      for (int i = 0; i < elements.size(); i++) {
        Array.set(array, i, read(element, elements.get(i)));
      }
      return array;
    }
    if (boxed == Json.class) {
      return new Json(rewritten(json));
    }
    if (boxed == Boolean.class) {
      return (Boolean) json;
    }
    if (Number.class.isAssignableFrom(boxed)) {
      return number(boxed, json);
    }
    return text(boxed, (String) json);
  }

  private static Object number(Class<?> boxed, Object json) {
    if (boxed == Double.class && json instanceof String text) {
      return Double.valueOf(text);
    }
    if (boxed == Float.class && json instanceof String text) {
      return Float.valueOf(text);
    }
    BigDecimal number = (BigDecimal) json;
    if (boxed == Short.class) {
      return number.shortValueExact();
    }
    if (boxed == Integer.class) {
      return number.intValueExact();
    }
    if (boxed == Long.class) {
      return number.longValueExact();
    }
    if (boxed == Float.class) {
      return number.floatValue();
    }
    return boxed == Double.class ? (Object) number.doubleValue() : number;
  }

  private static Object text(Class<?> boxed, String text) {
    if (boxed == byte[].class) {
      return Base64.getDecoder().decode(text);
    }
    if (boxed == LocalDate.class) {
      return LocalDate.parse(text);
    }
    if (boxed == LocalTime.class) {
      return LocalTime.parse(text);
    }
    if (boxed == LocalDateTime.class) {
      return LocalDateTime.parse(text);
    }
    if (boxed == Instant.class) {
      return Instant.parse(text);
    }
    if (boxed == Duration.class) {
      return Duration.parse(text);
    }
    return boxed == UUID.class ? UUID.fromString(text) : text;
  }

  private static String rewritten(Object json) {
    StringWriter text = new StringWriter();
    try (JsonGenerator out = PayloadText.generator(text)) {
      rewrite(out, json);
    } catch (IOException e) {
      // Into memory: nothing can fail.
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  private static void rewrite(JsonGenerator out, @Nullable Object json) throws IOException {
    switch (json) {
      case Map<?, ?> object -> {
        out.writeStartObject();
        for (Map.Entry<?, ?> each : object.entrySet()) {
          out.writeFieldName((String) each.getKey());
          rewrite(out, each.getValue());
        }
        out.writeEndObject();
      }
      case List<?> array -> {
        out.writeStartArray();
        for (Object element : array) {
          rewrite(out, element);
        }
        out.writeEndArray();
      }
      case null, default -> write(out, json);
    }
  }
}
