package dev.kakehashi.applications.type;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.kakehashi.application.Json;
import dev.kakehashi.applications.Refusals;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.Payload;
import dev.kakehashi.protocol.ErrorCode;
import java.io.StringWriter;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Meaning of a class as the payload of tasks. `byte[]` is any bytes. A record is a JSON object with its components by their names of SQL,
/// or as they are written. [Json] and the other classes of the table are JSON texts.
///
/// Immutable, thread-safe.
public final class PayloadShape {
  private final Class<?> type;
  private final @Nullable JavaType value;
  private final @Nullable RecordShape shape;
  private final String[] written;
  private final Integer[] order;

  private PayloadShape(Class<?> type, @Nullable JavaType value, @Nullable RecordShape shape) {
    this.type = type;
    this.value = value;
    this.shape = shape;
    int count = shape == null ? 0 : shape.fields().size();
    written = new String[count];
    order = new Integer[count];
    if (shape != null) {
      RecordComponent[] components = type.getRecordComponents();
      for (int i = 0; i < count; i++) {
        written[i] = components[i].getName();
        order[i] = i;
      }
      // As jsonb has them: the shorter first.
      Arrays.sort(
          order,
          Comparator.comparingInt((Integer i) -> shape.fields().get(i).name().length())
              .thenComparing(i -> shape.fields().get(i).name()));
    }
  }

  /// @param place for messages
  public static PayloadShape of(Class<?> type, String place) {
    JavaType known = JavaType.of(type);
    if (known != null) {
      return new PayloadShape(type, known, null);
    }
    if (type.isRecord()) {
      return new PayloadShape(type, null, RecordShape.of(type, place));
    }
    throw Refusals.of(
        "%s: class %s of its payload is neither a record nor one with a counterpart in SQL",
        place, type.getName());
  }

  /// The object of a payload.
  ///
  /// @throws EngineException INVALID_TEXT_REPRESENTATION: it is none of this class
  /// @throws Throwable what the constructor of a record throws
  public @Nullable Object read(Payload payload) throws Throwable {
    if (type == byte[].class) {
      return payload.bytes();
    }
    if (!payload.json()) {
      throw wrong("it is no JSON", null);
    }
    String text = new String(payload.bytes(), StandardCharsets.UTF_8);
    if (type == Json.class) {
      return new Json(text);
    }
    try {
      Object json = PayloadText.read(text);
      if (value != null) {
        return value.toJava(value.toSql(PayloadValues.read(value, json)), "the payload");
      }
      return record((Map<?, ?>) java.util.Objects.requireNonNull(json, "payload"));
    } catch (EngineException e) {
      throw e;
    } catch (IllegalArgumentException
        | ArithmeticException
        | ClassCastException
        | NullPointerException
        | java.time.DateTimeException e) {
      throw wrong(String.valueOf(e.getMessage()), e);
    }
  }

  private Object record(Map<?, ?> object) {
    RecordShape its = java.util.Objects.requireNonNull(shape);
    @Nullable Object[] values = new Object[written.length];
    for (int i = 0; i < values.length; i++) {
      String name = its.fields().get(i).name();
      JavaType component = its.typeOf(i);
      Object json = object.containsKey(name) ? object.get(name) : object.get(written[i]);
      values[i] = component.toSql(nonNull(PayloadValues.read(component, json), component, name));
    }
    try {
      return its.make(values);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static @Nullable Object nonNull(@Nullable Object value, JavaType type, String name) {
    if (value == null && !type.isNullable()) {
      throw new IllegalArgumentException(name + " is missing or null");
    }
    return value;
  }

  /// The payload of an object.
  ///
  /// @throws EngineException DATATYPE_MISMATCH: it is of another class
  public Payload write(@Nullable Object payload) throws Throwable {
    if (payload instanceof byte[] bytes && type == byte[].class) {
      return new Payload(false, bytes.clone());
    }
    StringWriter out = new StringWriter();
    try (JsonGenerator json = PayloadText.generator(out)) {
      if (shape == null) {
        PayloadValues.write(json, payload);
      } else if (payload == null || !type.isInstance(payload)) {
        throw new EngineException(
            ErrorCode.DATATYPE_MISMATCH, "the payload is no " + type.getName());
      } else {
        json.writeStartObject();
        for (int component : order) {
          json.writeFieldName(shape.fields().get(component).name());
          PayloadValues.write(
              json,
              shape.typeOf(component).toJava(shape.get(payload, component), written[component]));
        }
        json.writeEndObject();
      }
    }
    return new Payload(true, out.toString().getBytes(StandardCharsets.UTF_8));
  }

  private EngineException wrong(String why, @Nullable Throwable cause) {
    return new EngineException(
        ErrorCode.INVALID_TEXT_REPRESENTATION,
        "the payload of the task is no " + type.getName() + ": " + why,
        cause);
  }
}
