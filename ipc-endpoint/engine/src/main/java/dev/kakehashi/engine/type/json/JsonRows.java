package dev.kakehashi.engine.type.json;

import static dev.kakehashi.protocol.TypeOid.JSON;
import static dev.kakehashi.protocol.TypeOid.JSONB;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.RowFunction.Column;
import dev.kakehashi.engine.type.RowFunction.Rows;
import dev.kakehashi.engine.type.Varlena;
import java.util.List;
import java.util.function.Consumer;

/// Functions that return the parts of json and jsonb as rows.
public final class JsonRows {
  private JsonRows() {}

  public static void register(Consumer<RowFunction> set) {
    for (int oid : new int[] {JSON, JSONB}) {
      String prefix = oid == JSON ? "json" : "jsonb";
      int[] arguments = {oid};
      set.accept(
          new RowFunction(prefix + "_object_keys", arguments, TEXT, (a, _) -> keys(a[0], prefix)));
      for (boolean text : new boolean[] {false, true}) {
        Column value = new Column("value", text ? TEXT : oid);
        String suffix = text ? "_text" : "";
        set.accept(
            new RowFunction(
                prefix + "_array_elements" + suffix,
                arguments,
                List.of(value),
                true,
                (a, _) -> elements(a[0], text)));
        set.accept(
            new RowFunction(
                prefix + "_each" + suffix,
                arguments,
                List.of(new Column("key", TEXT), value),
                true,
                (a, _) -> members(a[0], text)));
      }
    }
  }

  private static Rows keys(long word, String prefix) {
    JsonValue value = JsonWords.value(word);
    if (!(value instanceof JsonValue.JsonObject object)) {
      throw JsonWords.refused(
          "cannot call " + prefix + "_object_keys on " + article(JsonWords.kind(value)));
    }
    return Rows.of(
        object.members(),
        (member, values, context) -> values[0] = Varlena.of(context.heap, member.key()));
  }

  private static String article(String kind) {
    return (kind.equals("scalar") ? "a " : "an ") + kind;
  }

  private static Rows elements(long word, boolean text) {
    JsonValue value = JsonWords.value(word);
    if (!(value instanceof JsonValue.Array array)) {
      throw JsonWords.refused("cannot extract elements from " + article(JsonWords.kind(value)));
    }
    return Rows.of(
        array.elements(),
        (element, values, context) ->
            values[0] = JsonWords.text(JsonAccess.text(element, text), context));
  }

  private static Rows members(long word, boolean text) {
    JsonValue value = JsonWords.value(word);
    if (!(value instanceof JsonValue.JsonObject object)) {
      throw JsonWords.refused(
          value instanceof JsonValue.Array
              ? "cannot deconstruct an array as an object"
              : "cannot deconstruct a scalar");
    }
    return Rows.of(
        object.members(),
        (member, values, context) -> {
          values[0] = Varlena.of(context.heap, member.key());
          values[1] = JsonWords.text(JsonAccess.text(member.value(), text), context);
        });
  }
}
