package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;

/// quote_literal() and quote_nullable(): texts as SQL literals.
final class Quoting {
  private Quoting() {}

  /// In apostrophes, those within doubled; with backslashes in E'' form.
  static long literal(long text, VarHeap heap) {
    String value = Varlena.string(text);
    boolean escapes = value.indexOf('\\') >= 0;
    StringBuilder out = new StringBuilder(value.length() + 3);
    out.append(escapes ? "E'" : "'");
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '\'' || c == '\\') {
        out.append(c);
      }
      out.append(c);
    }
    return Varlena.of(heap, out.append('\'').toString());
  }
}
