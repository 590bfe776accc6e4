package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/// Calls of procedures that a session has prepared, by the bytes that name them in a request: types and name. Bounded: the one that was not
/// used for longest goes. Poller only, unless said otherwise.
final class PreparedCalls {
  private static final int MOST_CALLS = 256;

  /// A prepared call.
  static final class PreparedCall {
    private final Statement statement;
    private final int shape;
    private volatile boolean stale;

    PreparedCall(Statement statement) {
      this.statement = statement;
      this.shape = shape(statement);
    }

    Statement statement() {
      return statement;
    }

    /// Shape of its rows, never 0.
    int shape() {
      return shape;
    }

    /// Its result is another one by now: it will be prepared again. Any thread.
    void becomesStale() {
      stale = true;
    }

    private static int shape(Statement statement) {
      CRC32C sum = new CRC32C();
      for (Statement.Column column : statement.columns()) {
        byte[] text =
            (column.name() + "\0" + column.typeOid() + " " + column.typeModifier() + "\0")
                .getBytes(java.nio.charset.StandardCharsets.UTF_8);
        sum.update(text, 0, text.length);
      }
      int value = (int) sum.getValue();
      return value == 0 ? 1 : value;
    }
  }

  /// Bytes as a key; those of a lookup are the frame's own.
  private static final class Name {
    private DirectBuffer buffer;
    private int offset;
    private int length;
    private int hash;

    Name(DirectBuffer buffer, int offset, int length) {
      this.buffer = buffer;
      wrap(buffer, offset, length);
    }

    private Name wrap(DirectBuffer source, int from, int bytes) {
      buffer = source;
      offset = from;
      length = bytes;
      int sum = 1;
      for (int i = 0; i < bytes; i++) {
        sum = 31 * sum + source.getByte(from + i);
      }
      hash = sum;
      return this;
    }

    private Name copy() {
      byte[] bytes = new byte[length];
      buffer.getBytes(offset, bytes);
      return new Name(new org.agrona.concurrent.UnsafeBuffer(bytes), 0, length);
    }

    @Override
    public int hashCode() {
      return hash;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      if (!(other instanceof Name name) || name.length != length || name.hash != hash) {
        return false;
      }
      for (int i = 0; i < length; i++) {
        if (name.buffer.getByte(name.offset + i) != buffer.getByte(offset + i)) {
          return false;
        }
      }
      return true;
    }
  }

  private final Name sought = new Name(new org.agrona.concurrent.UnsafeBuffer(new byte[0]), 0, 0);
  private final Map<Name, PreparedCall> calls =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Name, PreparedCall> eldest) {
          return size() > MOST_CALLS;
        }
      };

  /// @return null: it has to be prepared
  @Nullable PreparedCall find(DirectBuffer frame, int offset, int length) {
    PreparedCall call = calls.get(sought.wrap(frame, offset, length));
    return call == null || call.stale ? null : call;
  }

  PreparedCall add(DirectBuffer frame, int offset, int length, Statement statement) {
    PreparedCall call = new PreparedCall(statement);
    calls.put(sought.wrap(frame, offset, length).copy(), call);
    return call;
  }
}
