package dev.kakehashi.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.testsupport.BatchSink;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// The batch in front of a call's rows, which says what columns they have.
class CallDescriptionTest {
  private static final int SHAPE = -5;

  private static RowBatchReader written(List<Statement.Column> columns) {
    BatchSink sink = new BatchSink(1);
    CallDescription.write(columns, SHAPE, sink);
    RowBatchReader batch = Objects.requireNonNull(sink.take());
    assertEquals(4, batch.columnCount());
    assertNull(sink.take());
    return batch;
  }

  @Test
  void shouldSayNameTypeAndModifierOfEachColumn() {
    RowBatchReader batch =
        written(
            List.of(
                new Statement.Column("id", TypeOid.INT8, -1),
                new Statement.Column("größe", TypeOid.NUMERIC, 655366)));
    assertEquals(2, batch.rowCount());
    assertEquals("id", batch.getString(0, 0));
    assertEquals(TypeOid.INT8, batch.getLong(0, 1));
    assertEquals(-1, batch.getLong(0, 2));
    assertEquals(SHAPE, batch.getLong(0, 3));
    assertEquals("größe", batch.getString(1, 0));
    assertEquals(TypeOid.NUMERIC, batch.getLong(1, 1));
    assertEquals(655366, batch.getLong(1, 2));
    assertEquals(SHAPE, batch.getLong(1, 3));
  }

  @Test
  void shouldSayByOneRowWithoutANameThatThereAreNone() {
    RowBatchReader batch = written(List.of());
    assertEquals(1, batch.rowCount());
    assertTrue(batch.isNull(0, 0) && batch.isNull(0, 1) && batch.isNull(0, 2));
    assertEquals(SHAPE, batch.getLong(0, 3));
  }

  @Test
  void shouldRefuseColumnsThatNoBatchHolds() {
    BatchSink sink = new BatchSink(1, 4096);
    List<Statement.Column> many =
        Collections.nCopies(60, new Statement.Column("a".repeat(63), TypeOid.TEXT, -1));
    EngineException refused =
        assertThrows(EngineException.class, () -> CallDescription.write(many, SHAPE, sink));
    assertEquals(ErrorCode.LIMIT_EXCEEDED, refused.code());
    assertEquals(0, sink.batches().size());
    CallDescription.write(many.subList(0, 20), SHAPE, sink);
    assertEquals(1, sink.batches().size());
  }

  @Test
  void shouldSayThatThereIsNoRoom() {
    BatchSink sink = new BatchSink(1);
    CallDescription.write(List.of(), SHAPE, sink);
    EngineException refused =
        assertThrows(EngineException.class, () -> CallDescription.write(List.of(), SHAPE, sink));
    assertEquals(ErrorCode.OUT_OF_SLOTS, refused.code());
  }
}
