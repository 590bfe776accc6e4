package dev.kakehashi.applications.child;

import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.applications.link.MessageWriter;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.application.LoadedApplication.AggregateCode;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Rows of table functions, and states of aggregates, of the statements that use them, until they end. Thread-safe; each of them is used by
/// one lane at a time.
final class UseStates {
  private static final int PIECE_BYTES = 32 << 10;
  private static final int PIECE_ROWS = 1_024;

  private final LoadedApplication application;
  private final LoadedApplication.Use use;
  private final ConcurrentMap<Long, Held> uses = new ConcurrentHashMap<>();
  private final AtomicLong cursors = new AtomicLong();

  private static final class Held {
    private final Map<Long, Iterator<@Nullable Object[]>> cursors = new ConcurrentHashMap<>();
    private final Map<Long, Object> states = new ConcurrentHashMap<>();
  }

  UseStates(LoadedApplication application, LoadedApplication.Use use) {
    this.application = application;
    this.use = use;
  }

  private Held held(long number) {
    return uses.computeIfAbsent(number, key -> new Held());
  }

  void serve(byte kind, MessageReader request, MessageWriter reply) {
    long number = request.getLong();
    switch (kind) {
      case LinkKind.TABLE_OPEN -> {
        long cursor = cursors.incrementAndGet();
        Iterator<@Nullable Object[]> rows = use.table(request.getInt()).open(request.getValues());
        reply.putLong(cursor);
        if (putRows(rows, reply)) {
          held(number).cursors.put(cursor, rows);
        }
      }
      case LinkKind.TABLE_NEXT -> {
        Map<Long, Iterator<@Nullable Object[]>> open = held(number).cursors;
        long cursor = request.getLong();
        Iterator<@Nullable Object[]> rows = open.get(cursor);
        if (rows == null) {
          throw MessageReader.malformed("names no rows");
        }
        if (!putRows(rows, reply)) {
          open.remove(cursor);
        }
      }
      case LinkKind.AGGREGATE -> aggregate(held(number), request, reply);
      case LinkKind.MERGE -> {
        AggregateCode code = use.aggregate(request.getInt());
        Map<Long, Object> states = held(number).states;
        long kept = request.getLong();
        Object other = state(states, code, request.getLong());
        states.put(kept, code.merge(state(states, code, kept), other));
      }
      case LinkKind.END_USE -> uses.remove(number);
      default -> throw MessageReader.malformed("is of kind " + kind);
    }
  }

  /// @return whether more follow
  private static boolean putRows(Iterator<@Nullable Object[]> rows, MessageWriter reply) {
    MessageWriter values = new MessageWriter().begin(LinkKind.DONE);
    int count = 0;
    while (count < PIECE_ROWS && values.length() < PIECE_BYTES && rows.hasNext()) {
      values.putValues(rows.next());
      count++;
    }
    boolean more = rows.hasNext();
    reply.putInt(count).putRest(values).put(more);
    return more;
  }

  private static Object state(Map<Long, Object> states, AggregateCode code, long number) {
    Object state = states.remove(number);
    return state == null ? code.begin() : state;
  }

  private void aggregate(Held held, MessageReader request, MessageWriter reply) {
    int index = request.getInt();
    long number = request.getLong();
    boolean result = request.getBoolean();
    int rows = request.getInt();
    AggregateCode code = use.aggregate(index);
    int parameters = application.contents().functions().get(index).parameters().size();
    Object state = state(held.states, code, number);
    if (rows > 0) {
      @Nullable Object[][] arguments = new Object[parameters][rows];
      for (int row = 0; row < rows; row++) {
        for (@Nullable Object[] argument : arguments) {
          argument[row] = request.getValue();
        }
      }
      state = code.add(state, arguments, rows);
    }
    if (result) {
      reply.putValue(code.result(state));
    } else {
      held.states.put(number, state);
    }
  }
}
