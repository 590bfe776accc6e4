package dev.kakehashi.applications.table;

import dev.kakehashi.applications.type.JavaType;
import dev.kakehashi.applications.type.RecordShape;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.DirectAccess;
import dev.kakehashi.engine.api.application.DirectTable.Column;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Collects the rows of a statement as objects of a class: a record by the names of columns, or a class of the table of types from the only
/// column. Used by one thread.
@SuppressWarnings("NullAway") // results of users' code may be null: the type parameter is theirs
public final class QueryRows<R> implements DirectAccess.RowConsumer {
  private final Class<R> type;
  private final @Nullable JavaType value;
  private final @Nullable RecordShape shape;
  private final long maxRows;
  private final List<R> rows = new ArrayList<>();
  private int @Nullable [] columnOf;

  public QueryRows(Class<R> type, Shapes shapes, long maxRows, long maxBytes) {
    this.type = type;
    value = JavaType.of(type);
    shape = value == null ? shapes.record(type) : null;
    this.maxRows = Math.min(maxRows, maxBytes);
  }

  public List<R> list() {
    return rows;
  }

  @Override
  public boolean row(List<Column> columns, @Nullable Object[] values) {
    if (rows.size() >= maxRows) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "a query gives more than " + maxRows + " rows, max_rows");
    }
    if (columnOf == null) {
      columnOf = columns(columns);
    }
    try {
      rows.add(cast(make(values, columnOf)));
    } catch (EngineException e) {
      throw e;
    } catch (Throwable t) {
      throw Rethrown.unchecked(t);
    }
    return true;
  }

  private @Nullable Object make(@Nullable Object[] values, int[] columnOf) throws Throwable {
    if (value != null) {
      return value.toJava(values[columnOf[0]], "the column");
    }
    @Nullable Object[] components = new Object[columnOf.length];
    for (int i = 0; i < columnOf.length; i++) {
      components[i] = values[columnOf[i]];
    }
    return java.util.Objects.requireNonNull(shape).make(components);
  }

  @SuppressWarnings("unchecked") // also of primitive classes, whose objects no cast knows
  private R cast(@Nullable Object row) {
    return (R) row;
  }

  private int[] columns(List<Column> columns) {
    if (value != null) {
      if (columns.size() != 1) {
        throw new EngineException(
            ErrorCode.DATATYPE_MISMATCH,
            "the statement has " + columns.size() + " columns, and " + type.getName() + " is one");
      }
      check(value, columns.getFirst(), type.getName());
      return new int[] {0};
    }
    RecordShape its = java.util.Objects.requireNonNull(shape);
    int[] found = new int[its.fields().size()];
    for (int i = 0; i < found.length; i++) {
      Field field = its.fields().get(i);
      found[i] = -1;
      for (int c = 0; c < columns.size() && found[i] < 0; c++) {
        if (columns.get(c).name().equals(field.name())) {
          found[i] = c;
        }
      }
      if (found[i] < 0) {
        throw new EngineException(
            ErrorCode.UNDEFINED_COLUMN,
            "the statement has no column \"" + field.name() + "\" for record " + type.getName());
      }
      check(its.typeOf(i), columns.get(found[i]), "component " + field.name());
    }
    return found;
  }

  private static void check(JavaType type, Column column, String what) {
    if (!type.fits(column.typeOid())) {
      throw new EngineException(
          ErrorCode.DATATYPE_MISMATCH,
          "column \""
              + column.name()
              + "\" has another type than "
              + what
              + ", a "
              + type.type().getTypeName());
    }
  }
}
