package dev.kakehashi.testsupport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class BatchSinkTest {
  private static ResultSink.Buffer acquired(BatchSink sink) {
    return Objects.requireNonNull(sink.acquire(0), "no room");
  }

  /// Stages a batch of one row of one number.
  private static void stage(ResultSink.Buffer buffer, long number) {
    RowBatchWriter writer = RowBatchWriter.fixed(buffer.memory(), 1, 1);
    assertTrue(writer.addRow());
    writer.setLong(0, number);
    buffer.stage(writer.finish(), 1);
  }

  private static long number(RowBatchReader batch) {
    assertEquals(1, batch.rowCount());
    return batch.getLong(0, 0);
  }

  @Test
  void shouldHaveRoomForSoManyBatchesThatAreLentOrStaged() {
    BatchSink sink = new BatchSink(2, 4096);
    ResultSink.Buffer first = acquired(sink);
    ResultSink.Buffer second = acquired(sink);
    assertNull(sink.acquire(0));
    stage(first, 7);
    assertNull(sink.acquire(0));
    second.discard();
    assertEquals(4096, acquired(sink).memory().byteSize());
    assertNull(sink.acquire(0));
  }

  @Test
  void shouldGiveBatchesInTheirOrderAndTheirRoomBack() {
    BatchSink sink = new BatchSink(2);
    stage(acquired(sink), 7);
    stage(acquired(sink), 8);
    List<String> woken = new ArrayList<>();
    sink.whenWritable(() -> woken.add("first"));
    sink.whenWritable(() -> woken.add("second"));
    assertEquals(2, sink.waiters());
    assertEquals(7, number(Objects.requireNonNull(sink.take())));
    assertEquals(List.of("first", "second"), woken);
    assertEquals(0, sink.waiters());
    assertEquals(8, number(Objects.requireNonNull(sink.take())));
    assertNull(sink.take());
    sink.whenWritable(() -> woken.add("at once"));
    assertEquals(List.of("first", "second", "at once"), woken);
  }

  @Test
  void shouldReleaseTheRoomOfStagedBatchesAlone() {
    BatchSink sink = new BatchSink(2);
    stage(acquired(sink), 7);
    ResultSink.Buffer lent = acquired(sink);
    sink.release();
    assertNotNull(sink.acquire(0));
    assertNull(sink.acquire(0), "one is lent, and the next one");
    stage(lent, 8);
    assertEquals(List.of(7L, 8L), sink.batches().stream().map(BatchSinkTest::number).toList());
    // The first one has given its room before.
    sink.release();
    assertNotNull(sink.take());
    assertNotNull(sink.acquire(0));
    assertNull(sink.acquire(0));
  }

  @Test
  void shouldKeepWhatIsStagedFromLaterWrites() {
    BatchSink sink = new BatchSink(1);
    ResultSink.Buffer buffer = acquired(sink);
    stage(buffer, 7);
    buffer.memory().fill((byte) 1);
    assertEquals(7, number(sink.batches().getFirst()));
  }

  @Test
  void shouldLendMemoryThatIsNotZero() {
    byte first = acquired(new BatchSink(1)).memory().get(ValueLayout.JAVA_BYTE, 0);
    assertEquals((byte) 0xA5, first);
  }
}
