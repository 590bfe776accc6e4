package dev.kakehashi.engine.type.array;

import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.RowFunction.Column;
import dev.kakehashi.engine.type.RowFunction.Rows;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.protocol.TypeOid;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Functions that return the parts of a text as rows.
public final class TextRows {
  private TextRows() {}

  public static void register(Consumer<RowFunction> set) {
    for (int count = 2; count <= 3; count++) {
      int[] arguments = new int[count];
      Arrays.fill(arguments, TEXT);
      set.accept(
          new RowFunction(
              "string_to_table",
              arguments,
              List.of(new Column("", TEXT)),
              false,
              (a, _) -> rows(parts(a))));
      set.accept(
          new RowFunction(
              "regexp_split_to_table",
              arguments,
              TEXT,
              (a, _) -> rows(TextArrays.split(a, "regexp_split_to_table"))));
      set.accept(
          new RowFunction(
              "regexp_matches",
              arguments,
              TypeOid.arrayOf(TEXT),
              (a, _) -> arrays(TextArrays.matches(a))));
    }
  }

  private static List<@Nullable String> parts(long[] a) {
    return a[0] == 0
        ? List.of()
        : TextArrays.parts(Varlena.string(a[0]), string(a, 1), string(a, 2));
  }

  private static @Nullable String string(long[] a, int argument) {
    return argument >= a.length || a[argument] == 0 ? null : Varlena.string(a[argument]);
  }

  private static Rows rows(List<@Nullable String> texts) {
    return Rows.of(
        texts,
        (text, values, context) ->
            values[0] = text == null ? context.nullResult() : Varlena.of(context.heap, text));
  }

  private static Rows arrays(List<ArrayValue> arrays) {
    return Rows.of(arrays, (array, values, context) -> values[0] = ArrayTypes.word(array, context));
  }
}
