package dev.kakehashi.client.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.layout.StoreDictionaryLayout;
import dev.kakehashi.protocol.layout.StoreHeadLayout;
import dev.kakehashi.protocol.layout.StoreIndexLayout;
import dev.kakehashi.protocol.layout.StoreNodeLayout;
import dev.kakehashi.protocol.layout.StoreTableLayout;
import dev.kakehashi.protocol.messages.DirectReadEncoder;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.protocol.messages.ValueKind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/// Whatever lies in the memory, nothing outside of it is touched: a look outside would throw here.
///
/// More by `-Dkakehashi.damagedMemories=1000000`, the same by `-Dkakehashi.seed=…`.
class DamagedMemoryTest {
  private static final long SEED = Long.getLong("kakehashi.seed", System.nanoTime());
  private static final int ROUNDS = Integer.getInteger("kakehashi.damagedMemories", 5_000);
  private static final int BYTES = 64 * 1024;
  private static final int NODE_BYTES = 8192;
  private static final long THERE = 0x7f00_0000_0000L;
  private static final long GENERATION = 2;
  private static final long TABLE = StoreHeadLayout.HEAD_BYTES;
  private static final long INDEX = TABLE + StoreTableLayout.CELL_BYTES;
  private static final long DICTIONARY = INDEX + StoreIndexLayout.CELL_BYTES;
  private static final long FIRST_FREE = DICTIONARY + StoreDictionaryLayout.CELL_BYTES;

  private final Random random = new Random(SEED);

  private static byte[] ticket() {
    byte[] bytes = new byte[1024];
    DirectReadEncoder encoder = new DirectReadEncoder();
    encoder
        .wrapAndApplyHeader(new UnsafeBuffer(bytes), 0, new MessageHeaderEncoder())
        .definitions(GENERATION)
        .tableCell(TABLE)
        .tableGeneration(GENERATION)
        .indexCell(INDEX)
        .indexGeneration(GENERATION)
        .pageRows(1 << 16);
    encoder
        .keysCount(1)
        .next()
        .parameter(0)
        .column(0)
        .kind(ValueKind.WORD)
        .dictionaryCell(0)
        .flags()
        .clear();
    ValueKind[] kinds = {
      ValueKind.WORD, ValueKind.VARLENA, ValueKind.FIXED16, ValueKind.FLOAT8, ValueKind.VARLENA
    };
    DirectReadEncoder.ColumnsEncoder columns = encoder.columnsCount(kinds.length);
    for (int i = 0; i < kinds.length; i++) {
      columns
          .next()
          .column(i)
          .kind(kinds[i])
          .isMissingNull((short) (i % 2))
          .dictionaryCell(kinds[i] == ValueKind.VARLENA ? DICTIONARY : 0);
    }
    return Arrays.copyOf(bytes, Protocol.MESSAGE_HEADER_BYTES + encoder.encodedLength());
  }

  /// One of a word within, near an end, or anywhere.
  private long address() {
    return switch (random.nextInt(8)) {
      case 0 -> random.nextLong();
      case 1 -> THERE + BYTES - random.nextInt(64);
      case 2 -> THERE - random.nextInt(64);
      default -> THERE + 8L * random.nextInt(BYTES / 8);
    };
  }

  private long node() {
    return random.nextInt(8) == 0
        ? address()
        : THERE + (long) NODE_BYTES * (1 + random.nextInt(BYTES / NODE_BYTES - 1));
  }

  private long word(long head, int value) {
    return switch (random.nextInt(8)) {
      case 0 -> random.nextLong();
      case 1 -> head;
      case 2 -> head | random.nextInt(1 << 20);
      case 3 -> random.nextInt(64);
      // The value, however wide it lies; and a stamp that is no later than others.
      case 4 -> value * 0x0101_0101_0101_0101L;
      default -> address();
    };
  }

  private void damage(MemorySegment memory, long head, int value) {
    for (long at = FIRST_FREE; at < BYTES; at += Long.BYTES) {
      memory.set(ValueLayout.JAVA_LONG, at, word(head, value));
    }
    memory.set(ValueLayout.JAVA_LONG, INDEX + StoreIndexLayout.ROOT_OFFSET, node());
    memory.set(ValueLayout.JAVA_LONG, TABLE + StoreTableLayout.PARTS_OFFSET, address());
    memory.set(
        ValueLayout.JAVA_LONG,
        TABLE + StoreTableLayout.PART_COUNT_OFFSET,
        random.nextBoolean() ? Long.MAX_VALUE : random.nextInt(10));
    memory.set(ValueLayout.JAVA_LONG, DICTIONARY + StoreDictionaryLayout.VALUES_OFFSET, address());
    memory.set(
        ValueLayout.JAVA_LONG, DICTIONARY + StoreDictionaryLayout.COUNT_OFFSET, random.nextLong());
    for (long node = NODE_BYTES; node < BYTES; node += NODE_BYTES) {
      memory.set(ValueLayout.JAVA_LONG, node, 4L);
      memory.set(
          ValueLayout.JAVA_SHORT, node + StoreNodeLayout.LEVEL_OFFSET, (short) random.nextInt(2));
      memory.set(
          ValueLayout.JAVA_SHORT,
          node + StoreNodeLayout.COUNT_OFFSET,
          (short) random.nextInt(random.nextBoolean() ? 20 : 1 << 16));
      memory.set(ValueLayout.JAVA_LONG, node + StoreNodeLayout.LEFTMOST_OFFSET, node());
      // Entries as a leaf has them: the key, and a row behind it.
      for (int slot = 0; slot < 20; slot++) {
        long at = node + StoreNodeLayout.HEAD_BYTES + 12L * slot;
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, head | random.nextInt(4));
        memory.set(ValueLayout.JAVA_SHORT, at + 8, (short) random.nextInt(NODE_BYTES + 64));
        memory.set(
            ValueLayout.JAVA_SHORT,
            at + 10,
            (short) (random.nextInt(3) > 0 ? 10 : random.nextInt(1 << 16)));
      }
    }
  }

  @Test
  void shouldTouchNothingOutside() {
    System.out.println("-Dkakehashi.seed=" + SEED + " -Dkakehashi.damagedMemories=" + ROUNDS);
    Map<DirectAnswer, Integer> answers = new EnumMap<>(DirectAnswer.class);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(BYTES, 4096);
      memory.set(ValueLayout.JAVA_LONG, StoreHeadLayout.MAGIC_OFFSET, StoreHeadLayout.MAGIC);
      memory.set(ValueLayout.JAVA_LONG, StoreHeadLayout.FILE_BYTES_OFFSET, BYTES);
      memory.set(ValueLayout.JAVA_LONG, StoreHeadLayout.DURABLE_OFFSET, Long.MAX_VALUE);
      memory.set(ValueLayout.JAVA_LONG, StoreHeadLayout.DEFINITIONS_OFFSET, GENERATION);
      memory.set(ValueLayout.JAVA_LONG, TABLE, GENERATION);
      memory.set(ValueLayout.JAVA_LONG, INDEX, GENERATION);
      StoreMemory store = new StoreMemory(arena, memory.asReadOnly(), THERE);
      DirectTicket ticket = DirectTicket.decode(ticket(), store);
      assertNotNull(ticket);
      DirectReader reader = new DirectReader(store);
      RowBatchWriter key = RowBatchWriter.growable(1, 1, 4096);
      RowBatchWriter row = RowBatchWriter.growable(ticket.columnCount(), 1, 1 << 20);
      for (int round = 0; round < ROUNDS; round++) {
        // One byte says that one follows.
        int value = 1 + random.nextInt(60);
        damage(memory, 0x81L << 56 | (long) value << 48, value);
        key.reset();
        key.addRow();
        key.setLong(0, value);
        key.finish();
        row.reset();
        DirectAnswer answer = reader.read(ticket, new RowBatchReader().wrap(key.batch()), row);
        answers.merge(answer, 1, Integer::sum);
        assertEquals(answer == DirectAnswer.ROW ? 1 : 0, row.rowCount());
      }
    }
    System.out.println(answers);
    assertTrue(
        answers.getOrDefault(DirectAnswer.ASK, 0) > ROUNDS / 100, "others are the exception");
  }
}
