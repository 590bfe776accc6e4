package dev.kakehashi.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.RowBatchLayout;
import dev.kakehashi.protocol.TypeOid;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Row batches that are none: an exception that says so, or other values; never another error, nor memory beside the batch.
class DamagedBatchTest {
  private static final int ROUNDS = 2000;

  private static void encode(Format format, Samples samples, MemorySegment batch)
      throws IOException {
    RowEncoder encoder = RowEncoder.of(format, FormatOptions.of(format));
    encoder.begin(samples.columns, OutputStream.nullOutputStream());
    encoder.rows(batch);
    encoder.end(1);
  }

  @ParameterizedTest
  @EnumSource
  void shouldBeRefusedOrReadWithoutOtherErrors(Format format) throws IOException {
    Samples samples = new Samples();
    byte[] whole = samples.batch.batch().toArray(ValueLayout.JAVA_BYTE);
    Random random = new Random(13);
    int refused = 0;
    for (int i = 0; i < ROUNDS; i++) {
      byte[] damaged = whole.clone();
      int at =
          RowBatchLayout.HEADER_BYTES
              + random.nextInt(damaged.length - RowBatchLayout.HEADER_BYTES);
      damaged[at] = (byte) random.nextInt();
      try {
        encode(format, samples, MemorySegment.ofArray(damaged));
      } catch (MalformedFrameException | EngineException e) {
        refused++;
      }
    }
    // Rows are copied as they are, and checked by who reads them: RowStreamTest.
    assertEquals(format != Format.ROWS, refused > 0);
  }

  @ParameterizedTest
  @EnumSource
  void shouldRefuseAnotherNumberOfColumns(Format format) throws IOException {
    Samples samples = new Samples();
    MemorySegment one = Samples.row("[1]", TypeOid.INT4).batch();
    assertThrows(MalformedFrameException.class, () -> encode(format, samples, one));
  }

  @Test
  void shouldRefuseWhatIsCutOff() throws IOException {
    Samples samples = new Samples();
    MemorySegment batch = samples.batch.batch();
    for (long length : List.of(0L, 31L, 40L, batch.byteSize() - 8)) {
      assertThrows(
          MalformedFrameException.class,
          () -> encode(Format.JSON, samples, batch.asSlice(0, length)));
    }
  }
}
