package dev.kakehashi.applications.type;

import dev.kakehashi.applications.Refusals;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Meaning of a class of results: columns, and the row of an object. Immutable.
public sealed interface ResultShape {
  /// Name of the first column of a sealed interface's rows: which of its records it is.
  String KIND = "kind";

  /// Columns by order; empty: no rows.
  List<Field> fields();

  /// The row of a result.
  ///
  /// @throws EngineException NULL_VALUE_NOT_ALLOWED: a row is null
  @Nullable Object[] row(@Nullable Object result) throws Throwable;

  /// @param column name of the column of a class that is no record
  /// @param place for messages
  static ResultShape of(Class<?> type, String column, String place) {
    if (type == Void.class || type == void.class) {
      return new Nothing();
    }
    JavaType known = JavaType.of(type);
    if (known != null) {
      return new Value(known, List.of(new Field(column, known.oid(), known.isNullable())));
    }
    if (type.isRecord()) {
      return new Row(RecordShape.of(type, place));
    }
    if (type.isSealed() && type.isInterface()) {
      return Kinds.of(type, place);
    }
    throw Refusals.of(
        "%s: class %s of its result is no record, no sealed interface of records, and has no counterpart in SQL",
        place, type.getName());
  }

  private static EngineException noRow() {
    return new EngineException(ErrorCode.NULL_VALUE_NOT_ALLOWED, "a row of the result is null");
  }

  /// No rows.
  record Nothing() implements ResultShape {
    @Override
    public List<Field> fields() {
      return List.of();
    }

    @Override
    public @Nullable Object[] row(@Nullable Object result) {
      return new Object[0];
    }
  }

  /// One column.
  record Value(JavaType type, List<Field> fields) implements ResultShape {
    @Override
    public @Nullable Object[] row(@Nullable Object result) {
      return new @Nullable Object[] {type.toSql(result)};
    }
  }

  /// The components of a record.
  record Row(RecordShape shape) implements ResultShape {
    @Override
    public List<Field> fields() {
      return shape.fields();
    }

    @Override
    public @Nullable Object[] row(@Nullable Object result) throws Throwable {
      if (result == null) {
        throw noRow();
      }
      return shape.read(result);
    }
  }

  /// The kind, and the components of all records of a sealed interface; those that a record does not have are null.
  record Kinds(List<Field> fields, Map<Class<?>, Kind> kinds) implements ResultShape {
    /// @param columns column of each component
    record Kind(String name, RecordShape shape, int[] columns) {}

    static Kinds of(Class<?> type, String place) {
      List<Field> fields = new ArrayList<>();
      fields.add(new Field(KIND, TypeOid.TEXT, false));
      Map<Class<?>, Kind> kinds = new HashMap<>();
      List<Class<?>> records = new ArrayList<>();
      collect(type, records, place);
      for (Class<?> each : records) {
        RecordShape shape = RecordShape.of(each, place);
        int[] columns = new int[shape.fields().size()];
        for (int i = 0; i < columns.length; i++) {
          columns[i] = column(fields, shape.fields().get(i), each, place);
        }
        kinds.put(each, new Kind(each.getSimpleName(), shape, columns));
      }
      return new Kinds(List.copyOf(fields), kinds);
    }

    private static void collect(Class<?> type, List<Class<?>> records, String place) {
      for (Class<?> each : type.getPermittedSubclasses()) {
        if (each.isRecord()) {
          if (!records.contains(each)) {
            records.add(each);
          }
        } else if (each.isSealed() && each.isInterface()) {
          collect(each, records, place);
        } else {
          throw Refusals.of(
              "%s: class %s of sealed interface %s is no record",
              place, each.getName(), type.getName());
        }
      }
    }

    private static int column(List<Field> fields, Field field, Class<?> type, String place) {
      for (int i = 0; i < fields.size(); i++) {
        Field known = fields.get(i);
        if (!known.name().equals(field.name())) {
          continue;
        }
        if (i == 0) {
          throw Refusals.of(
              "%s: component %s of record %s has the name of the column that says which record a row is",
              place, field.name(), type.getName());
        }
        if (known.typeOid() != field.typeOid()) {
          throw Refusals.of(
              "%s: component %s of record %s has another type than the one of the same name of another record",
              place, field.name(), type.getName());
        }
        return i;
      }
      fields.add(new Field(field.name(), field.typeOid(), true));
      return fields.size() - 1;
    }

    @Override
    public @Nullable Object[] row(@Nullable Object result) throws Throwable {
      if (result == null) {
        throw noRow();
      }
      Kind kind = kinds.get(result.getClass());
      if (kind == null) {
        throw new EngineException(
            ErrorCode.DATATYPE_MISMATCH, "the result is a " + result.getClass().getName());
      }
      @Nullable Object[] values = new Object[fields.size()];
      values[0] = kind.name;
      for (int i = 0; i < kind.columns.length; i++) {
        values[kind.columns[i]] = kind.shape.get(result, i);
      }
      return values;
    }
  }
}
