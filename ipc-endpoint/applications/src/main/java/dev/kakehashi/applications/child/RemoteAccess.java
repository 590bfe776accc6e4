package dev.kakehashi.applications.child;

import dev.kakehashi.applications.link.ContentsCodec;
import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.engine.api.application.ApplicationHost.DirectTransaction;
import dev.kakehashi.engine.api.application.ApplicationHost.JoinedAccess;
import dev.kakehashi.engine.api.application.DirectTable;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A transaction of the engine on the other side of a lane.
///
/// @see HostLane
final class RemoteAccess implements DirectTransaction, JoinedAccess {
  private final RemoteHost host;
  private final HostLane lane;
  private final Consumer<HostLane> end;
  private final AtomicBoolean open = new AtomicBoolean(true);

  /// @param end gets the lane back when the transaction has ended
  RemoteAccess(RemoteHost host, HostLane lane, Consumer<HostLane> end) {
    this.host = host;
    this.lane = lane;
    this.end = end;
  }

  @Override
  public DirectTable table(String name) {
    return lane()
        .ask(
            LinkKind.TABLE,
            to -> to.putText(name),
            from ->
                new RemoteTable(
                    lane, from.getInt(), from.getList(RemoteAccess::column), from.getTexts()));
  }

  static DirectTable.Column column(MessageReader from) {
    return new DirectTable.Column(
        from.getText(), from.getInt(), from.getBoolean(), from.getBoolean());
  }

  @Override
  public long execute(String sql, @Nullable Object[] parameters, @Nullable RowConsumer rows) {
    RowTaker taker = new RowTaker(rows);
    return lane()
        .ask(
            LinkKind.EXECUTE,
            to -> to.putText(sql).putValues(parameters).put(rows != null),
            MessageReader::getLong,
            taker::take);
  }

  /// Rows of a statement as they come.
  private static final class RowTaker {
    private final @Nullable RowConsumer consumer;
    private List<DirectTable.Column> columns = List.of();

    RowTaker(@Nullable RowConsumer consumer) {
      this.consumer = consumer;
    }

    private boolean take(MessageReader from) {
      if (from.getBoolean()) {
        columns = from.getList(RemoteAccess::column);
      }
      while (from.getBoolean()) {
        if (consumer == null || !consumer.row(columns, from.getValues())) {
          return false;
        }
      }
      return true;
    }
  }

  @Override
  public void savepoint() {
    lane().tell(LinkKind.SAVEPOINT, to -> {});
  }

  @Override
  public void releaseSavepoint() {
    lane().tell(LinkKind.RELEASE_SAVEPOINT, to -> {});
  }

  @Override
  public void rollbackToSavepoint() {
    lane().tell(LinkKind.ROLLBACK_TO_SAVEPOINT, to -> {});
  }

  @Override
  public long enqueue(String queue, NewTask task) {
    return lane()
        .ask(
            LinkKind.ENQUEUE,
            to -> ContentsCodec.put(to.putText(queue), task),
            MessageReader::getLong);
  }

  @Override
  public void complete(String token) {
    lane().tell(LinkKind.COMPLETE, to -> to.putText(token));
  }

  @Override
  public void fail(String token, String error) {
    lane().tell(LinkKind.FAIL, to -> to.putText(token).putText(error));
  }

  @Override
  public void cancel() {
    host.cancel(lane.number());
  }

  @Override
  public void commit() {
    end(LinkKind.COMMIT);
  }

  @Override
  public void rollback() {
    if (open.get()) {
      end(LinkKind.ROLLBACK);
    }
  }

  /// The end of a call's part in a transaction of others, which goes on.
  @Override
  public void close() {
    if (open.get()) {
      end(LinkKind.LEAVE);
    }
  }

  /// A commit that failed is a rollback.
  private void end(byte kind) {
    HostLane used = lane();
    try {
      used.tell(kind, to -> {});
    } catch (EngineException e) {
      if (kind == LinkKind.COMMIT) {
        used.tell(LinkKind.ROLLBACK, to -> {});
      }
      throw e;
    } finally {
      leave();
    }
  }

  /// Gives the lane back; nothing is asked by this one any more.
  void leave() {
    if (open.compareAndSet(true, false)) {
      end.accept(lane);
    }
  }

  private HostLane lane() {
    if (!open.get()) {
      throw new EngineException(
          ErrorCode.NO_SUCH_TRANSACTION, "the transaction is not used by this call any more");
    }
    return lane;
  }
}
