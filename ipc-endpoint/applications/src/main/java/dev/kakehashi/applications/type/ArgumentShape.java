package dev.kakehashi.applications.type;

import dev.kakehashi.applications.Refusals;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Meaning of a class of arguments: parameters, and the object that users' code gets. Immutable.
public sealed interface ArgumentShape {
  /// Parameters by order.
  List<Field> fields();

  /// @param values one for each parameter
  @Nullable Object make(@Nullable Object[] values) throws Throwable;

  /// @param place for messages
  static ArgumentShape of(Class<?> type, String place) {
    if (type == Void.class || type == void.class) {
      return new None();
    }
    JavaType known = JavaType.of(type);
    if (known != null) {
      return new One(known, List.of(new Field("", known.oid(), known.isNullable())));
    }
    if (type.isRecord()) {
      return new Several(RecordShape.of(type, place));
    }
    throw Refusals.of(
        "%s: class %s of its argument is neither a record nor one with a counterpart in SQL",
        place, type.getName());
  }

  /// No parameter.
  record None() implements ArgumentShape {
    @Override
    public List<Field> fields() {
      return List.of();
    }

    @Override
    public @Nullable Object make(@Nullable Object[] values) {
      return null;
    }
  }

  /// One value.
  record One(JavaType type, List<Field> fields) implements ArgumentShape {
    @Override
    public @Nullable Object make(@Nullable Object[] values) {
      return type.toJava(values[0], "the argument");
    }
  }

  /// A record of values.
  record Several(RecordShape shape) implements ArgumentShape {
    @Override
    public List<Field> fields() {
      return shape.fields();
    }

    @Override
    public @Nullable Object make(@Nullable Object[] values) throws Throwable {
      return shape.make(values);
    }
  }
}
