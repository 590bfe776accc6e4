package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import java.util.Set;

/// quote_literal(), quote_nullable() and quote_ident(): texts as SQL literals and names.
public final class Quoting {
  /// Keywords of PostgreSQL 15 that are not names everywhere.
  private static final Set<String> KEYWORDS =
      Set.of(
          """
          all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean
          both case cast char character check coalesce collate collation column concurrently constraint create
          cross current_catalog current_date current_role current_schema current_time current_timestamp
          current_user dec decimal default deferrable desc distinct do else end except exists extract false
          fetch float for foreign freeze from full grant greatest group grouping having ilike in initially
          inner inout int integer intersect interval into is isnull join lateral leading least left like limit
          localtime localtimestamp national natural nchar none normalize not notnull null nullif numeric
          offset on only or order out outer overlaps overlay placing position precision primary real
          references returning right row select session_user setof similar smallint some substring symmetric
          table tablesample then time timestamp to trailing treat trim true union unique user using values
          varchar variadic verbose when where window with xmlattributes xmlconcat xmlelement xmlexists
          xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable\
          """
              .split("\\s+"));

  /// Characters between two looks for a cancel, less one.
  private static final int CHECK_MASK = (1 << 14) - 1;

  private Quoting() {}

  static long literal(long text, VarHeap heap) {
    return Varlena.of(heap, literal(Varlena.string(text)));
  }

  /// As it is if that reads as this name, otherwise in quotes.
  public static String identifier(String value) {
    boolean safe = !value.isEmpty() && !Character.isDigit(value.charAt(0));
    for (int i = 0; i < value.length() && safe; i++) {
      char c = value.charAt(i);
      safe = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    }
    return safe && !KEYWORDS.contains(value) ? value : '"' + value.replace("\"", "\"\"") + '"';
  }

  /// In apostrophes, those within doubled; with backslashes in E'' form.
  public static String literal(String value) {
    boolean escapes = value.indexOf('\\') >= 0;
    StringBuilder out = new StringBuilder(value.length() + 3);
    out.append(escapes ? "E'" : "'");
    for (int i = 0; i < value.length(); i++) {
      if ((i & CHECK_MASK) == CHECK_MASK) {
        Interrupts.check();
      }
      char c = value.charAt(i);
      if (c == '\'' || c == '\\') {
        out.append(c);
      }
      out.append(c);
    }
    return out.append('\'').toString();
  }
}
