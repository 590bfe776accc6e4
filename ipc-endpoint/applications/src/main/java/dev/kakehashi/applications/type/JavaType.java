package dev.kakehashi.applications.type;

import dev.kakehashi.application.Json;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// A class of the table of `dev.kakehashi.application` with its type of SQL. Immutable, thread-safe.
///
/// @param type as users' code has it
/// @param oid PostgreSQL's
/// @param boxed class of its objects
public record JavaType(Class<?> type, int oid, Class<?> boxed) {
  private static final Map<Class<?>, Integer> OIDS = new HashMap<>();
  private static final Map<Class<?>, Class<?>> BOXED = new HashMap<>();

  static {
    add(boolean.class, Boolean.class, TypeOid.BOOL);
    add(short.class, Short.class, TypeOid.INT2);
    add(int.class, Integer.class, TypeOid.INT4);
    add(long.class, Long.class, TypeOid.INT8);
    add(float.class, Float.class, TypeOid.FLOAT4);
    add(double.class, Double.class, TypeOid.FLOAT8);
    OIDS.put(BigDecimal.class, TypeOid.NUMERIC);
    OIDS.put(String.class, TypeOid.TEXT);
    OIDS.put(byte[].class, TypeOid.BYTEA);
    OIDS.put(LocalDate.class, TypeOid.DATE);
    OIDS.put(LocalTime.class, TypeOid.TIME);
    OIDS.put(LocalDateTime.class, TypeOid.TIMESTAMP);
    OIDS.put(Instant.class, TypeOid.TIMESTAMPTZ);
    OIDS.put(Duration.class, TypeOid.INTERVAL);
    OIDS.put(UUID.class, TypeOid.UUID);
    OIDS.put(Json.class, TypeOid.JSONB);
  }

  private static void add(Class<?> primitive, Class<?> boxed, int oid) {
    OIDS.put(primitive, oid);
    OIDS.put(boxed, oid);
    BOXED.put(primitive, boxed);
  }

  /// @return null: the class has no counterpart
  public static @Nullable JavaType of(Class<?> type) {
    Integer oid = OIDS.get(type);
    if (oid == null && type.isArray()) {
      Integer element = OIDS.get(type.getComponentType());
      oid = element == null ? null : TypeOid.arrayOf(element);
    }
    return oid == null ? null : new JavaType(type, oid, BOXED.getOrDefault(type, type));
  }

  /// Whether null may be given.
  public boolean isNullable() {
    return !type.isPrimitive();
  }

  /// Whether an object of the seam is one of users' code without a change.
  public boolean isPlain() {
    return type != Json.class && (!type.isArray() || type == byte[].class);
  }

  /// Whether a column of this type can be read and written as this class.
  public boolean fits(int columnOid) {
    return plainOid(columnOid) == oid;
  }

  /// The types of text are one, and those of JSON.
  private static int plainOid(int columnOid) {
    return switch (columnOid) {
      case TypeOid.VARCHAR, TypeOid.BPCHAR -> TypeOid.TEXT;
      case TypeOid.JSON -> TypeOid.JSONB;
      default -> {
        int element = TypeOid.element(columnOid);
        yield element == TypeOid.UNSPECIFIED || plainOid(element) == element
            ? columnOid
            : TypeOid.arrayOf(plainOid(element));
      }
    };
  }

  /// A value of the seam as one of users' code.
  ///
  /// @param place for the message
  /// @throws EngineException NULL_VALUE_NOT_ALLOWED of a primitive type
  public @Nullable Object toJava(@Nullable Object value, String place) {
    if (value == null) {
      if (type.isPrimitive()) {
        throw new EngineException(
            ErrorCode.NULL_VALUE_NOT_ALLOWED,
            place + " is null, and " + type.getName() + " has no null");
      }
      return null;
    }
    if (isPlain()) {
      return boxed.cast(value);
    }
    if (type == Json.class) {
      return new Json((String) value);
    }
    Object[] elements = (Object[]) value;
    Class<?> component = type.getComponentType();
    Object array = Array.newInstance(component, elements.length);
    JavaType element = elementType();
    for (int i = 0; i < elements.length; i++) {
      Array.set(array, i, element.toJava(elements[i], "an element of " + place));
    }
    return array;
  }

  /// A value of users' code as one of the seam.
  ///
  /// @throws EngineException NULL_VALUE_NOT_ALLOWED of a primitive type
  /// @throws ClassCastException the value is of another class, which generics did not notice
  public @Nullable Object toSql(@Nullable Object value) {
    if (value == null) {
      if (type.isPrimitive()) {
        throw new EngineException(
            ErrorCode.NULL_VALUE_NOT_ALLOWED, "a value of " + type.getName() + " is null");
      }
      return null;
    }
    if (isPlain()) {
      return boxed.cast(value);
    }
    if (type == Json.class) {
      return ((Json) value).text();
    }
    Object[] elements = new Object[Array.getLength(value)];
    JavaType element = elementType();
    for (int i = 0; i < elements.length; i++) {
      elements[i] = element.toSql(Array.get(value, i));
    }
    return elements;
  }

  private JavaType elementType() {
    JavaType element = of(type.getComponentType());
    if (element == null) {
      throw new IllegalStateException(type.getName());
    }
    return element;
  }
}
