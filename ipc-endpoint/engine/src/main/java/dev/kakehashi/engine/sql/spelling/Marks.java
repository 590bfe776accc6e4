package dev.kakehashi.engine.sql.spelling;

import java.util.Set;

/// Names that the translator gives to what Calcite's parser does not know, so that it takes it as calls, tables and aliases; the binders
/// know them. They have a blank, so that no name that is written without quotes is one of them.
public final class Marks {
  /// Name of the call that stands for DEFAULT.
  public static final String DEFAULT_CALL = "kh default";

  /// Name of the call that stands for FOR UPDATE, in front of a select list.
  public static final String LOCK_CALL = "kh lock";

  /// Name of the call that stands for a window's frame, the last item of its ORDER BY.
  public static final String FRAME_CALL = "kh frame";

  /// Name of the call that stands for DISTINCT ON, in front of a select list.
  public static final String DISTINCT_ON_CALL = "kh distinct on";

  /// Name of the call that is the only item of GROUP BY and stands for GROUP BY ALL.
  public static final String GROUP_BY_ALL_CALL = "kh group by all";

  /// Name of the call that stands for a select list without columns.
  public static final String NO_COLUMNS_CALL = "kh no columns";

  /// Names of calls in front of a select list that are no columns.
  public static final Set<String> SELECT_MARKERS =
      Set.of(LOCK_CALL, DISTINCT_ON_CALL, NO_COLUMNS_CALL);

  /// Name of the call around an argument that is VARIADIC.
  public static final String VARIADIC_CALL = "kh variadic";

  /// Name of the call that stands for an argument with a name: `name => value`.
  public static final String NAMED_CALL = "kh named";

  /// Name of the call around a scalar subquery that Calcite's parser takes for something else.
  public static final String SUBQUERY_CALL = "kh subquery";

  /// Name of the call behind the arguments of a function in FROM that stands for its list of column definitions: names, and nulls of their
  /// types.
  public static final String COLUMNS_CALL = "kh columns";

  /// Name of the call that stands for AT TIME ZONE: the time, then the zone.
  public static final String AT_TIME_ZONE_CALL = "kh at time zone";

  /// Name of the call that stands for COLLATE with a collation that orders by bytes.
  public static final String COLLATE_CALL = "kh collate";

  /// Begins the names of calls that stand for an operator with ANY or ALL, as in `LIKE ANY (array)`; the operator and a blank with the word
  /// follow.
  public static final String QUANTIFIED_CALL = "kh quantified ";

  /// `ROW(...)`.
  public static final String ROW_CALL = "kh row";

  /// `ARRAY[...]`, and brackets in it.
  public static final String ARRAY_CALL = "kh array";

  /// `a[1][2:3]`: the array, then [#AT_CALL] or [#SLICE_CALL] for each pair of brackets.
  public static final String SUBSCRIPT_CALL = "kh subscript";

  static final String AT_CALL = "kh at";

  /// Both bounds; [#NO_BOUND_CALL] for one that is left out.
  public static final String SLICE_CALL = "kh slice";

  public static final String NO_BOUND_CALL = "kh no bound";

  /// In front of the name of a function in FROM that is WITH ORDINALITY.
  public static final String ORDINALITY_PREFIX = "kh ordinality ";

  /// `ROWS FROM (...)`: the functions.
  public static final String ROWS_FROM_CALL = "kh rows from";

  /// In front of the alias of USING, which is its last column.
  public static final String USING_ALIAS_PREFIX = "kh using as ";

  /// Name of the query of WITH that stands for SEARCH and CYCLE of the one before it: its value.
  public static final String TRAVERSAL_QUERY = "kh traversal";

  /// Alias of the row that a SELECT without FROM but with WHERE selects from.
  public static final String DUAL = "kh dual";

  private Marks() {}
}
