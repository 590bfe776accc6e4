package dev.kakehashi.applications.remote;

import dev.kakehashi.applications.link.ContentsCodec;
import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.LinkLane;
import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.applications.link.MessageWriter;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationHost.DirectTransaction;
import dev.kakehashi.engine.api.application.ApplicationHost.JoinedAccess;
import dev.kakehashi.engine.api.application.DirectAccess;
import dev.kakehashi.engine.api.application.DirectTable;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Requests of code in a process to the engine, by one lane. The session has the transaction of the lane, its tables, and rows that are
/// being read.
///
/// Used by the thread of the lane; [#cancel] by any. [#close] rolls back what the session has begun itself.
final class HostSession {
  private static final int REPLY_BYTES = 32 << 10;
  private static final int REPLY_ROWS = 256;
  private static final int MOST_TABLES = 1_000;
  private static final long MOST_MESSAGE = 1L << 28;

  private final LinkLane lane;
  private final ApplicationHost host;
  private final AllowedUsers users;
  private final List<DirectTable> tables = new ArrayList<>();
  private final Map<Integer, DirectTable.Rows> rows = new HashMap<>();
  private final MessageWriter reply = new MessageWriter();
  private int nextRows;
  private volatile @Nullable DirectAccess access;
  private @Nullable DirectTransaction transaction;
  private @Nullable JoinedAccess joined;

  /// @param access the caller's; null: what the process begins by this lane
  HostSession(
      LinkLane lane, ApplicationHost host, AllowedUsers users, @Nullable DirectAccess access) {
    this.lane = lane;
    this.host = host;
    this.users = users;
    this.access = access;
  }

  void cancel() {
    DirectAccess canceled = access;
    if (canceled != null) {
      canceled.cancel();
    }
  }

  /// Ends what the lane has begun.
  void close() {
    closeRows();
    tables.clear();
    DirectTransaction begun = transaction;
    JoinedAccess part = joined;
    transaction = null;
    joined = null;
    access = null;
    if (begun != null) {
      begun.rollback();
    }
    if (part != null) {
      part.close();
    }
  }

  private void closeRows() {
    rows.values().forEach(DirectTable.Rows::close);
    rows.clear();
  }

  /// Serves a request, whose kind has been read, and replies.
  void serve(byte kind, MessageReader request) throws InterruptedException {
    reply.begin(LinkKind.DONE);
    try {
      handle(kind, request);
    } catch (EngineException e) {
      reply.begin(LinkKind.FAILED).putFailure(e);
    }
    lane.send(reply);
  }

  private void handle(byte kind, MessageReader request) throws InterruptedException {
    switch (kind) {
      case LinkKind.BEGIN -> begin(request.getText(), request.getText());
      case LinkKind.JOIN -> {
        leave();
        JoinedAccess part = host.join(users.checked(request.getText()), request.getText());
        joined = part;
        access = part;
      }
      case LinkKind.LEAVE -> leave();
      case LinkKind.COMMIT -> {
        DirectTransaction ending = transaction();
        closeRows();
        tables.clear();
        ending.commit();
        transaction = null;
        access = null;
      }
      case LinkKind.ROLLBACK -> leave();
      case LinkKind.RECEIVE -> receive(request);
      case LinkKind.EXTEND -> host.extend(request.getText(), request.getLong());
      case LinkKind.RELEASE -> host.release(request.getTexts());
      default -> inTransaction(kind, request);
    }
  }

  private void begin(String user, String isolation) {
    leave();
    DirectTransaction begun = host.begin(users.checked(user), isolation);
    transaction = begun;
    access = begun;
  }

  /// Lanes of calls have the caller's transaction, which is not theirs to end.
  private void leave() {
    close();
  }

  private DirectTransaction transaction() {
    DirectTransaction begun = transaction;
    if (begun == null) {
      throw new EngineException(
          ErrorCode.NO_SUCH_TRANSACTION, "no transaction of the application is open");
    }
    return begun;
  }

  private DirectAccess access() {
    DirectAccess open = access;
    if (open == null) {
      throw new EngineException(
          ErrorCode.NO_SUCH_TRANSACTION, "no transaction of the application is open");
    }
    return open;
  }

  private void receive(MessageReader request) throws InterruptedException {
    List<LeasedTask> tasks =
        host.receive(
            users.checked(request.getText()),
            request.getText(),
            request.getText(),
            request.getInt(),
            request.getLong(),
            request.getLong());
    reply.putInt(tasks.size());
    tasks.forEach(task -> ContentsCodec.put(reply, task));
  }

  private void inTransaction(byte kind, MessageReader request) {
    DirectAccess open = access();
    switch (kind) {
      case LinkKind.TABLE -> table(open, request.getText());
      case LinkKind.EXECUTE -> execute(open, request);
      case LinkKind.SAVEPOINT -> open.savepoint();
      case LinkKind.RELEASE_SAVEPOINT -> open.releaseSavepoint();
      case LinkKind.ROLLBACK_TO_SAVEPOINT -> open.rollbackToSavepoint();
      case LinkKind.ENQUEUE ->
          reply.putLong(open.enqueue(request.getText(), ContentsCodec.newTask(request)));
      case LinkKind.COMPLETE -> open.complete(request.getText());
      case LinkKind.FAIL -> open.fail(request.getText(), request.getText());
      case LinkKind.NEXT -> next(request.getInt());
      case LinkKind.CLOSE_ROWS -> {
        DirectTable.Rows closed = rows.remove(request.getInt());
        if (closed != null) {
          closed.close();
        }
      }
      default -> inTable(kind, request);
    }
  }

  private void table(DirectAccess open, String name) {
    if (tables.size() == MOST_TABLES) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "a call uses more than " + MOST_TABLES + " tables");
    }
    DirectTable table = open.table(name);
    tables.add(table);
    reply.putInt(tables.size() - 1);
    putColumns(table.columns());
    reply.putTexts(table.key());
  }

  private void putColumns(List<DirectTable.Column> columns) {
    reply.putInt(columns.size());
    for (DirectTable.Column column : columns) {
      reply
          .putText(column.name())
          .putInt(column.typeOid())
          .put(column.notNull())
          .put(column.generated());
    }
  }

  /// Rows go in messages of their own, before the reply.
  private void execute(DirectAccess open, MessageReader request) {
    String sql = request.getText();
    @Nullable Object[] parameters = request.getValues();
    boolean wanted = request.getBoolean();
    RowMessages messages = new RowMessages();
    long count = open.execute(sql, parameters, wanted ? messages : null);
    if (wanted && !messages.enough) {
      messages.flush();
    }
    reply.begin(LinkKind.DONE).putLong(count);
  }

  /// Rows of a statement on their way.
  private final class RowMessages implements DirectAccess.RowConsumer {
    private final MessageReader answer = new MessageReader();
    private boolean begun;
    private boolean enough;
    private int count;

    @Override
    public boolean row(List<DirectTable.Column> columns, @Nullable Object[] values) {
      if (count == 0) {
        reply.begin(LinkKind.ROWS).put(!begun);
        if (!begun) {
          putColumns(columns);
          begun = true;
        }
      }
      reply.put(true).putValues(values);
      count++;
      if (reply.length() >= REPLY_BYTES || count == REPLY_ROWS) {
        flush();
      }
      return !enough;
    }

    private void flush() {
      if (count == 0) {
        return;
      }
      count = 0;
      reply.put(false);
      lane.send(reply);
      lane.receive(answer, MOST_MESSAGE, -1);
      enough = answer.get() != LinkKind.DONE;
    }
  }

  private void inTable(byte kind, MessageReader request) {
    int number = request.getInt();
    if (number < 0 || number >= tables.size()) {
      throw MessageReader.malformed("names no table");
    }
    DirectTable table = tables.get(number);
    switch (kind) {
      case LinkKind.SELECT -> table.select(request.getTexts());
      case LinkKind.FIND -> {
        boolean lock = request.getBoolean();
        @Nullable Object @Nullable [] row = table.find(keys(request), lock);
        reply.put(row != null);
        if (row != null) {
          reply.putValues(row);
        }
      }
      case LinkKind.RANGE ->
          open(table.range(request.getOptionalText(), keys(request), keys(request)));
      case LinkKind.ALL -> open(table.all());
      case LinkKind.INSERT -> table.insert(request.getValues());
      case LinkKind.UPDATE -> reply.put(table.update(request.getValues()));
      case LinkKind.DELETE -> reply.put(table.delete(keys(request)));
      default -> throw MessageReader.malformed("is of kind " + kind);
    }
  }

  private static Object[] keys(MessageReader request) {
    @Nullable Object[] values = request.getValues();
    Object[] keys = new Object[values.length];
    for (int i = 0; i < keys.length; i++) {
      Object value = values[i];
      if (value == null) {
        throw new EngineException(ErrorCode.NULL_VALUE_NOT_ALLOWED, "a value of a key is null");
      }
      keys[i] = value;
    }
    return keys;
  }

  /// The first rows go with the reply.
  private void open(DirectTable.Rows opened) {
    if (rows.size() >= MOST_TABLES) {
      opened.close();
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "a call reads more than " + MOST_TABLES + " ranges at a time");
    }
    int number = nextRows++;
    rows.put(number, opened);
    reply.putInt(number);
    next(number);
  }

  private void next(int number) {
    DirectTable.Rows read = rows.get(number);
    if (read == null) {
      throw MessageReader.malformed("names no rows");
    }
    for (int i = 0; i < REPLY_ROWS && reply.length() < REPLY_BYTES; i++) {
      @Nullable Object @Nullable [] row = read.next();
      if (row == null) {
        read.close();
        rows.remove(number);
        reply.put((byte) 2);
        return;
      }
      reply.put((byte) 1).putValues(row);
    }
    reply.put((byte) 0);
  }
}
