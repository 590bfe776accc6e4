package dev.kakehashi.tools.tpch;

import io.trino.tpch.TpchColumn;
import io.trino.tpch.TpchEntity;
import io.trino.tpch.TpchTable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/// A table: its generator, and how each of its columns is named and typed in PostgreSQL.
///
/// Built once, then read-only and thread-safe.
///
/// @param <E> row of the generator
public final class TableSpec<E extends TpchEntity> {
  /// Kind of a column's values, and so how they are read from a row.
  public enum Kind {
    INT4,
    INT8,
    /// numeric(15,2); values are handled as cents
    MONEY,
    DATE,
    CHARACTER,
    VARCHAR
  }

  /// A column.
  ///
  /// @param length characters of CHARACTER and VARCHAR, else 0
  public record Column<E extends TpchEntity>(
      String name, Kind kind, int length, TpchColumn<E> source) {
    /// The type as DDL says it.
    public String sqlType() {
      return switch (kind) {
        case INT4 -> "int4";
        case INT8 -> "int8";
        case MONEY -> "numeric(15,2)";
        case DATE -> "date";
        case CHARACTER -> "char(" + length + ")";
        case VARCHAR -> "varchar(" + length + ")";
      };
    }

    /// Days since 1970-01-01 of a DATE, cents of MONEY, else the integer.
    public long integer(E row) {
      return switch (kind) {
        case INT4, INT8 ->
            switch (source.getType().getBase()) {
              case INTEGER -> source.getInteger(row);
              case IDENTIFIER, DATE, DOUBLE, VARCHAR -> source.getIdentifier(row);
            };
        case DATE -> source.getDate(row);
        // The generator keeps cents and divides; the nearest cent is the exact one.
        case MONEY -> Math.round(source.getDouble(row) * 100);
        case CHARACTER, VARCHAR -> throw new IllegalStateException(name + " is no number");
      };
    }
  }

  private final TpchTable<E> source;
  private final long rowsAtScaleOne;
  private final boolean scales;
  private final List<Column<E>> columns = new ArrayList<>();
  private List<String> primaryKey = List.of();

  private TableSpec(TpchTable<E> source, long rowsAtScaleOne, boolean scales) {
    this.source = source;
    this.rowsAtScaleOne = rowsAtScaleOne;
    this.scales = scales;
  }

  static <E extends TpchEntity> TableSpec<E> of(
      TpchTable<E> source, long rowsAtScaleOne, boolean scales) {
    return new TableSpec<>(source, rowsAtScaleOne, scales);
  }

  TableSpec<E> int4(String name, TpchColumn<E> column) {
    return add(new Column<>(name, Kind.INT4, 0, column));
  }

  TableSpec<E> int8(String name, TpchColumn<E> column) {
    return add(new Column<>(name, Kind.INT8, 0, column));
  }

  TableSpec<E> money(String name, TpchColumn<E> column) {
    return add(new Column<>(name, Kind.MONEY, 0, column));
  }

  TableSpec<E> date(String name, TpchColumn<E> column) {
    return add(new Column<>(name, Kind.DATE, 0, column));
  }

  TableSpec<E> character(String name, TpchColumn<E> column, int length) {
    return add(new Column<>(name, Kind.CHARACTER, length, column));
  }

  TableSpec<E> varchar(String name, TpchColumn<E> column, int length) {
    return add(new Column<>(name, Kind.VARCHAR, length, column));
  }

  TableSpec<E> primaryKey(String... names) {
    primaryKey = List.of(names);
    return this;
  }

  private TableSpec<E> add(Column<E> column) {
    columns.add(column);
    return this;
  }

  public String name() {
    return source.getTableName();
  }

  public List<Column<E>> columns() {
    return List.copyOf(columns);
  }

  /// About how many rows there are; exact except for lineitem.
  public long estimatedRows(double scale) {
    return scales ? Math.round(rowsAtScaleOne * scale) : rowsAtScaleOne;
  }

  /// About how many bytes of a row's values lie on a batch's heap, each with its header and rounded up to 8.
  int meanHeapBytes() {
    int bytes = 0;
    for (Column<E> column : columns) {
      bytes +=
          switch (column.kind()) {
            case INT4, INT8, DATE -> 0;
            case MONEY -> 16;
            case CHARACTER -> roundUp(4 + column.length());
            // Texts are between nothing and their limit, comments about two thirds of it.
            case VARCHAR -> roundUp(4 + column.length() * 2 / 3);
          };
    }
    return bytes;
  }

  private static int roundUp(int bytes) {
    return (bytes + 7) & ~7;
  }

  /// All rows, in order of the primary key's first column. Generated while iterating; each call begins anew.
  public Iterable<E> rows(double scale) {
    return source.createGenerator(scale, 1, 1);
  }

  /// `CREATE TABLE`, in a schema.
  public String createTable(String schema) {
    return columns.stream()
        .map(column -> column.name() + " " + column.sqlType() + " NOT NULL")
        .collect(
            Collectors.joining(
                ", ",
                "CREATE TABLE " + schema + "." + name() + " (",
                ", PRIMARY KEY (" + String.join(", ", primaryKey) + "))"));
  }

  /// `INSERT` of one row of parameters.
  public String insert(String schema) {
    var names = new ArrayList<String>();
    var parameters = new ArrayList<String>();
    for (Column<E> column : columns) {
      names.add(column.name());
      parameters.add("$" + names.size());
    }
    return "INSERT INTO %s.%s (%s) VALUES (%s)"
        .formatted(schema, name(), String.join(", ", names), String.join(", ", parameters));
  }
}
