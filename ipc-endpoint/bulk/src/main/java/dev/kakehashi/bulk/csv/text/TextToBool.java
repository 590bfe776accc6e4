package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.valuetext.ValueErrors;
import java.util.Locale;

/// boolean: the words and their beginnings as far as they are no other's.
final class TextToBool extends TextColumn {
  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    if (to - from == 1) {
      switch (bytes[from]) {
        case 't', '1' -> {
          batch.setWord(column, 1);
          return;
        }
        case 'f', '0' -> {
          batch.setWord(column, 0);
          return;
        }
        default -> {
          // a word
        }
      }
    }
    String text = FileUtf8.stripped(bytes, from, to);
    boolean value =
        switch (text.toLowerCase(Locale.ROOT)) {
          case "t", "tr", "tru", "true", "y", "ye", "yes", "on", "1" -> true;
          case "f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0" -> false;
          default -> throw ValueErrors.invalidSyntax("boolean", text);
        };
    batch.setWord(column, value ? 1 : 0);
  }
}
