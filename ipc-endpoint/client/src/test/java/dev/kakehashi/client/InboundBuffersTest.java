package dev.kakehashi.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.messages.StatementKind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Buffers in the arena, of which a request says where they lie.
@SuppressWarnings("NullAway") // what is null fails the test
class InboundBuffersTest {
  private static final int BUFFER_BYTES = 1024;

  private final MemorySegment arena = Arena.ofAuto().allocate(8192, 8);
  private final InboundBuffers buffers =
      new InboundBuffers(arena, new long[] {4096, 1024}, BUFFER_BYTES);

  private static PreparedStatement statement() {
    return new PreparedStatement(
        null,
        1,
        "INSERT INTO t VALUES ($1)",
        StatementKind.DML,
        new int[] {TypeOid.INT8},
        List.of(),
        null);
  }

  @Test
  void shouldWriteParametersWhereTheRequestSaysThatTheyAre() {
    for (int i = 0; i < buffers.count(); i++) {
      Parameters parameters = buffers.parameters(i, statement(), 0);
      parameters.addRow(7L + i);
      parameters.writer().finish();
      MemorySegment batch = parameters.writer().batch();
      assertEquals(buffers.offset(i), buffers.offsetOf(batch));
      // The arena has it, and not a copy.
      assertEquals(-1, arena.asSlice(buffers.offset(i), batch.byteSize()).mismatch(batch));
    }
  }

  /// More rows than a buffer holds end in it, and not in the next one.
  @Test
  void shouldKeepToTheBuffer() {
    MemorySegment behind = arena.asSlice(1024 + BUFFER_BYTES, 64).fill((byte) 5);
    Parameters parameters = buffers.parameters(1, statement(), 0);
    int rows = 0;
    while (rows < BUFFER_BYTES && parameters.tryAddRow((long) rows)) {
      rows++;
    }
    assertFalse(rows < 10 || rows > BUFFER_BYTES / 16, rows + " rows");
    for (byte each : behind.toArray(ValueLayout.JAVA_BYTE)) {
      assertEquals(5, each);
    }
  }

  @Test
  void shouldKnowBatchesThatLieElsewhere() {
    assertEquals(-1, buffers.offsetOf(MemorySegment.ofArray(new byte[64])));
    assertEquals(-1, buffers.offsetOf(Arena.ofAuto().allocate(64, 8)));
    assertEquals(0, buffers.offsetOf(arena));
    assertEquals(8184, buffers.offsetOf(arena.asSlice(8184)));
  }

  /// The endpoint has granted these: who changes his array changes nothing.
  @Test
  void shouldKeepTheOffsetsToItself() {
    long[] offsets = {4096};
    InboundBuffers granted = new InboundBuffers(arena, offsets, BUFFER_BYTES);
    offsets[0] = 0;
    assertEquals(4096, granted.offset(0));
  }
}
