package dev.kakehashi.testkit;

import dev.kakehashi.application.Json;
import dev.kakehashi.client.ResultColumn;
import dev.kakehashi.client.Rows;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Makes an object of each row: a record of its columns, or the value of its only one.
final class RecordReader<R> {
  private final Class<R> row;
  private final Class<?>[] types;
  private final int[] columns;

  /// @throws IllegalArgumentException for a class without a counterpart, a component without a column
  RecordReader(Class<R> row, List<ResultColumn> described) {
    this.row = row;
    if (!row.isRecord()) {
      if (described.size() != 1) {
        throw new IllegalArgumentException(
            row.getName() + " has one column, and the statement gives " + described.size());
      }
      types = new Class<?>[] {row};
      columns = new int[] {0};
      return;
    }
    RecordComponent[] components = row.getRecordComponents();
    types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    columns = Arrays.stream(components).mapToInt(one -> find(one, described)).toArray();
  }

  private static int find(RecordComponent component, List<ResultColumn> described) {
    String name =
        component.getName().replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
    for (int i = 0; i < described.size(); i++) {
      if (described.get(i).name().equals(name)) {
        return i;
      }
    }
    throw new IllegalArgumentException(
        "the statement gives no column \"" + name + "\" for component " + component.getName());
  }

  R read(Rows rows) {
    @Nullable Object[] values = new Object[types.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = rows.isNull(columns[i]) ? null : value(rows, columns[i], types[i]);
    }
    if (!row.isRecord()) {
      @SuppressWarnings("unchecked") // of a primitive class, too, whose object it is
      R only = (R) values[0];
      return only;
    }
    try {
      Constructor<R> constructor = row.getDeclaredConstructor(types);
      constructor.setAccessible(true);
      return constructor.newInstance(values);
    } catch (NoSuchMethodException | InstantiationException | IllegalAccessException e) {
      throw new IllegalArgumentException("no " + row.getName() + " can be made", e);
    } catch (InvocationTargetException e) {
      throw new IllegalArgumentException(
          row.getName() + " refuses " + Arrays.toString(values), e.getCause());
    }
  }

  private static Object value(Rows rows, int column, Class<?> type) {
    return switch (type.getName()) {
      case "boolean", "java.lang.Boolean" -> rows.getBoolean(column);
      case "short", "java.lang.Short" -> (short) rows.getInt(column);
      case "int", "java.lang.Integer" -> rows.getInt(column);
      case "long", "java.lang.Long" -> rows.getLong(column);
      case "float", "java.lang.Float" -> rows.getFloat(column);
      case "double", "java.lang.Double" -> rows.getDouble(column);
      default -> object(rows, column, type);
    };
  }

  private static Object object(Rows rows, int column, Class<?> type) {
    if (type == String.class) {
      return rows.getString(column);
    } else if (type == BigDecimal.class) {
      return rows.getBigDecimal(column);
    } else if (type == byte[].class) {
      return rows.getBytes(column);
    } else if (type == LocalDate.class) {
      return rows.getDate(column);
    } else if (type == LocalTime.class) {
      return rows.getTime(column);
    } else if (type == LocalDateTime.class) {
      return rows.getTimestamp(column);
    } else if (type == Instant.class) {
      return rows.getTimestamptz(column);
    } else if (type == UUID.class) {
      return rows.getUuid(column);
    } else if (type == Json.class) {
      return new Json(rows.getString(column));
    }
    throw new IllegalArgumentException("the kit reads no " + type.getName());
  }
}
