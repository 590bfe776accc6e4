package dev.kakehashi.engine.store.api;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Where the columns of a table lie in its rows. A row has stored columns; their numbers only grow, and what a dropped column has left
/// stays until its row is replaced. A row that was written before a column was added ends before it, and has the column's missing value.
/// Immutable.
///
/// @param widthWritten whether each row in the durable image says how many stored columns it has; rows of a table made before that was so
///     all have the same
/// @param pageColumns stored columns that the table was made with: pages are laid out for them, so the number never changes
/// @param stored all stored columns
/// @param positions stored column of each column of the table
public record Placement(
    boolean widthWritten, int pageColumns, List<Stored> stored, List<Integer> positions) {

  /// A stored column.
  ///
  /// @param missing what rows have that end before it, as [dev.kakehashi.engine.store.index.ValueCodec] writes it; null: they have null
  public record Stored(ColumnKind kind, @Nullable ByteBuffer missing) {}

  /// Where a column of a table's new form comes from.
  ///
  /// @param column position in the present form; -1: it is new
  /// @param missing of a new column
  public record Origin(int column, @Nullable ByteBuffer missing) {
    /// A column that is there already.
    public static Origin of(int column) {
      return new Origin(column, null);
    }

    /// A new column that the rows present have a value of.
    ///
    /// @param missing as [dev.kakehashi.engine.store.index.ValueCodec#value] writes it; null: they have null
    public static Origin added(@Nullable ByteBuffer missing) {
      return new Origin(-1, missing);
    }
  }

  /// That of a new table.
  public static Placement of(List<ColumnKind> kinds, boolean widthWritten) {
    return new Placement(
        widthWritten,
        kinds.size(),
        kinds.stream().map(kind -> new Stored(kind, null)).toList(),
        IntStream.range(0, kinds.size()).boxed().toList());
  }

  /// Stored column of a column.
  public int position(int column) {
    return positions.get(column);
  }

  /// Whether each stored column is one of the table.
  public boolean[] live() {
    boolean[] live = new boolean[stored.size()];
    positions.forEach(c -> live[c] = true);
    return live;
  }

  /// Kinds of the stored columns.
  public List<ColumnKind> kinds() {
    return stored.stream().map(Stored::kind).toList();
  }

  /// That of the table's next form.
  ///
  /// @param taken kinds of the stored columns whose numbers are used up in memory: those of columns whose addition was rolled back included
  /// @param kinds of the columns of the next form
  /// @param origins of each of them
  public Placement next(List<ColumnKind> taken, List<ColumnKind> kinds, List<Origin> origins) {
    List<Stored> columns = new ArrayList<>(stored);
    boolean adds = origins.stream().anyMatch(origin -> origin.column() < 0);
    for (int i = columns.size(); adds && i < taken.size(); i++) {
      columns.add(new Stored(taken.get(i), null));
    }
    List<Integer> next = new ArrayList<>();
    for (int i = 0; i < origins.size(); i++) {
      Origin origin = origins.get(i);
      if (origin.column() >= 0) {
        next.add(position(origin.column()));
      } else {
        next.add(columns.size());
        columns.add(new Stored(kinds.get(i), origin.missing()));
      }
    }
    return new Placement(widthWritten, pageColumns, List.copyOf(columns), List.copyOf(next));
  }
}
