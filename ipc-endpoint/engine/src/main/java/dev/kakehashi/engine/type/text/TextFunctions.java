package dev.kakehashi.engine.type.text;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.BPCHAR;
import static dev.kakehashi.protocol.TypeOid.BYTEA;
import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.INT8;
import static dev.kakehashi.protocol.TypeOid.TEXT;
import static dev.kakehashi.protocol.TypeOid.VARCHAR;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.array.IdentifierParser;
import dev.kakehashi.engine.type.array.TextArrays;
import dev.kakehashi.engine.type.value.Ordering;

/// Operators and functions of text and char(n); varchar is text to them.
public final class TextFunctions {
  /// Number that the modifier of a type with a length adds to the length.
  private static final int VARCHAR_HEADER = 4;

  private TextFunctions() {}

  public static void register(FunctionSet set) {
    lengths(set);
    parts(set);
    searches(set);
    padding(set);
    patterns(set);
    characters(set);
    others(set);
    RegexFunctions.register(set);
    TextArrays.register(set);
    Encodings.register(set);
    IdentifierParser.register(set);
    set.add(
        "unistr",
        TEXT,
        (a, _, c) -> Varlena.of(c.heap, UnicodeEscapes.decode(Varlena.string(a[0]))),
        TEXT);
    ByteaFunctions.register(set);
  }

  private static void lengths(FunctionSet set) {
    for (String name : new String[] {"length", "char_length", "character_length"}) {
      set.add(name, INT4, (a, _, _) -> Strings.length(a[0]), TEXT);
      // Trailing blanks of a char(n) do not count.
      set.add(
          name,
          INT4,
          (a, _, _) -> Utf8.count(Varlena.data(a[0]), Ordering.bpcharLength(a[0])),
          BPCHAR);
    }
    set.add("octet_length", INT4, (a, _, _) -> Varlena.length(a[0]), TEXT);
    set.add("octet_length", INT4, (a, _, _) -> Varlena.length(a[0]), BPCHAR);
    set.add("bit_length", INT4, (a, _, _) -> 8L * Varlena.length(a[0]), TEXT);
  }

  private static void parts(FunctionSet set) {
    set.add("||", TEXT, (a, _, c) -> Strings.concat(a[0], a[1], c.heap), TEXT, TEXT);
    set.add("lower", TEXT, (a, _, c) -> Strings.lower(a[0], c.heap), TEXT);
    // As with the collations of the C library that PostgreSQL has.
    set.add("casefold", TEXT, (a, _, c) -> Strings.lower(a[0], c.heap), TEXT);
    set.add("upper", TEXT, (a, _, c) -> Strings.upper(a[0], c.heap), TEXT);
    set.add("initcap", TEXT, (a, _, c) -> Strings.initcap(a[0], c.heap), TEXT);
    for (String name : new String[] {"substring", "substr"}) {
      set.add(name, TEXT, (a, _, c) -> Strings.substring(a[0], a[1], c.heap), TEXT, INT4);
      set.add(
          name, TEXT, (a, _, c) -> Strings.substring(a[0], a[1], a[2], c.heap), TEXT, INT4, INT4);
    }
    set.add("left", TEXT, (a, _, c) -> Strings.left(a[0], a[1], c.heap), TEXT, INT4);
    set.add("right", TEXT, (a, _, c) -> Strings.right(a[0], a[1], c.heap), TEXT, INT4);
    set.add("repeat", TEXT, (a, _, c) -> Strings.repeat(a[0], a[1], c.heap), TEXT, INT4);
    set.add("reverse", TEXT, (a, _, c) -> Strings.reverse(a[0], c.heap), TEXT);
    set.add(
        "overlay",
        TEXT,
        (a, _, c) -> Strings.overlay(a[0], a[1], a[2], a[3], c.heap),
        TEXT,
        TEXT,
        INT4,
        INT4);
    set.add(
        "overlay",
        TEXT,
        (a, _, c) -> Strings.overlay(a[0], a[1], a[2], Strings.length(a[1]), c.heap),
        TEXT,
        TEXT,
        INT4);
  }

  private static void searches(FunctionSet set) {
    Body position = (a, _, _) -> StringSearch.position(a[0], a[1]);
    set.add("position", INT4, position, TEXT, TEXT).add("strpos", INT4, position, TEXT, TEXT);
    Body startsWith = (a, _, _) -> StringSearch.startsWith(a[0], a[1]) ? 1 : 0;
    set.add("starts_with", BOOL, startsWith, TEXT, TEXT).add("^@", BOOL, startsWith, TEXT, TEXT);
    set.add(
        "replace",
        TEXT,
        (a, _, c) -> StringSearch.replace(a[0], a[1], a[2], c.heap),
        TEXT,
        TEXT,
        TEXT);
    set.add(
        "split_part",
        TEXT,
        (a, _, c) -> StringSearch.splitPart(a[0], a[1], a[2], c.heap),
        TEXT,
        TEXT,
        INT4);
  }

  private static void padding(FunctionSet set) {
    trim(set, "btrim", true, true);
    trim(set, "ltrim", true, false);
    trim(set, "rtrim", false, true);
    set.add("lpad", TEXT, (a, _, c) -> StringPadding.pad(a[0], a[1], 0, true, c.heap), TEXT, INT4);
    set.add("rpad", TEXT, (a, _, c) -> StringPadding.pad(a[0], a[1], 0, false, c.heap), TEXT, INT4);
    set.add(
        "lpad",
        TEXT,
        (a, _, c) -> StringPadding.pad(a[0], a[1], a[2], true, c.heap),
        TEXT,
        INT4,
        TEXT);
    set.add(
        "rpad",
        TEXT,
        (a, _, c) -> StringPadding.pad(a[0], a[1], a[2], false, c.heap),
        TEXT,
        INT4,
        TEXT);
    set.add(
        "translate",
        TEXT,
        (a, _, c) -> StringPadding.translate(a[0], a[1], a[2], c.heap),
        TEXT,
        TEXT,
        TEXT);
  }

  private static void trim(FunctionSet set, String name, boolean left, boolean right) {
    set.add(name, TEXT, (a, _, c) -> StringPadding.trimBlanks(a[0], left, right, c.heap), TEXT);
    set.add(
        name, TEXT, (a, _, c) -> StringPadding.trim(a[0], a[1], left, right, c.heap), TEXT, TEXT);
    set.add(
        name,
        BYTEA,
        (a, _, c) -> StringPadding.trimBytes(a[0], a[1], left, right, c.heap),
        BYTEA,
        BYTEA);
  }

  /// @throws EngineException 22001 unless it is explicit, for more than blanks beyond the length
  private static long ofLength(long[] a, long nulls, FunctionContext context) {
    return a[1] < VARCHAR_HEADER
        ? a[0]
        : CharacterTypes.varchar(a[0], (int) a[1] - VARCHAR_HEADER, a[2] != 0, context.heap);
  }

  private static void patterns(FunctionSet set) {
    Body like = (a, _, _) -> Like.matches(a[0], a[1], false) ? 1 : 0;
    Body notLike = (a, _, _) -> Like.matches(a[0], a[1], false) ? 0 : 1;
    Body ilike = (a, _, _) -> Like.matches(a[0], a[1], true) ? 1 : 0;
    Body notIlike = (a, _, _) -> Like.matches(a[0], a[1], true) ? 0 : 1;
    for (int oid : new int[] {TEXT, BPCHAR}) {
      set.add("~~", BOOL, like, oid, TEXT).add("!~~", BOOL, notLike, oid, TEXT);
      set.add("~~*", BOOL, ilike, oid, TEXT).add("!~~*", BOOL, notIlike, oid, TEXT);
    }
    set.add("like", BOOL, like, TEXT, TEXT).add("notlike", BOOL, notLike, TEXT, TEXT);
    set.add("like_escape", TEXT, (a, _, c) -> Like.rewriteEscape(a[0], a[1], c.heap), TEXT, TEXT);
    set.add("similar_to_escape", TEXT, (a, _, c) -> similar(a[0], "\\", c), TEXT);
    set.add(
        "similar_to_escape", TEXT, (a, _, c) -> similar(a[0], Varlena.string(a[1]), c), TEXT, TEXT);
  }

  private static long similar(long pattern, String escape, FunctionContext context) {
    return Varlena.of(context.heap, SimilarTo.regex(Varlena.string(pattern), escape));
  }

  private static void others(FunctionSet set) {
    set.add(
        "quote_ident",
        TEXT,
        (a, _, c) -> Varlena.of(c.heap, Quoting.identifier(Varlena.string(a[0]))),
        TEXT);
    set.add("quote_literal", TEXT, (a, _, c) -> Quoting.literal(a[0], c.heap), TEXT);
    Body nullable =
        (a, nulls, c) -> nulls != 0 ? Varlena.of(c.heap, "NULL") : Quoting.literal(a[0], c.heap);
    set.add(new ScalarFunction("quote_nullable", new int[] {TEXT}, TEXT, false, true, nullable));
    set.add(
        "normalize", TEXT, (a, _, c) -> Normalization.normalize(a[0], a[1], c.heap), TEXT, TEXT);
    set.add(
        "is_normalized",
        BOOL,
        (a, _, _) -> Normalization.isNormalized(a[0], a[1]) ? 1 : 0,
        TEXT,
        TEXT);
    // The operators of text_pattern_ops: the order of bytes, as all orders are here.
    set.add("~<~", BOOL, (a, _, _) -> Ordering.compareVarlena(a[0], a[1]) < 0 ? 1 : 0, TEXT, TEXT);
    set.add(
        "~<=~", BOOL, (a, _, _) -> Ordering.compareVarlena(a[0], a[1]) <= 0 ? 1 : 0, TEXT, TEXT);
    set.add("~>~", BOOL, (a, _, _) -> Ordering.compareVarlena(a[0], a[1]) > 0 ? 1 : 0, TEXT, TEXT);
    set.add(
        "~>=~", BOOL, (a, _, _) -> Ordering.compareVarlena(a[0], a[1]) >= 0 ? 1 : 0, TEXT, TEXT);
  }

  private static void characters(FunctionSet set) {
    // As PostgreSQL calls it: the length is the type's modifier.
    set.add("varchar", VARCHAR, TextFunctions::ofLength, TEXT, INT4, BOOL);
    set.add("ascii", INT4, (a, _, _) -> Strings.ascii(a[0]), TEXT);
    set.add("chr", TEXT, (a, _, c) -> Strings.chr(a[0], c.heap), INT4);
    set.add("md5", TEXT, (a, _, c) -> Digests.md5(a[0], c.heap), TEXT);
    set.add("to_hex", TEXT, (a, _, c) -> Varlena.of(c.heap, Integer.toHexString((int) a[0])), INT4);
    set.add("to_hex", TEXT, (a, _, c) -> Varlena.of(c.heap, Long.toHexString(a[0])), INT8);
    set.add(
        "to_oct", TEXT, (a, _, c) -> Varlena.of(c.heap, Integer.toOctalString((int) a[0])), INT4);
    set.add("to_oct", TEXT, (a, _, c) -> Varlena.of(c.heap, Long.toOctalString(a[0])), INT8);
    set.add(
        "to_bin", TEXT, (a, _, c) -> Varlena.of(c.heap, Integer.toBinaryString((int) a[0])), INT4);
    set.add("to_bin", TEXT, (a, _, c) -> Varlena.of(c.heap, Long.toBinaryString(a[0])), INT8);
  }
}
