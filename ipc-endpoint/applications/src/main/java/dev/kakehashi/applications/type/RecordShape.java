package dev.kakehashi.applications.type;

import dev.kakehashi.applications.Refusals;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.error.EngineException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A record class of users' code: its components as fields of SQL, how to make one, and how to read it. Immutable, thread-safe. Holds the
/// class.
public final class RecordShape {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

  private final Class<?> type;
  private final List<Field> fields;
  private final JavaType[] types;
  private final boolean isPlain;
  private final MethodHandle maker;
  private final MethodHandle[] getters;

  private RecordShape(Class<?> type, List<Field> fields, JavaType[] types, String place) {
    this.type = type;
    this.fields = List.copyOf(fields);
    this.types = types;
    boolean plain = true;
    Class<?>[] parameters = new Class<?>[types.length];
    getters = new MethodHandle[types.length];
    try {
      MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type, LOOKUP);
      RecordComponent[] components = type.getRecordComponents();
      for (int i = 0; i < types.length; i++) {
        plain &= types[i].isPlain();
        parameters[i] = types[i].type();
        getters[i] =
            lookup
                .unreflect(components[i].getAccessor())
                .asType(MethodType.methodType(Object.class, Object.class));
      }
      maker =
          lookup
              .findConstructor(type, MethodType.methodType(void.class, parameters))
              .asType(MethodType.genericMethodType(types.length))
              .asSpreader(Object[].class, types.length);
    } catch (ReflectiveOperationException | LinkageError e) {
      throw Refusals.of("%s: record %s cannot be used: %s", place, type.getName(), e);
    }
    isPlain = plain;
  }

  /// @param place who uses it, for messages
  /// @throws EngineException INVALID_PARAMETER_VALUE naming record and component: a class without a counterpart, two of one name
  public static RecordShape of(Class<?> type, String place) {
    RecordComponent[] components;
    try {
      components = type.getRecordComponents();
    } catch (LinkageError e) {
      throw Refusals.of("%s: record %s cannot be linked: %s", place, type.getName(), e);
    }
    List<Field> fields = new ArrayList<>(components.length);
    JavaType[] types = new JavaType[components.length];
    for (int i = 0; i < components.length; i++) {
      RecordComponent component = components[i];
      JavaType known = JavaType.of(component.getType());
      if (known == null) {
        throw Refusals.of(
            "%s: component %s of record %s is a %s, which has no counterpart in SQL",
            place, component.getName(), type.getName(), component.getType().getTypeName());
      }
      types[i] = known;
      String name = MemberName.ofComponent(component.getName());
      MemberName.checked(name, "component of record " + type.getName());
      if (fields.stream().anyMatch(other -> other.name().equals(name))) {
        throw Refusals.of("%s: record %s has two components %s", place, type.getName(), name);
      }
      fields.add(new Field(name, known.oid(), known.isNullable()));
    }
    return new RecordShape(type, fields, types, place);
  }

  public Class<?> type() {
    return type;
  }

  public List<Field> fields() {
    return fields;
  }

  public JavaType typeOf(int component) {
    return types[component];
  }

  /// Makes a record of values of the seam.
  ///
  /// @param values one for each component; kept unchanged
  /// @throws EngineException NULL_VALUE_NOT_ALLOWED
  /// @throws Throwable what its constructor throws
  public Object make(@Nullable Object[] values) throws Throwable {
    if (isPlain && !hasNull(values)) {
      return maker.invokeExact(values);
    }
    @Nullable Object[] converted = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      converted[i] = types[i].toJava(values[i], fields.get(i).name());
    }
    return maker.invokeExact(converted);
  }

  /// Reads all components into values of the seam.
  public @Nullable Object[] read(Object row) throws Throwable {
    @Nullable Object[] values = new Object[types.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = get(row, i);
    }
    return values;
  }

  /// A component as a value of the seam.
  public @Nullable Object get(Object row, int component) throws Throwable {
    return types[component].toSql(getters[component].invokeExact(row));
  }

  private static boolean hasNull(@Nullable Object[] values) {
    for (Object value : values) {
      if (value == null) {
        return true;
      }
    }
    return false;
  }
}
