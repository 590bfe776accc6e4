package dev.kakehashi.engine.sql.lexer;

import java.util.Set;

/// The words that are no names of tables and columns without quotes: those that PostgreSQL's `pg_get_keywords()` calls reserved, also those
/// that may name functions and types.
public final class ReservedWords {
  private static final Set<String> WORDS =
      Set.of(
          """
          all analyse analyze and any array as asc asymmetric authorization binary both case cast
          check collate collation column concurrently constraint create cross current_catalog
          current_date current_role current_schema current_time current_timestamp current_user
          default deferrable desc distinct do else end except false fetch for foreign freeze from
          full grant group having ilike in initially inner intersect into is isnull join lateral
          leading left like limit localtime localtimestamp natural not notnull null offset on only
          or order outer overlaps placing primary references returning right select session_user
          similar some symmetric table tablesample then to trailing true union unique user using
          variadic verbose when where window with
          """
              .split("\\s+"));

  /// Syntax of its own that looks like a call of a function.
  private static final Set<String> CALLS = Set.of("coalesce", "greatest", "least", "nullif");

  private ReservedWords() {}

  /// @param word in lower case
  public static boolean looksLikeCall(String word) {
    return CALLS.contains(word);
  }

  /// @param word in lower case
  static boolean contains(String word) {
    return WORDS.contains(word);
  }
}
