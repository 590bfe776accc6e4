package dev.kakehashi.applications.remote;

import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationHost.DirectTransaction;
import dev.kakehashi.engine.api.application.DirectTable;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/// An engine of one table in memory, for the seam's sake.
final class MapHost implements ApplicationHost {
  final ConcurrentSkipListMap<Long, @Nullable Object[]> rows = new ConcurrentSkipListMap<>();
  final List<String> events = new CopyOnWriteArrayList<>();

  @Override
  public byte[] jar(ApplicationDefinition.Jar jar) {
    throw new EngineException(ErrorCode.UNDEFINED_OBJECT, jar.name());
  }

  @Override
  public DirectTransaction begin(String user, String isolation) {
    events.add("begin " + user + " " + isolation);
    return new MapAccess();
  }

  @Override
  public JoinedAccess join(String user, String token) {
    return new MapAccess();
  }

  @Override
  public List<LeasedTask> receive(
      String user, String queue, String group, int max, long leaseMillis, long waitNanos) {
    return List.of();
  }

  @Override
  public void extend(String token, long leaseMillis) {
    events.add("extend " + token);
  }

  @Override
  public void release(List<String> tokens) {
    events.add("release " + tokens);
  }

  /// Every transaction is the same.
  final class MapAccess implements DirectTransaction, JoinedAccess, DirectTable {
    @Override
    public DirectTable table(String name) {
      return this;
    }

    @Override
    public long execute(String sql, @Nullable Object[] parameters, @Nullable RowConsumer consumer) {
      throw new EngineException(ErrorCode.SYNTAX_ERROR, "no SQL here");
    }

    @Override
    public void savepoint() {
      events.add("savepoint");
    }

    @Override
    public void releaseSavepoint() {
      events.add("release");
    }

    @Override
    public void rollbackToSavepoint() {
      events.add("rollback to");
    }

    @Override
    public long enqueue(String queue, NewTask task) {
      return 1;
    }

    @Override
    public void complete(String token) {
      events.add("complete");
    }

    @Override
    public void fail(String token, String error) {
      events.add("fail");
    }

    @Override
    public void cancel() {
      events.add("cancel");
    }

    @Override
    public void commit() {
      events.add("commit");
    }

    @Override
    public void close() {
      events.add("left");
    }

    @Override
    public void rollback() {
      events.add("rollback");
    }

    @Override
    public List<Column> columns() {
      return List.of(
          new Column("k", SmallSystem.INT8, true, false),
          new Column("v", SmallSystem.TEXT, false, false));
    }

    @Override
    public List<String> key() {
      return List.of("k");
    }

    @Override
    public void select(List<String> columns) {
      events.add("select " + columns);
    }

    @Override
    public @Nullable Object @Nullable [] find(Object[] values, boolean lock) {
      return rows.get((Long) values[0]);
    }

    @Override
    public Rows range(@Nullable String index, Object[] from, Object[] to) {
      return all();
    }

    @Override
    public Rows all() {
      Iterator<@Nullable Object[]> all = rows.values().iterator();
      return new Rows() {
        @Override
        public @Nullable Object @Nullable [] next() {
          return all.hasNext() ? all.next() : null;
        }

        @Override
        public void close() {
          events.add("closed");
        }
      };
    }

    @Override
    public void insert(@Nullable Object[] values) {
      rows.put((Long) java.util.Objects.requireNonNull(values[0]), values);
    }

    @Override
    public boolean update(@Nullable Object[] values) {
      return false;
    }

    @Override
    public boolean delete(Object[] key) {
      return rows.remove((Long) key[0]) != null;
    }
  }
}
