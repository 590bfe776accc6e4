package dev.kakehashi.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.RowBatchLayout;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.valuetext.number.Digits;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Views that copy their batches give what the others give.
class CopiedBatchTest {
  private static final int ROUNDS = 500;

  /// Values of all rows, or `refused`.
  private static String text(BatchView view, MemorySegment batch, ValueForm[] forms)
      throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Output out = new Output(bytes);
    try {
      view.wrap(batch, forms.length);
      for (int row = 0; row < view.rowCount(); row++) {
        for (int column = 0; column < forms.length; column++) {
          long rowAt = view.rowAt(row);
          if (!view.isNull(rowAt, column)) {
            PlainText.put(out, forms[column], view, view.word(rowAt, column));
          }
          out.put('|');
        }
      }
    } catch (MalformedFrameException e) {
      return "refused";
    }
    out.flush();
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void shouldGiveTheSameAlsoOfDamagedBatches() throws IOException {
    Samples samples = new Samples();
    ValueForm[] forms =
        samples.columns.stream()
            .map(each -> ValueForm.of(each.typeOid()))
            .toArray(ValueForm[]::new);
    byte[] whole = samples.batch.batch().toArray(ValueLayout.JAVA_BYTE);
    BatchView copying = BatchView.copying();
    String undamaged = text(copying, samples.batch.batch(), forms);
    assertTrue(copying.isCopied());
    assertEquals(text(new BatchView(), samples.batch.batch(), forms), undamaged);
    Random random = new Random(17);
    int refused = 0;
    for (int i = 0; i < ROUNDS; i++) {
      byte[] damaged = whole.clone();
      int at =
          RowBatchLayout.HEADER_BYTES
              + random.nextInt(damaged.length - RowBatchLayout.HEADER_BYTES);
      damaged[at] = (byte) random.nextInt();
      MemorySegment batch = MemorySegment.ofArray(damaged);
      String inPlace = text(new BatchView(), batch, forms);
      assertEquals(inPlace, text(copying, batch, forms));
      refused += inPlace.equals("refused") ? 1 : 0;
    }
    assertTrue(refused > 0 && refused < ROUNDS, Integer.toString(refused));
  }

  @Test
  void shouldReadALongBatchWhereItIs() throws IOException {
    String value = "x".repeat(2 << 20);
    RowBatchWriter writer = RowBatchWriter.growable(1, 1, 4 << 20);
    writer.addRow();
    writer.setString(0, value);
    writer.finish();
    MemorySegment batch = writer.batch();
    BatchView view = BatchView.copying();
    assertEquals(value + "|", text(view, batch, new ValueForm[] {ValueForm.TEXT}));
    assertFalse(view.isCopied());
  }

  @Test
  void shouldWriteIntegersOfEachLength() {
    byte[] bytes = new byte[2 * Digits.MAX_INTEGER_BYTES];
    long power = 1;
    for (int digits = 1; digits <= 19; digits++) {
      for (long value : new long[] {power - 1, power, power + 1, 7 * (power / 8) + 5}) {
        for (long signed : new long[] {value, -value}) {
          int end = Digits.putLong(bytes, 0, signed);
          assertEquals(Long.toString(signed), new String(bytes, 0, end, StandardCharsets.US_ASCII));
        }
        String shown = Long.toString(value);
        for (int width : new int[] {shown.length(), shown.length() + 1, shown.length() + 4}) {
          int end = Digits.putPadded(bytes, 0, value, width);
          assertEquals(
              "0".repeat(width - shown.length()) + shown,
              new String(bytes, 0, end, StandardCharsets.US_ASCII));
        }
      }
      power *= 10;
    }
    for (long value : new long[] {Long.MAX_VALUE, Long.MIN_VALUE, Integer.MAX_VALUE, 1L << 31}) {
      int end = Digits.putLong(bytes, 0, value);
      assertEquals(Long.toString(value), new String(bytes, 0, end, StandardCharsets.US_ASCII));
    }
  }
}
