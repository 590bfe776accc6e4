package dev.kakehashi.bulk.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.format.FileFormat;
import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.bulk.value.BudgetContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.formats.coding.Coding;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/// Rows are written as PostgreSQL 19 writes them with `FORMAT json`.
class JsonWriteTest {
  private static final List<LoadColumn> COLUMNS =
      List.of(
          column("id", TypeOid.INT8),
          column("n \"m\"", TypeOid.TEXT),
          column("b", TypeOid.BOOL),
          column("j", TypeOid.JSON),
          column("id", TypeOid.FLOAT8));

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  private final FileOutput file =
      new FileOutput() {
        @Override
        public void write(byte[] source, int from, int count) {
          bytes.write(source, from, count);
        }

        @Override
        public void write(ByteBuffer source) {
          throw new UnsupportedOperationException("rows are written from arrays");
        }

        @Override
        public long position() {
          return bytes.size();
        }
      };

  private static LoadColumn column(String name, int oid) {
    return new LoadColumn(name, oid, -1, TypeName.of(oid, -1), true, List.of());
  }

  private static RowBatchWriter rows(int first, int count) {
    RowBatchWriter batch = RowBatchWriter.growable(COLUMNS.size(), Math.max(1, count), 1 << 16);
    for (int i = first; i < first + count; i++) {
      batch.addRow();
      batch.setLong(0, i == 1 ? Long.MAX_VALUE : i);
      if (i % 2 == 0) {
        batch.setNull(1);
        batch.setNull(3);
      } else {
        batch.setString(1, "a\"\\\n\u00e9");
        batch.setString(3, "{\"x\":\n [1, null]}");
      }
      batch.setBoolean(2, i % 2 == 1);
      batch.setDouble(4, i == 2 ? Double.NaN : i / 2.0);
    }
    batch.finish();
    return batch;
  }

  private RowsOutput open(JsonFormat format) {
    return format.write(file, COLUMNS, new FileFormat.Description(""), new BudgetContext(1 << 20));
  }

  private String written() {
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static final String FIRST =
      "{\"id\":9223372036854775807,\"n \\\"m\\\"\":\"a\\\"\\\\\\n\u00e9\",\"b\":true,\"j\":{\"x\":  [1, null]},\"id\":0.5}";
  private static final String SECOND =
      "{\"id\":2,\"n \\\"m\\\"\":null,\"b\":false,\"j\":null,\"id\":\"NaN\"}";

  @Test
  void shouldWriteAnObjectALine() {
    JsonFormat format = new JsonFormat(false, Coding.IDENTITY);
    try (RowsOutput output = open(format)) {
      output.rows(rows(1, 2).batch());
      output.end();
      assertEquals(2, output.rowCount());
      assertEquals(file.position(), output.estimatedBytes());
    }
    assertEquals(FIRST + "\n" + SECOND + "\n", written());
    assertEquals(".json", format.suffix());
    assertTrue(format.hasPieces());
  }

  @Test
  void shouldWriteAnArrayInOnePiece() {
    JsonFormat format = new JsonFormat(true, Coding.IDENTITY);
    assertFalse(format.hasPieces());
    try (RowsOutput output = open(format)) {
      output.rows(rows(1, 1).batch());
      output.rows(rows(2, 1).batch());
      output.end();
    }
    assertEquals("[\n " + FIRST + "\n," + SECOND + "\n]\n", written());
  }

  @Test
  void shouldWriteAnEmptyArray() {
    try (RowsOutput output = open(new JsonFormat(true, Coding.IDENTITY))) {
      output.end();
    }
    assertEquals("[\n]\n", written());
  }

  @Test
  void shouldLetSeveralWriteWholeRows() {
    try (RowsOutput one = open(new JsonFormat(false, Coding.IDENTITY));
        RowsOutput other = one.another()) {
      other.rows(rows(2, 1).batch());
      one.rows(rows(1, 1).batch());
      other.end();
      one.end();
    }
    assertEquals(
        List.of(SECOND, FIRST).stream().sorted().toList(), written().lines().sorted().toList());
  }

  @Test
  void shouldCompress() throws IOException {
    JsonFormat format = new JsonFormat(false, Coding.GZIP);
    assertEquals(".json.gz", format.suffix());
    assertFalse(format.hasPieces());
    try (RowsOutput output = open(format)) {
      output.rows(rows(1, 2).batch());
      output.end();
    }
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      assertEquals(
          FIRST + "\n" + SECOND + "\n", new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
  }
}
