package dev.kakehashi.formats;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.RowBatchLayout;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads a stream of [Format#ROWS].
///
/// Lengths are checked before memory is taken, and memory grows with what has really come. A batch is checked by whoever reads its values
/// ([BatchView]). Not thread-safe; the stream stays the caller's.
public final class RowStreamReader {
  /// Longest frame that is not a row batch.
  private static final int MOST_OTHER_BYTES = 64 << 20;

  /// Longest row batch, as `max_batch_bytes` allows.
  private static final int MOST_BATCH_BYTES = 1 << 30;

  private static final int STEP_BYTES = 1 << 18;
  private static final int MOST_COLUMNS = 1 << 16;

  private final InputStream in;
  private final List<Statement.Column> columns;
  private final byte[] head = new byte[2 * Integer.BYTES];
  private byte[] frame = {};
  private byte[] problem = {};
  private long rowCount;
  private boolean ended;

  /// Reads the columns.
  ///
  /// @throws EOFException the stream was cut off
  /// @throws MalformedFrameException it is none
  public RowStreamReader(InputStream in) throws IOException {
    this.in = in;
    ByteBuffer bytes = next(RowStreamEncoder.COLUMNS);
    this.columns = columns(bytes);
  }

  private static List<Statement.Column> columns(ByteBuffer bytes) {
    if (bytes.remaining() < 2 * Integer.BYTES) {
      throw new MalformedFrameException("the frame of columns is too short");
    }
    int version = bytes.getInt();
    if (version != RowStreamEncoder.VERSION) {
      throw new MalformedFrameException(
          "rows have the form " + version + ", this client knows " + RowStreamEncoder.VERSION);
    }
    int count = bytes.getInt();
    if (count < 0 || count > MOST_COLUMNS) {
      throw new MalformedFrameException("there are " + count + " columns");
    }
    List<Statement.Column> columns = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      if (bytes.remaining() < 3 * Integer.BYTES) {
        throw new MalformedFrameException("column " + i + " is cut off");
      }
      int type = bytes.getInt();
      int modifier = bytes.getInt();
      int length = bytes.getInt();
      if (length < 0 || length > bytes.remaining()) {
        throw new MalformedFrameException("the name of column " + i + " is cut off");
      }
      String name =
          new String(
              bytes.array(),
              bytes.arrayOffset() + bytes.position(),
              length,
              StandardCharsets.UTF_8);
      bytes.position(bytes.position() + length);
      columns.add(new Statement.Column(name, type, modifier));
    }
    return columns;
  }

  public List<Statement.Column> columns() {
    return columns;
  }

  /// The next row batch, valid until the next call; null: the stream has ended, see [#problem()] and [#rowCount()].
  ///
  /// @throws EOFException it was cut off
  /// @throws MalformedFrameException it is broken
  public @Nullable MemorySegment next() throws IOException {
    if (ended) {
      return null;
    }
    int kind = head();
    ByteBuffer bytes = body(kind);
    switch (kind) {
      case RowStreamEncoder.ROWS -> {
        if (bytes.remaining() < RowBatchLayout.HEADER_BYTES) {
          throw new MalformedFrameException("a row batch has " + bytes.remaining() + " bytes");
        }
        return MemorySegment.ofArray(frame).asSlice(0, bytes.remaining());
      }
      case RowStreamEncoder.END -> {
        if (bytes.remaining() != Long.BYTES) {
          throw new MalformedFrameException("the end has " + bytes.remaining() + " bytes");
        }
        rowCount = bytes.getLong();
      }
      case RowStreamEncoder.FAILURE -> problem = Arrays.copyOf(frame, bytes.remaining());
      default -> throw new MalformedFrameException("a frame has the kind " + kind);
    }
    ended = true;
    return null;
  }

  /// Why the statement has failed, a JSON object in UTF-8; empty: it has not.
  public byte[] problem() {
    return problem;
  }

  /// Rows sent or changed, as the statement has said at its end.
  public long rowCount() {
    return rowCount;
  }

  private ByteBuffer next(int wanted) throws IOException {
    int kind = head();
    if (kind != wanted) {
      throw new MalformedFrameException("the first frame has the kind " + kind);
    }
    return body(kind);
  }

  private int head() throws IOException {
    if (in.readNBytes(head, 0, head.length) < head.length) {
      throw new EOFException("the answer was cut off");
    }
    return ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getInt(0);
  }

  private ByteBuffer body(int kind) throws IOException {
    int length = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getInt(Integer.BYTES);
    int most = kind == RowStreamEncoder.ROWS ? MOST_BATCH_BYTES : MOST_OTHER_BYTES;
    if (length < 0 || length > most) {
      throw new MalformedFrameException("a frame has " + length + " bytes");
    }
    int at = 0;
    while (at < length) {
      if (frame.length == at) {
        // Twice as much as has come: a length that lies costs nothing.
        frame = Arrays.copyOf(frame, (int) Math.min(length, Math.max(STEP_BYTES, 2L * at)));
      }
      int count = in.readNBytes(frame, at, Math.min(length, frame.length) - at);
      at += count;
      if (at < Math.min(length, frame.length)) {
        throw new EOFException("the answer was cut off");
      }
    }
    return ByteBuffer.wrap(frame, 0, length).order(ByteOrder.LITTLE_ENDIAN);
  }
}
