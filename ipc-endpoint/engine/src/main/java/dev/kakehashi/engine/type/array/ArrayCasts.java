package dev.kakehashi.engine.type.array;

import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Casts;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.TypeOid;
import org.jspecify.annotations.Nullable;

/// Conversions to arrays: from text, and of arrays element by element.
public final class ArrayCasts {
  private ArrayCasts() {}

  /// The conversion to an array type with the modifier of its elements; null when there is none in this context.
  public static @Nullable ScalarFunction find(int fromOid, SqlType to, CastContext context) {
    int target = TypeOid.element(to.oid());
    boolean literal = fromOid == Types.UNKNOWN;
    boolean text = fromOid == TypeOid.TEXT || fromOid == TypeOid.VARCHAR;
    if (text && context != CastContext.EXPLICIT) {
      return null;
    }
    if (fromOid == Types.RECORD_ARRAY) {
      // Its records are texts.
      return target == TypeOid.TEXT ? Casts.find(fromOid, SqlType.of(target), context) : null;
    }
    int source = literal || text ? target : TypeOid.element(fromOid);
    if (source == TypeOid.UNSPECIFIED) {
      return null;
    }
    ScalarFunction cast = Casts.find(source, new SqlType(target, to.typeModifier()), context);
    if (cast == null) {
      return null;
    }
    boolean converts = source != target || to.typeModifier() >= 0;
    boolean immutable =
        cast.immutable() && !ArrayTypes.dependsOnZone(source) && !ArrayTypes.dependsOnZone(target);
    if (!converts && !literal && !text) {
      return new ScalarFunction(
          Types.name(to.oid()), new int[] {fromOid}, to.oid(), true, true, (a, _, _) -> a[0]);
    }
    return new ScalarFunction(
        Types.name(to.oid()),
        new int[] {fromOid},
        to.oid(),
        true,
        immutable,
        (a, _, c) -> {
          ArrayValue array = ArrayTypes.array(a[0]);
          VarHeap callers = c.heap;
          ArrayValue converted;
          try (VarHeap heap = new VarHeap()) {
            c.heap = heap;
            converted =
                array.map(element -> {
                  long word = Values.parse(source, element, heap, c.zone);
                  return Values.toText(
                      target, converts ? cast.body().apply(new long[] {word}, 0, c) : word, c.zone);
                });
          } finally {
            c.heap = callers;
          }
          return ArrayTypes.word(converted, c);
        });
  }
}
