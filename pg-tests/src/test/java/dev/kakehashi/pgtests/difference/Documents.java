package dev.kakehashi.pgtests.difference;

/// Random expressions over columns that are arrays, json and jsonb. Over the small values of [Tables] they never fail, unless `risky`.
final class Documents {
  private final Dice dice;

  Documents(Dice dice) {
    this.dice = dice;
  }

  private String integers() {
    return dice.constant(
        "int4[]",
        dice.pick("{}", "{1}", "{1,2}", "{3,NULL}", "{{1,2},{3,4}}", "{NULL}", "[0:1]={1,2}"));
  }

  private String texts() {
    return dice.constant("text[]", dice.pick("{}", "{a}", "{a,b}", "{NULL,\"x y\"}", "{b}"));
  }

  private String document() {
    return dice.constant(
        "jsonb",
        dice.pick(
            "{\"a\": 1}", "{\"a\": 1.0}", "[1]", "[]", "{}", "7", "null", "1", "\"a\"", "[1, 2]"));
  }

  private String path() {
    return dice.constant("text[]", dice.pick("{a}", "{b,0}", "{b}", "{}", "{1}", "{a,b,-1}"));
  }

  private String small() {
    return Integer.toString(dice.between(-1, 3));
  }

  private String key() {
    return dice.constant("text", dice.pick("a", "b", "x", ""));
  }

  /// An int4[] that is computed.
  String ints(String alias) {
    return switch (dice.below(4)) {
      case 0 -> "array_replace(" + alias + ".ai, " + small() + ", " + small() + ")";
      case 1 -> "(" + alias + ".ai)[" + small() + ":" + small() + "]";
      case 2 -> "array_positions(" + alias + ".at, " + key() + ")";
      default -> "(" + integers() + ")[1:2]";
    };
  }

  /// A text[] that is computed.
  String strings(String alias) {
    return switch (dice.below(4)) {
      case 0 -> "array_remove(" + alias + ".at, " + key() + ")";
      case 1 -> "(" + alias + ".at || " + texts() + ")";
      case 2 -> "(" + key() + " || " + alias + ".at)";
      default -> alias + ".at[" + small() + ":2]";
    };
  }

  String integer(String alias) {
    return switch (dice.below(7)) {
      case 0 -> alias + ".ai[" + small() + "]";
      case 1 -> alias + ".ai[" + small() + "][" + small() + "]";
      case 2 ->
          dice.pick("array_length", "array_upper", "array_lower")
              + "("
              + alias
              + dice.pick(".ai, ", ".at, ")
              + small()
              + ")";
      case 3 -> dice.pick("cardinality(", "array_ndims(") + alias + dice.pick(".ai)", ".at)");
      case 4 -> "array_position(" + alias + ".at, " + key() + dice.pick(")", ", 2)");
      case 5 ->
          "CASE WHEN jsonb_typeof("
              + alias
              + ".jb) = 'array' THEN jsonb_array_length("
              + alias
              + ".jb) END";
      default -> "(" + alias + ".jb ->> 'a')::int4";
    };
  }

  String text(String alias) {
    return switch (dice.below(9)) {
      case 0 -> alias + ".at[" + small() + "]";
      case 1 -> "(" + alias + ".jb ->> " + key() + ")";
      case 2 -> "(" + alias + ".jb ->> " + small() + ")";
      case 3 -> "(" + alias + ".jb #>> " + path() + ")";
      case 4 -> "(" + alias + ".j ->> " + dice.pick(key(), small()) + ")";
      case 5 ->
          "array_to_string(" + alias + dice.pick(".ai", ".at") + ", ','" + dice.pick(")", ", 'N')");
      case 6 -> dice.pick("jsonb_typeof(" + alias + ".jb)", "json_typeof(" + alias + ".j)");
      case 7 -> "((" + alias + ".jb -> " + key() + ") ->> " + small() + ")";
      default -> "(" + alias + ".jb || " + document() + ")::text";
    };
  }

  String condition(String alias, String other) {
    return "(" + test(alias, other) + ")";
  }

  private String test(String alias, String other) {
    return switch (dice.below(13)) {
      case 0 ->
          alias
              + ".ai"
              + dice.pick(
                  " = ", " <> ", " < ", " >= ", " @> ", " <@ ", " && ", " IS DISTINCT FROM ")
              + dice.pick(integers(), other + ".ai", ints(other));
      case 1 ->
          alias
              + ".at"
              + dice.pick(
                  " = ", " <> ", " < ", " >= ", " @> ", " <@ ", " && ", " IS DISTINCT FROM ")
              + dice.pick(texts(), other + ".at", strings(other));
      case 2 ->
          dice.pick(small(), other + ".i4") + dice.pick(" = ANY (", " <> ALL (") + alias + ".ai)";
      case 3 ->
          dice.pick(key(), other + ".t")
              + dice.pick(" = ANY (", " <> ALL (")
              + strings(alias)
              + ")";
      case 4 ->
          alias
              + ".jb"
              + dice.pick(" = ", " <> ", " @> ", " <@ ", " IS NOT DISTINCT FROM ")
              + dice.pick(document(), other + ".jb");
      case 5 -> alias + ".jb" + dice.pick(" ? ") + dice.pick(key(), other + ".t");
      case 6 -> alias + ".jb" + dice.pick(" ?| ", " ?& ") + dice.pick(texts(), other + ".at");
      case 7 -> "(" + alias + ".jb -> " + dice.pick(key(), small()) + ") = " + document();
      case 8 -> "(" + alias + ".jb #> " + path() + ") = " + document();
      case 9 -> "(" + alias + ".jb || " + document() + ")" + dice.pick(" = ", " @> ") + document();
      case 10 -> alias + ".jb < " + document();
      case 11 -> integer(alias) + dice.pick(" = ", " < ", " >= ") + small();
      default -> text(alias) + dice.pick(" = ", " < ", " LIKE ") + key();
    };
  }

  /// An expression that may fail, over extreme values.
  String risky(String alias) {
    return switch (dice.below(10)) {
      case 0 -> "jsonb_array_length(" + alias + ".jb)";
      case 1 -> "array_position(" + alias + ".ai, " + small() + ")";
      case 2 -> "cardinality(array_remove(" + alias + ".ai, " + small() + "))";
      case 3 -> "cardinality(" + alias + ".ai || " + small() + ")";
      case 4 -> "cardinality(" + alias + ".ai || " + integers() + ")";
      case 5 ->
          "((" + alias + ".jb - " + dice.pick("'a'::text", "0", "'{a,b}'::text[]") + "))::text";
      case 6 -> "((" + alias + ".jb #- " + path() + "))::text";
      case 7 -> "(" + alias + ".jb #>> '{}')::" + dice.pick("int4", "int8", "numeric");
      case 8 -> "json_array_length(" + alias + ".j)";
      default -> dice.oneIn(2) ? integer(alias) : text(alias);
    };
  }
}
