package dev.kakehashi.engine.type.value;

import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.TypeClass;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.text.Strings;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Functions that take values of any type as text: `text || any`, concat(), concat_ws(), format().
public final class TextConversions {
  private TextConversions() {}

  public static void register(FunctionSet set) {
    for (int oid : Types.all()) {
      if (TypeClass.of(oid) != TypeClass.STRING) {
        Body text = asText(oid);
        Body behind =
            (a, _, c) -> Strings.concat(a[0], text.apply(new long[] {a[1]}, 0, c), c.heap);
        Body before =
            (a, _, c) -> Strings.concat(text.apply(new long[] {a[0]}, 0, c), a[1], c.heap);
        add(set, behind, TypeOid.TEXT, oid);
        add(set, before, oid, TypeOid.TEXT);
      }
    }
  }

  private static void add(FunctionSet set, Body concatenation, int... oids) {
    set.add(
        new ScalarFunction("||", oids, TypeOid.TEXT, true, !dependsOnZone(oids), concatenation));
  }

  private static boolean dependsOnZone(int... oids) {
    return Arrays.stream(oids).anyMatch(oid -> oid == TypeOid.TIMESTAMPTZ);
  }

  private static Body asText(int oid) {
    ScalarFunction cast = Casts.find(oid, SqlType.of(TypeOid.TEXT), CastContext.EXPLICIT);
    if (cast == null) {
      throw new IllegalStateException("type " + Types.name(oid) + " has no text form");
    }
    return cast.body();
  }

  /// concat(), concat_ws() and format() with arguments of any types; null for other names. The first two leave nulls out.
  public static @Nullable ScalarFunction variadic(String name, int[] oids) {
    boolean withSeparator = name.equals("concat_ws");
    boolean format = name.equals("format");
    if ((!withSeparator && !format && !name.equals("concat"))
        || oids.length < (withSeparator ? 2 : 1)) {
      return null;
    }
    boolean textFirst = withSeparator || format;
    if (textFirst && !Casts.isImplicit(oids[0], TypeOid.TEXT)) {
      return null;
    }
    int[] declared = oids.clone();
    List<Body> outputs = new ArrayList<>();
    for (int i = 0; i < oids.length; i++) {
      if (oids[i] == Types.UNKNOWN || (textFirst && i == 0)) {
        declared[i] = TypeOid.TEXT;
      }
      outputs.add(output(declared[i]));
    }
    boolean immutable = !dependsOnZone(declared);
    if (format) {
      return new ScalarFunction(
          name, declared, TypeOid.TEXT, false, immutable, formatted(declared));
    }
    Body body =
        withSeparator
            ? (a, n, c) -> concatWithSeparator(outputs, a, n, c)
            : (a, n, c) -> join(outputs, 0, 0, a, n, c);
    return new ScalarFunction(name, declared, TypeOid.TEXT, false, immutable, body);
  }

  /// The output function: unlike the cast it prints boolean as t or f, and keeps the blanks of a char(n).
  private static Body output(int oid) {
    if (TypeClass.of(oid) == TypeClass.STRING) {
      return (a, _, _) -> a[0];
    }
    return (a, _, c) -> Varlena.of(c.heap, Values.toText(oid, a[0], c.zone));
  }

  private static Body formatted(int[] oids) {
    return (a, nulls, c) -> {
      if ((nulls & 1) != 0) {
        return c.nullResult();
      }
      TextFormat.Arguments arguments =
          i -> (nulls >>> i & 1) != 0 ? null : Values.toText(oids[i], a[i], c.zone);
      return Varlena.of(c.heap, TextFormat.format(Varlena.string(a[0]), oids.length, arguments));
    };
  }

  private static long concatWithSeparator(
      List<Body> outputs, long[] arguments, long nulls, FunctionContext context) {
    if ((nulls & 1) != 0) {
      return context.nullResult();
    }
    return join(outputs, 1, arguments[0], arguments, nulls, context);
  }

  private static long join(
      List<Body> outputs,
      int first,
      long separator,
      long[] arguments,
      long nulls,
      FunctionContext context) {
    long result = 0;
    for (int i = first; i < arguments.length; i++) {
      if ((nulls >>> i & 1) != 0) {
        continue;
      }
      long text = outputs.get(i).apply(new long[] {arguments[i]}, 0, context);
      if (result == 0) {
        result = text;
      } else {
        long left = separator == 0 ? result : Strings.concat(result, separator, context.heap);
        result = Strings.concat(left, text, context.heap);
      }
    }
    return result == 0 ? Varlena.allocate(context.heap, 0) : result;
  }
}
