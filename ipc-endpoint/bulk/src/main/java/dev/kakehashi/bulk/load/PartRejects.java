package dev.kakehashi.bulk.load;

import dev.kakehashi.bulk.file.UnnamedFile;
import dev.kakehashi.bulk.format.RowOrigin;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

/// Rejected rows of one part, in their order: in memory while they are few, in the spill file otherwise. Used by one thread at a time.
///
/// In a batch, rows whose values cannot be converted come first, then rows that the engine does not take. They are put in order when the
/// batch is done.
final class PartRejects {
  private static final int FIRST_BYTES = 1 << 10;

  /// Then the buffer goes to the file.
  private static final int SPILL_BYTES = 1 << 16;

  /// The buffer of one batch may be longer: it grows twofold to this.
  private static final int MAX_STEP_BYTES = 1 << 24;

  private static final int MAX_MESSAGE_BYTES = 1 << 11;

  /// Bytes of a record without its texts: its length, line, byte offset, whether it is a line, SQLSTATE, and three lengths.
  private static final int FIXED_BYTES = 4 + 8 + 8 + 1 + 5 + 3 * 4;

  /// Where records are in the spill file.
  private record Block(long at, int bytes) {}

  /// Record of a rejected row.
  record Rejected(
      long line,
      boolean isLine,
      long byteOffset,
      String sqlState,
      String column,
      byte[] message,
      byte[] raw) {}

  /// Takes the rows one by one.
  interface Reader {
    void row(Rejected row);
  }

  private final BulkContext context;
  private final Supplier<UnnamedFile> spill;
  private final List<Block> blocks = new ArrayList<>();
  private byte[] bytes = {};
  private int used;
  private int reserved;

  /// Records of the batch that is not done: where each begins, and its line.
  private final List<Start> batch = new ArrayList<>();

  private record Start(int at, long line) {}

  private long batches;
  private long count;

  /// State at a time.
  ///
  /// @param batches that were done
  /// @param inBatch records of the batch that was not
  record Mark(int blocks, int used, long batches, int inBatch, long count) {
    static final Mark BEGIN = new Mark(0, 0, 0, 0, 0);
  }

  /// @param spill made when it is needed
  PartRejects(BulkContext context, Supplier<UnnamedFile> spill) {
    this.context = context;
    this.spill = spill;
  }

  /// Counts a row, whether it is kept or not.
  void count() {
    count++;
  }

  Mark mark() {
    return new Mark(blocks.size(), used, batches, batch.size(), count);
  }

  /// Forgets what has come since: it is behind what there was before, also where a batch has been put in order, whose lines go on.
  ///
  /// @return how many rows that are
  long takeBack(Mark mark) {
    if (blocks.size() > mark.blocks) {
      Block first = blocks.get(mark.blocks);
      blocks.subList(mark.blocks, blocks.size()).clear();
      if (mark.used > 0) {
        blocks.add(new Block(first.at, mark.used));
      }
      release();
    } else {
      used = mark.used;
    }
    int stay = batches == mark.batches ? mark.inBatch : 0;
    batch.subList(stay, batch.size()).clear();
    long gone = count - mark.count;
    count = mark.count;
    return gone;
  }

  void add(RowOrigin origin, EngineException failure) {
    byte[] column = failure.columnName().getBytes(StandardCharsets.UTF_8);
    byte[] message = String.valueOf(failure.getMessage()).getBytes(StandardCharsets.UTF_8);
    if (message.length > MAX_MESSAGE_BYTES) {
      message = cut(message);
    }
    byte[] raw = origin.raw();
    int length = Math.toIntExact((long) FIXED_BYTES + column.length + message.length + raw.length);
    need(length);
    batch.add(new Start(used, origin.line()));
    ByteBuffer out = ByteBuffer.wrap(bytes, used, length);
    out.putInt(length).putLong(origin.line()).putLong(origin.byteOffset());
    out.put((byte) (origin.isLine() ? 1 : 0));
    out.put(failure.code().sqlstate().getBytes(StandardCharsets.US_ASCII), 0, 5);
    out.putInt(column.length).put(column);
    out.putInt(message.length).put(message);
    out.putInt(raw.length).put(raw);
    used += length;
  }

  /// There will be no more rejected rows of the batch.
  void endBatch() {
    batches++;
    if (batch.isEmpty()) {
      return;
    }
    List<Start> sorted = new ArrayList<>(batch);
    sorted.sort(Comparator.comparingLong(Start::line));
    if (!sorted.equals(batch)) {
      sort(sorted);
    }
    batch.clear();
    if (used >= SPILL_BYTES) {
      spill();
    }
  }

  private void sort(List<Start> sorted) {
    int from = batch.getFirst().at;
    int length = used - from;
    context.reserveMemory(length);
    try {
      byte[] copy = Arrays.copyOfRange(bytes, from, used);
      int to = from;
      for (Start each : sorted) {
        int at = each.at - from;
        int bytesOfRow = ByteBuffer.wrap(copy).getInt(at);
        System.arraycopy(copy, at, bytes, to, bytesOfRow);
        to += bytesOfRow;
      }
    } finally {
      context.releaseMemory(length);
    }
  }

  /// At the beginning of a character.
  private static byte[] cut(byte[] message) {
    int end = MAX_MESSAGE_BYTES;
    while (end > 0 && (message[end] & 0xc0) == 0x80) {
      end--;
    }
    return Arrays.copyOf(message, end);
  }

  private void need(int length) {
    if (bytes.length - used < length) {
      int wanted =
          Math.max(used + length, Math.clamp(2L * bytes.length, FIRST_BYTES, MAX_STEP_BYTES));
      context.reserveMemory(wanted - reserved);
      reserved = wanted;
      bytes = Arrays.copyOf(bytes, wanted);
    }
  }

  /// Bytes in memory.
  int memoryBytes() {
    return reserved;
  }

  /// Moves all to the spill file.
  void spill() {
    if (used > 0) {
      blocks.add(new Block(spill.get().append(bytes, used), used));
    }
    release();
  }

  /// Frees the memory.
  void release() {
    bytes = new byte[0];
    used = 0;
    context.releaseMemory(reserved);
    reserved = 0;
  }

  void read(Reader reader) {
    for (Block block : blocks) {
      context.reserveMemory(block.bytes);
      try {
        byte[] piece = new byte[block.bytes];
        spill.get().read(block.at, piece);
        read(ByteBuffer.wrap(piece), reader);
      } finally {
        context.releaseMemory(block.bytes);
      }
    }
    read(ByteBuffer.wrap(bytes, 0, used), reader);
  }

  private static void read(ByteBuffer in, Reader reader) {
    while (in.hasRemaining()) {
      int end = in.position() + in.getInt();
      long line = in.getLong();
      long byteOffset = in.getLong();
      boolean isLine = in.get() != 0;
      byte[] state = new byte[5];
      in.get(state);
      byte[] column = text(in);
      byte[] message = text(in);
      byte[] raw = text(in);
      if (in.position() != end) {
        throw new IllegalStateException("a rejected row is not as it was written");
      }
      reader.row(
          new Rejected(
              line,
              isLine,
              byteOffset,
              new String(state, StandardCharsets.US_ASCII),
              new String(column, StandardCharsets.UTF_8),
              message,
              raw));
    }
  }

  private static byte[] text(ByteBuffer in) {
    byte[] text = new byte[in.getInt()];
    in.get(text);
    return text;
  }
}
