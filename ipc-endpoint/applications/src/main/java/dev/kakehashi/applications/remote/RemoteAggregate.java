package dev.kakehashi.applications.remote;

import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.applications.link.MessageWriter;
import dev.kakehashi.engine.api.application.LoadedApplication.AggregateCode;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// An aggregate in a process. A state keeps arguments here until they are [State#KEPT] rows or the state is needed, so that a small group
/// is one request.
final class RemoteAggregate implements AggregateCode {
  private static final AtomicLong STATES = new AtomicLong();

  private final RemoteUse use;
  private final int index;

  RemoteAggregate(RemoteUse use, int index) {
    this.use = use;
    this.index = index;
  }

  /// A state of the process, and arguments that it does not have yet. Used by one thread at a time.
  private final class State {
    private static final int KEPT = 512;

    private final long number = STATES.incrementAndGet();
    private final MessageWriter arguments = new MessageWriter().begin(LinkKind.DONE);
    private int rows;

    private void add(@Nullable Object[][] columns, int count) {
      for (int row = 0; row < count; row++) {
        for (@Nullable Object[] column : columns) {
          arguments.putValue(column[row]);
        }
        rows++;
        if (rows == KEPT) {
          send((byte) 0, new MessageReader());
        }
      }
    }

    /// @param result 1: the state's result is wanted, and the state ends
    private void send(byte result, MessageReader reply) {
      use.ask(
          new MessageWriter()
              .begin(LinkKind.AGGREGATE)
              .putLong(use.number())
              .putInt(index)
              .putLong(number)
              .put(result)
              .putInt(rows)
              .putRest(arguments),
          reply,
          index);
      arguments.begin(LinkKind.DONE);
      rows = 0;
    }
  }

  @Override
  public Object begin() {
    return new State();
  }

  @Override
  public Object add(Object state, @Nullable Object[][] arguments, int count) {
    ((State) state).add(arguments, count);
    return state;
  }

  @Override
  public Object merge(Object state, Object other) {
    State kept = (State) state;
    State merged = (State) other;
    MessageReader reply = new MessageReader();
    kept.send((byte) 0, reply);
    merged.send((byte) 0, reply);
    use.ask(
        new MessageWriter()
            .begin(LinkKind.MERGE)
            .putLong(use.number())
            .putInt(index)
            .putLong(kept.number)
            .putLong(merged.number),
        reply,
        index);
    return kept;
  }

  @Override
  public @Nullable Object result(Object state) {
    MessageReader reply = new MessageReader();
    ((State) state).send((byte) 1, reply);
    return reply.getValue();
  }
}
