package dev.kakehashi.bulk.arrow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.arrow.ArrowOptions.Codec;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.bulk.value.BatchRows;
import dev.kakehashi.bulk.value.BudgetContext;
import dev.kakehashi.bulk.value.MemoryFile;
import dev.kakehashi.bulk.value.RandomTable;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Damaged files: an error that says so, or rows of the right form; nothing else, and no more memory than there is.
class ArrowDamageTest {
  private static final int DAMAGES = Integer.getInteger("kakehashi.arrow.damages", 100);
  private static final long BUDGET = 64L << 20;

  /// Errors with which a damaged file may be refused. Values that were changed can be those of no type.
  private static final Set<ErrorCode> EXPECTED =
      EnumSet.of(
          ErrorCode.BAD_COPY_FILE_FORMAT,
          ErrorCode.FEATURE_NOT_SUPPORTED,
          ErrorCode.INVALID_PARAMETER_VALUE,
          ErrorCode.DATATYPE_MISMATCH,
          ErrorCode.UNDEFINED_COLUMN,
          ErrorCode.AMBIGUOUS_COLUMN,
          ErrorCode.OUT_OF_MEMORY,
          ErrorCode.LIMIT_EXCEEDED);

  private static final RandomTable TABLE = new RandomTable(new Random(3));
  private static final List<LoadColumn> COLUMNS = TABLE.columns();

  private static byte[] whole(boolean stream, Codec codec) {
    return ArrowFormatTest.written(
            ArrowOptions.DEFAULT.withStream(stream).withCodec(codec),
            COLUMNS,
            List.of(TABLE.batch(20)))
        .bytes();
  }

  /// Reads a file to its end; rows with bad values are left out.
  private static long read(byte[] bytes) {
    BudgetContext context = new BudgetContext(BUDGET);
    long rows = 0;
    try (RowsFile file =
        new ArrowFormat(ArrowOptions.DEFAULT).read(new MemoryFile(bytes), COLUMNS, true, context)) {
      for (RowsPart next = file.next(); next != null; next = file.next()) {
        try (RowsPart part = next) {
          rows += read(part);
        }
      }
    } catch (EngineException e) {
      assertTrue(EXPECTED.contains(e.code()), e.code() + ": " + e.getMessage());
      rows = -1;
    }
    assertEquals(0, context.reserved());
    return rows;
  }

  private static long read(RowsPart part) {
    long taken = 0;
    while (true) {
      long[] refused = new long[1];
      MemorySegment batch = part.next((origin, failure) -> refused[0]++);
      taken += refused[0];
      if (batch == null) {
        assertEquals(part.rows(), taken);
        return taken;
      }
      taken += BatchRows.of(batch, COLUMNS).size();
    }
  }

  @ParameterizedTest
  @CsvSource({"false,NONE", "true,NONE", "false,LZ4", "true,ZSTD"})
  void shouldSurviveChangedBytes(boolean stream, Codec codec) {
    byte[] whole = whole(stream, codec);
    assertEquals(20, read(whole));
    Random random = new Random(11);
    int refused = 0;
    for (int i = 0; i < DAMAGES; i++) {
      byte[] damaged = whole.clone();
      int changes = 1 + random.nextInt(4);
      for (int change = 0; change < changes; change++) {
        damage(damaged, random);
      }
      refused += read(damaged) < 0 ? 1 : 0;
    }
    assertTrue(refused > 0, "nothing was refused");
  }

  private static void damage(byte[] bytes, Random random) {
    int at = random.nextInt(bytes.length - 8);
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    switch (random.nextInt(5)) {
      case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> bytes[at] = (byte) random.nextInt();
      case 2 -> buffer.putInt(at & ~3, random.nextBoolean() ? Integer.MAX_VALUE : -1);
      case 3 -> buffer.putLong(at & ~7, random.nextBoolean() ? Long.MAX_VALUE : Long.MIN_VALUE);
      default -> buffer.putInt(at & ~3, buffer.getInt(at & ~3) + random.nextInt(-64, 64));
    }
  }

  @ParameterizedTest
  @CsvSource({"false", "true"})
  void shouldRefuseTruncatedFiles(boolean stream) {
    byte[] whole = whole(stream, Codec.NONE);
    Random random = new Random(5);
    for (int i = 0; i < DAMAGES / 4; i++) {
      byte[] cut = java.util.Arrays.copyOf(whole, random.nextInt(whole.length));
      // A stream without the mark at its end may have lost rows.
      assertEquals(-1, read(cut), "of " + cut.length + " bytes");
    }
  }

  @Test
  void shouldBoundWhatABufferSaysItBecomes() {
    LoadColumn text = COLUMNS.get(18);
    byte[] bytes = new byte[200_000];
    MemoryFile file =
        ArrowFormatTest.written(
            ArrowOptions.DEFAULT.withCodec(Codec.ZSTD),
            List.of(text),
            List.of(textBatch(new String(bytes, java.nio.charset.StandardCharsets.UTF_8))));
    byte[] changed = file.bytes();
    ByteBuffer buffer = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
    int found = 0;
    for (int at = 0; at < buffer.limit() - 8; at += 8) {
      if (buffer.getLong(at) == bytes.length) {
        buffer.putLong(at, 2_000_000_000L);
        found++;
      }
    }
    assertEquals(1, found);
    BudgetContext context = new BudgetContext(BUDGET);
    try (RowsFile rows =
            new ArrowFormat(ArrowOptions.DEFAULT)
                .read(new MemoryFile(changed), List.of(text), true, context);
        RowsPart part = java.util.Objects.requireNonNull(rows.next())) {
      EngineException refused =
          assertThrows(EngineException.class, () -> part.next((origin, failure) -> {}));
      assertEquals(ErrorCode.OUT_OF_MEMORY, refused.code());
    }
    assertEquals(0, context.reserved());
  }

  private static MemorySegment textBatch(String text) {
    var writer = dev.kakehashi.protocol.RowBatchWriter.growable(1, 1, 1 << 20);
    writer.addRow();
    writer.setString(0, text);
    writer.finish();
    return writer.batch();
  }
}
