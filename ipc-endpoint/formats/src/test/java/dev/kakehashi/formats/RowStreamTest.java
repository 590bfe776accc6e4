package dev.kakehashi.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.TypeOid;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class RowStreamTest {
  private static RowStreamReader reader(byte[] bytes) throws IOException {
    return new RowStreamReader(new ByteArrayInputStream(bytes));
  }

  private static byte[] stream() throws IOException {
    return new Samples().encoded(RowEncoder.of(Format.ROWS, FormatOptions.of(Format.ROWS)));
  }

  @Test
  void shouldGiveTheVeryValues() throws IOException {
    Samples samples = new Samples();
    RowStreamReader reader = reader(stream());
    assertEquals(samples.columns, reader.columns());
    FormatOptions options = FormatOptions.of(Format.CSV);
    RowEncoder csv = RowEncoder.of(Format.CSV, options);
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    csv.begin(reader.columns(), text);
    for (MemorySegment batch = reader.next(); batch != null; batch = reader.next()) {
      csv.rows(batch);
    }
    csv.end(0);
    assertEquals(
        new String(
            new Samples().encoded(RowEncoder.of(Format.CSV, options)), StandardCharsets.UTF_8),
        text.toString(StandardCharsets.UTF_8));
    assertEquals(0, reader.problem().length);
    assertNull(reader.next());
  }

  @Test
  void shouldNotTakeAPartForTheWhole() throws IOException {
    byte[] whole = stream();
    for (int length = 0; length < whole.length; length += 1 + whole.length / 997) {
      byte[] part = Arrays.copyOf(whole, length);
      assertThrows(
          EOFException.class,
          () -> {
            RowStreamReader reader = reader(part);
            while (reader.next() != null) {
              // up to the cut
            }
          });
    }
  }

  @Test
  void shouldSayWhyTheRestIsMissing() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    RowEncoder encoder = RowEncoder.of(Format.ROWS, FormatOptions.of(Format.ROWS));
    encoder.begin(List.of(new Statement.Column("ä", TypeOid.INT4, -1)), bytes);
    encoder.rows(Samples.row("[1]", TypeOid.INT4).batch());
    encoder.fail("{\"detail\":\"x\"}".getBytes(StandardCharsets.UTF_8));
    RowStreamReader reader = reader(bytes.toByteArray());
    assertEquals("ä", reader.columns().getFirst().name());
    assertNotNull(reader.next());
    assertNull(reader.next());
    assertEquals("{\"detail\":\"x\"}", new String(reader.problem(), StandardCharsets.UTF_8));
  }

  @Test
  void shouldRefuseFramesThatLie() {
    for (int[] words :
        new int[][] {
          {2, 0},
          {1, 4, 1},
          {1, -1},
          {1, Integer.MAX_VALUE},
          {1, 8, 2, 0},
          {1, 8, 1, -1},
          {1, 8, 1, 1 << 20},
          {1, 8, 1, 1},
          {1, 20, 1, 1, 23, -1, 9},
          {1, 8, 1, 0, 9, 0},
          {1, 8, 1, 0, 2, 4, 0},
          {1, 8, 1, 0, 3, 4, 0},
          {1, 8, 1, 0, 2, -5}
        }) {
      byte[] bytes = new byte[words.length * 4];
      java.nio.ByteBuffer.wrap(bytes)
          .order(java.nio.ByteOrder.LITTLE_ENDIAN)
          .asIntBuffer()
          .put(words);
      assertThrows(
          MalformedFrameException.class,
          () -> {
            RowStreamReader reader = reader(bytes);
            while (reader.next() != null) {
              // nothing comes
            }
          },
          Arrays.toString(words));
    }
  }
}
