package dev.kakehashi.applications.table;

import dev.kakehashi.application.TypedTable;
import dev.kakehashi.applications.type.RecordShape;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.DirectTable;
import dev.kakehashi.engine.api.application.DirectTable.Column;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/// A table in the transaction of a call: rows as records, columns by the names of components. Used by the call's thread.
@SuppressWarnings("NullAway") // results of users' code may be null: the type parameter is theirs
public final class DirectTypedTable<R extends Record> implements TypedTable<R> {
  private final EngineBracket engine;
  private final String name;
  private final RecordShape shape;
  private final DirectTable table;
  private final Column[] key;
  private final Set<Reading> reading = new LinkedHashSet<>();
  private final int[] keyComponents; // empty: the record does not have all of the key

  private DirectTypedTable(
      EngineBracket engine,
      String name,
      RecordShape shape,
      DirectTable table,
      Column[] key,
      int[] keyComponents) {
    this.engine = engine;
    this.name = name;
    this.shape = shape;
    this.table = table;
    this.key = key;
    this.keyComponents = keyComponents;
  }

  /// @throws dev.kakehashi.application.EngineFailure UNDEFINED_TABLE, UNDEFINED_COLUMN, DATATYPE_MISMATCH, INSUFFICIENT_PRIVILEGE
  public static DirectTypedTable<?> open(EngineBracket engine, String name, RecordShape shape) {
    DirectTable table = engine.use(access -> access.table(name));
    List<Column> columns = table.columns();
    List<String> selected = new ArrayList<>();
    for (int i = 0; i < shape.fields().size(); i++) {
      Field field = shape.fields().get(i);
      Column column = find(columns, field.name());
      if (column == null) {
        throw SqlValues.failure(
            ErrorCode.UNDEFINED_COLUMN,
            "table \""
                + name
                + "\" has no column \""
                + field.name()
                + "\" for a component of record "
                + shape.type().getName());
      }
      if (!shape.typeOf(i).fits(column.typeOid())) {
        throw SqlValues.mismatch(
            "column \""
                + field.name()
                + "\" of table \""
                + name
                + "\" has another type than component "
                + field.name()
                + " of record "
                + shape.type().getName()
                + ", a "
                + shape.typeOf(i).type().getTypeName());
      }
      selected.add(field.name());
    }
    List<String> keyNames = table.key();
    Column[] key = new Column[keyNames.size()];
    int[] keyComponents = new int[key.length];
    boolean hasKey = key.length > 0;
    for (int i = 0; i < key.length; i++) {
      key[i] = java.util.Objects.requireNonNull(find(columns, keyNames.get(i)), "key column");
      keyComponents[i] = selected.indexOf(key[i].name());
      hasKey &= keyComponents[i] >= 0;
    }
    engine.use(access -> {
      table.select(selected);
      return null;
    });
    return new DirectTypedTable<>(
        engine, name, shape, table, key, hasKey ? keyComponents : new int[0]);
  }

  private static @Nullable Column find(List<Column> columns, String name) {
    for (Column column : columns) {
      if (column.name().equals(name)) {
        return column;
      }
    }
    return null;
  }

  // ---- reading ----

  @Override
  public Optional<R> find(Object... values) {
    return find(values, false);
  }

  @Override
  public Optional<R> findForUpdate(Object... values) {
    return find(values, true);
  }

  private Optional<R> find(Object[] values, boolean lock) {
    Object[] wanted = key(values);
    @Nullable Object @Nullable [] row = engine.use(access -> table.find(wanted, lock));
    return row == null ? Optional.empty() : Optional.of(record(row));
  }

  @Override
  public Stream<R> findAll(String index, Object... values) {
    @Nullable Object[] bound = SqlValues.ofAll(values);
    return rows(engine.use(access -> table.range(index, nonNull(bound), nonNull(bound))));
  }

  @Override
  public Stream<R> range(String index, Object[] from, Object[] to) {
    @Nullable Object[] first = SqlValues.ofAll(from);
    @Nullable Object[] last = SqlValues.ofAll(to);
    return rows(engine.use(access -> table.range(index, nonNull(first), nonNull(last))));
  }

  @Override
  public Stream<R> all() {
    return rows(engine.use(access -> table.all()));
  }

  private Stream<R> rows(DirectTable.Rows rows) {
    Reading its = new Reading(rows);
    reading.add(its);
    return StreamSupport.stream(
            Spliterators.spliteratorUnknownSize(its, Spliterator.ORDERED | Spliterator.NONNULL),
            false)
        .onClose(its::close);
  }

  /// Rows as they are asked for.
  private final class Reading implements Iterator<R> {
    private final DirectTable.Rows rows;
    private @Nullable Object @Nullable [] next;
    private boolean isOver;

    Reading(DirectTable.Rows rows) {
      this.rows = rows;
    }

    @Override
    public boolean hasNext() {
      if (next == null && !isOver) {
        next = engine.use(access -> rows.next());
        if (next == null) {
          isOver = true;
          close();
        }
      }
      return next != null;
    }

    @Override
    public R next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      R row = record(java.util.Objects.requireNonNull(next));
      next = null;
      return row;
    }

    void close() {
      isOver = true;
      if (!reading.remove(this)) {
        return;
      }
      engine.use(access -> {
        rows.close();
        return null;
      });
    }
  }

  /// Closes streams that were not read to their end, and not closed.
  public void closeRows() {
    List.copyOf(reading).forEach(Reading::close);
  }

  // ---- writing ----

  @Override
  public void insert(R row) {
    @Nullable Object[] values = values(row);
    engine.use(access -> {
      table.insert(values);
      return null;
    });
  }

  @Override
  public boolean update(R row) {
    needKey();
    @Nullable Object[] values = values(row);
    return engine.use(access -> table.update(values));
  }

  @Override
  public void put(R row) {
    needKey();
    @Nullable Object[] values = values(row);
    engine.use(access -> {
      if (!table.update(values)) {
        table.insert(values);
      }
      return null;
    });
  }

  @Override
  public boolean delete(Object... values) {
    Object[] wanted = key(values);
    return engine.use(access -> table.delete(wanted));
  }

  // ---- values ----

  private void needKey() {
    if (keyComponents.length == 0) {
      throw SqlValues.failure(
          ErrorCode.WRONG_OBJECT_TYPE,
          "record "
              + shape.type().getName()
              + " does not have the primary key of table \""
              + name
              + "\"");
    }
  }

  private Object[] key(Object[] values) {
    if (values.length != key.length || key.length == 0) {
      throw SqlValues.mismatch(
          "the primary key of table \""
              + name
              + "\" has "
              + key.length
              + " columns, not "
              + values.length);
    }
    Object[] converted = new Object[values.length];
    for (int i = 0; i < values.length; i++) {
      converted[i] = SqlValues.key(values[i], key[i].typeOid(), key[i].name());
    }
    return converted;
  }

  private static Object[] nonNull(@Nullable Object[] values) {
    for (Object value : values) {
      if (value == null) {
        throw SqlValues.failure(ErrorCode.NULL_VALUE_NOT_ALLOWED, "a value of an index is null");
      }
    }
    return values;
  }

  private R record(@Nullable Object[] values) {
    try {
      return cast(shape.make(values));
    } catch (Throwable t) {
      throw Rethrown.unchecked(t);
    }
  }

  @SuppressWarnings("unchecked") // the shape is that of R
  private R cast(Object row) {
    return (R) row;
  }

  private @Nullable Object[] values(R row) {
    try {
      return shape.read(row);
    } catch (Throwable t) {
      throw Rethrown.unchecked(t);
    }
  }
}
