package dev.kakehashi.applications.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Messages between the endpoint and the process of an application, which do not trust each other.
class MessagesTest {
  private static final byte KIND = 7;

  private static final @Nullable Object[] VALUES = {
    null,
    false,
    true,
    Short.MIN_VALUE,
    Integer.MAX_VALUE,
    Long.MIN_VALUE,
    -0.0f,
    Double.MIN_VALUE,
    new BigDecimal("-12.30"),
    new BigDecimal(BigInteger.ONE.shiftLeft(200).negate(), 30),
    "ä€😀\n",
    "",
    new byte[] {0, -1, 7},
    LocalDate.of(-44, 3, 15),
    LocalTime.of(23, 59, 59, 999_999_000),
    LocalDateTime.of(2026, 11, 25, 22, 30),
    Instant.parse("2026-11-25T22:30:00.5Z"),
    Duration.ofSeconds(-3, 5),
    new UUID(1, -2),
    new Object[] {1, null, new Object[] {"inner"}},
  };

  private static MessageReader reader(byte[] bytes, int length) {
    MessageReader reader = new MessageReader();
    System.arraycopy(bytes, 0, reader.room(0, length), 0, length);
    reader.begin(length);
    assertEquals(length, reader.length());
    return reader;
  }

  private static MessageReader reader(MessageWriter writer) {
    return reader(writer.bytes(), writer.length());
  }

  private static String malformed(Runnable read) {
    EngineException e = assertThrows(EngineException.class, read::run);
    assertEquals(ErrorCode.MALFORMED_MESSAGE, e.code());
    return String.valueOf(e.getMessage());
  }

  @Test
  void shouldBringAllValues() {
    MessageWriter writer = new MessageWriter().begin(KIND).putValues(VALUES);
    writer.putTexts(List.of("a", "")).putOptionalText(null).putOptionalText("b").put(true);
    MessageReader reader = reader(writer);
    assertEquals(KIND, reader.get());
    assertArrayEquals(VALUES, reader.getValues());
    assertEquals(List.of("a", ""), reader.getTexts());
    assertEquals(null, reader.getOptionalText());
    assertEquals("b", reader.getOptionalText());
    assertTrue(reader.getBoolean());
    assertTrue(malformed(reader::get).contains("ends within a field"));
  }

  @Test
  void shouldBringMessagesThatGrow() {
    byte[] large = new byte[3 << 20];
    new Random(5).nextBytes(large);
    MessageWriter writer = new MessageWriter().begin(KIND).putBytes(large);
    MessageReader reader = reader(writer);
    reader.get();
    assertArrayEquals(large, reader.getBytes());
    MessageWriter rest = new MessageWriter().begin((byte) 9).putText("before").putRest(writer);
    MessageReader both = reader(rest);
    assertEquals(9, both.get());
    assertEquals("before", both.getText());
    assertArrayEquals(large, both.getBytes());
    // Memory that one long message has needed does not stay.
    assertTrue(writer.begin(KIND).bytes().length < 1 << 20);
  }

  @Test
  void shouldBringFailuresWithTheirFields() {
    EngineException failure =
        new EngineException(ErrorCode.UNIQUE_VIOLATION, "there is one")
            .withDetail("a detail")
            .withHint("a hint")
            .withTable("shop", "orders")
            .withColumn("id")
            .withConstraint("orders_pkey");
    MessageReader reader = reader(new MessageWriter().begin(KIND).putFailure(failure));
    reader.get();
    EngineException read = reader.getFailure();
    assertEquals(failure.code(), read.code());
    assertEquals(failure.sqlstate(), read.sqlstate());
    assertEquals(failure.getMessage(), read.getMessage());
    assertEquals("a detail", read.detail());
    assertEquals("a hint", read.hint());
    assertEquals("shop", read.schemaName());
    assertEquals("orders", read.tableName());
    assertEquals("id", read.columnName());
    assertEquals("orders_pkey", read.constraintName());
    EngineException own =
        new EngineException(ErrorCode.RAISE_EXCEPTION, "no").withSqlstate("AB123");
    MessageReader of = reader(new MessageWriter().begin(KIND).putFailure(own));
    of.get();
    assertEquals("AB123", of.getFailure().sqlstate());
  }

  @Test
  void shouldRefuseWhatNoWriterWrites() {
    MessageWriter writer = new MessageWriter();
    malformed(() -> reader(writer.begin(KIND).putInt(-1).putInt(0)).getList(MessageReader::get));
    // More things than bytes follow: nothing is reserved for them.
    writer.begin((byte) 0).putInt(1 << 30);
    MessageReader count = reader(writer);
    count.get();
    assertTrue(malformed(count::getCount).contains("wrong count"));
    MessageReader bytes = reader(writer.begin((byte) 0).putInt(Integer.MAX_VALUE));
    bytes.get();
    assertTrue(malformed(bytes::getBytes).contains("ends within a field"));
    assertTrue(malformed(() -> reader(writer.begin((byte) 99)).getValue()).contains("kind 99"));
    MessageReader scale = reader(writer.begin(ValueTag.SMALL_DECIMAL).putInt(1 << 30).putLong(1));
    assertTrue(malformed(scale::getValue).contains("number out of range"));
    MessageReader date = reader(writer.begin(ValueTag.DATE).putLong(Long.MAX_VALUE));
    assertTrue(malformed(date::getValue).contains("time out of range"));
    MessageReader state =
        reader(writer.begin(KIND).putInt(ErrorCode.UNIQUE_VIOLATION.number()).putText("x'; --"));
    state.get();
    malformed(state::getFailure);
    Object[] nested = {};
    for (int i = 0; i < 20; i++) {
      nested = new Object[] {nested};
    }
    MessageReader deep = reader(writer.begin(KIND).putValue(nested));
    deep.get();
    assertTrue(malformed(deep::getValue).contains("arrays within arrays"));
  }

  /// A process may change any byte of what it sends.
  @Test
  void shouldReadChangedMessagesWithoutOtherErrors() {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    Random random = new Random(seed);
    MessageWriter writer = new MessageWriter().begin(KIND).putValues(VALUES);
    writer.putFailure(new EngineException(ErrorCode.UNIQUE_VIOLATION, "there is one"));
    byte[] whole = Arrays.copyOf(writer.bytes(), writer.length());
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] changed = whole.clone();
      for (int k = 0; k <= random.nextInt(3); k++) {
        changed[random.nextInt(changed.length)] = (byte) random.nextInt();
      }
      int length = random.nextInt(4) == 0 ? random.nextInt(changed.length) : changed.length;
      MessageReader reader = reader(changed, length);
      try {
        reader.get();
        reader.getValues();
        reader.getFailure();
      } catch (EngineException e) {
        assertEquals(ErrorCode.MALFORMED_MESSAGE, e.code(), "seed " + seed + ", round " + i);
        refused++;
      }
    }
    assertTrue(refused > 5_000, "refused: " + refused);
  }
}
