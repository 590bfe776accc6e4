package dev.kakehashi.applications.child;

import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.applications.link.MessageWriter;
import dev.kakehashi.engine.api.application.DirectTable;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A table of the engine on the other side of a lane.
final class RemoteTable implements DirectTable {
  private final HostLane lane;
  private final int number;
  private final List<Column> columns;
  private final List<String> key;

  RemoteTable(HostLane lane, int number, List<Column> columns, List<String> key) {
    this.lane = lane;
    this.number = number;
    this.columns = List.copyOf(columns);
    this.key = List.copyOf(key);
  }

  @Override
  public List<Column> columns() {
    return columns;
  }

  @Override
  public List<String> key() {
    return key;
  }

  @Override
  public void select(List<String> selected) {
    lane.tell(LinkKind.SELECT, to -> to.putInt(number).putTexts(selected));
  }

  @Override
  @SuppressWarnings("NullAway") // no row is null
  public @Nullable Object @Nullable [] find(Object[] values, boolean lock) {
    return lane.ask(
        LinkKind.FIND, to -> to.putInt(number).put(lock).putValues(values), RemoteTable::found);
  }

  private static @Nullable Object @Nullable [] found(MessageReader from) {
    return from.getBoolean() ? from.getValues() : null;
  }

  @Override
  public Rows range(@Nullable String index, Object[] from, Object[] to) {
    return lane.ask(
        LinkKind.RANGE,
        writer -> writer.putInt(number).putOptionalText(index).putValues(from).putValues(to),
        RemoteRows::new);
  }

  @Override
  public Rows all() {
    return lane.ask(LinkKind.ALL, to -> to.putInt(number), RemoteRows::new);
  }

  @Override
  public void insert(@Nullable Object[] values) {
    lane.tell(LinkKind.INSERT, to -> row(to, values));
  }

  private void row(MessageWriter to, @Nullable Object[] values) {
    to.putInt(number).putValues(values);
  }

  @Override
  public boolean update(@Nullable Object[] values) {
    return lane.ask(LinkKind.UPDATE, to -> row(to, values), MessageReader::getBoolean);
  }

  @Override
  public boolean delete(Object[] keys) {
    return lane.ask(LinkKind.DELETE, to -> row(to, keys), MessageReader::getBoolean);
  }

  /// Rows that are read, some hundred at a time.
  private final class RemoteRows implements Rows {
    private static final byte MORE = 0;
    private static final byte ROW = 1;

    private final int cursor;
    private final ArrayDeque<@Nullable Object[]> rows = new ArrayDeque<>();
    private boolean more;

    RemoteRows(MessageReader from) {
      cursor = from.getInt();
      more = take(from);
    }

    private boolean take(MessageReader from) {
      byte next = from.get();
      while (next == ROW) {
        rows.add(from.getValues());
        next = from.get();
      }
      return next == MORE;
    }

    @Override
    public @Nullable Object @Nullable [] next() {
      while (rows.isEmpty() && more) {
        more = lane.ask(LinkKind.NEXT, to -> to.putInt(cursor), this::take);
      }
      return rows.poll();
    }

    @Override
    public void close() {
      rows.clear();
      if (more) {
        more = false;
        lane.tell(LinkKind.CLOSE_ROWS, to -> to.putInt(cursor));
      }
    }
  }
}
