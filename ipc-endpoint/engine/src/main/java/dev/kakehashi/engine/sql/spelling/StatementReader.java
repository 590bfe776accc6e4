package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.vector.Interrupts;
import java.io.IOException;
import org.apache.calcite.util.SourceStringReader;

/// A text for Calcite's parser, which takes it in small pieces and stops with its statement.
final class StatementReader extends SourceStringReader {
  /// Characters that are parsed in less than a millisecond.
  private static final int PIECE = 512;

  StatementReader(String text) {
    super(text);
  }

  @Override
  public int read(char[] into, int from, int length) throws IOException {
    Interrupts.check();
    return super.read(into, from, Math.min(length, PIECE));
  }
}
