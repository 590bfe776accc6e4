package dev.kakehashi.applications.type;

import dev.kakehashi.application.Json;
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
  static void write(StringBuilder out, @Nullable Object value) {
    switch (value) {
      case null -> out.append("null");
      case Boolean flag -> out.append(flag);
      case Double number when !Double.isFinite(number) -> PayloadJson.write(out, number.toString());
      case Float number when !Float.isFinite(number) -> PayloadJson.write(out, number.toString());
      case BigDecimal number -> out.append(number.toPlainString());
      case Number number -> out.append(number);
      case Json json -> out.append(json.text());
      case byte[] bytes -> PayloadJson.write(out, Base64.getEncoder().encodeToString(bytes));
      case Object array when array.getClass().isArray() -> {
        out.append('[');
        for (int i = 0; i < Array.getLength(array); i++) {
          out.append(i == 0 ? "" : ", ");
          write(out, Array.get(array, i));
        }
        out.append(']');
      }
      default -> PayloadJson.write(out, value.toString());
    }
  }

  /// @param json of [PayloadJson#read]
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
      StringBuilder text = new StringBuilder();
      rewrite(text, json);
      return new Json(text.toString());
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

  private static void rewrite(StringBuilder out, @Nullable Object json) {
    switch (json) {
      case Map<?, ?> object -> {
        out.append('{');
        boolean isFirst = true;
        for (Map.Entry<?, ?> each : object.entrySet()) {
          out.append(isFirst ? "" : ", ");
          isFirst = false;
          PayloadJson.write(out, (String) each.getKey());
          out.append(": ");
          rewrite(out, each.getValue());
        }
        out.append('}');
      }
      case List<?> array -> {
        out.append('[');
        for (int i = 0; i < array.size(); i++) {
          out.append(i == 0 ? "" : ", ");
          rewrite(out, array.get(i));
        }
        out.append(']');
      }
      case null, default -> write(out, json);
    }
  }
}
