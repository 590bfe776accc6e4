package dev.kakehashi.engine.store.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.SideFileWriter;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RowEncodersTest {
  private static final int STRETCHES = 50;
  private static final int ROWS = 100;
  private static final byte[] KEY = {2};

  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

  /// Rows of a stretch: its number and theirs, in values of some length.
  private void encode(int stretch, RowEncoders.Pieces to, int valueBytes)
      throws InterruptedException {
    threads.add(Thread.currentThread());
    for (int row = 0; row < ROWS; row++) {
      String text = "%d %d;".formatted(stretch, row);
      byte[] value = (text + "x".repeat(valueBytes)).getBytes(StandardCharsets.UTF_8);
      to.piece().put(KEY, value);
    }
  }

  private void allThreadsHaveEnded() {
    for (Thread thread : threads) {
      assertTrue(!thread.isAlive(), thread.getName());
    }
  }

  @Test
  void shouldGiveRowsInTheirOrderInPieces() {
    StringBuilder found = new StringBuilder();
    int[] pieces = new int[1];
    try (RowEncoders encoders =
        new RowEncoders(STRETCHES, (stretch, to) -> encode(stretch, to, 30_000))) {
      encoders.write(piece -> {
        assertTrue(piece.length() < SideFileWriter.PIECE_BYTES + (64 << 10));
        pieces[0]++;
        String text = new String(piece.bytes(), 0, piece.length(), StandardCharsets.ISO_8859_1);
        found.append(text.replaceAll("x+", "").replaceAll("[^0-9 ;]", ""));
        piece.clear();
      });
    }
    StringBuilder expected = new StringBuilder();
    for (int stretch = 0; stretch < STRETCHES; stretch++) {
      for (int row = 0; row < ROWS; row++) {
        expected.append(stretch).append(' ').append(row).append(';');
      }
    }
    assertEquals(expected.toString(), found.toString());
    assertTrue(pieces[0] > STRETCHES, pieces[0] + " pieces");
    allThreadsHaveEnded();
  }

  @Test
  void shouldFailAsAnEncoderDoes() {
    IllegalStateException failure = new IllegalStateException("a row cannot be encoded");
    try (RowEncoders encoders =
        new RowEncoders(
            STRETCHES,
            (stretch, to) -> {
              if (stretch == STRETCHES / 2) {
                throw failure;
              }
              encode(stretch, to, 10);
            })) {
      assertSame(
          failure,
          assertThrows(IllegalStateException.class, () -> encoders.write(LogRecord::clear)));
    }
    allThreadsHaveEnded();
  }

  @Test
  void shouldEndItsThreadsWhenTheWriterFails() {
    IllegalStateException failure = new IllegalStateException("the disk is full");
    try (RowEncoders encoders =
        new RowEncoders(STRETCHES, (stretch, to) -> encode(stretch, to, 30_000))) {
      assertSame(
          failure,
          assertThrows(
              IllegalStateException.class,
              () ->
                  encoders.write(piece -> {
                    throw failure;
                  })));
    }
    allThreadsHaveEnded();
  }
}
