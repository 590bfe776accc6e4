package dev.kakehashi.engine.type.value;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.Spaces;

/// Rows as values: the text that PostgreSQL writes a record as.
public final class Records {
  private Records() {}

  /// Entries of a record, with commas between them.
  ///
  /// @param oids types of the entries, at most 60
  public static ScalarFunction entries(int[] oids) {
    return new ScalarFunction(
        "record_entries",
        oids,
        TypeOid.TEXT,
        false,
        false,
        (arguments, nulls, context) -> {
          StringBuilder out = new StringBuilder();
          appendEntries(out, oids, arguments, nulls, 0, context);
          return Varlena.of(context.heap, out.toString());
        });
  }

  /// A record of the values from number `from` on.
  public static String text(
      int[] oids, long[] values, long nulls, int from, FunctionContext context) {
    StringBuilder out = new StringBuilder("(");
    appendEntries(out, oids, values, nulls, from, context);
    return out.append(')').toString();
  }

  private static void appendEntries(
      StringBuilder out, int[] oids, long[] values, long nulls, int from, FunctionContext context) {
    for (int i = from; i < values.length; i++) {
      if (i > from) {
        out.append(',');
      }
      if ((nulls >>> i & 1) == 0) {
        append(out, Values.toText(oids[i], values[i], context.zone));
      }
    }
  }

  private static void append(StringBuilder out, String text) {
    boolean quoted = text.isEmpty();
    for (int i = 0; i < text.length(); i++) {
      quoted |= "\"\\(),".indexOf(text.charAt(i)) >= 0 || Spaces.isSpace(text.charAt(i));
    }
    if (!quoted) {
      out.append(text);
      return;
    }
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append(c);
      }
      out.append(c);
    }
    out.append('"');
  }
}
