package dev.kakehashi.engine.type.array;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.value.Casts;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.TypeOid;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Types of polymorphic calls, and words from and to arrays.
public final class ArrayTypes {
  private ArrayTypes() {}

  public static boolean isArray(int oid) {
    return TypeOid.element(oid) != TypeOid.UNSPECIFIED;
  }

  /// The type that two can be converted to without asking, as PostgreSQL chooses it; [TypeOid#UNSPECIFIED] if there is none.
  static int common(int first, int second) {
    if (first == Types.UNKNOWN || first == second) {
      return second;
    }
    if (second == Types.UNKNOWN) {
      return first;
    }
    if (Casts.isImplicit(first, second) && !Casts.isImplicit(second, first)) {
      return second;
    }
    return Casts.isImplicit(second, first) ? first : TypeOid.UNSPECIFIED;
  }

  /// The types that a call's arguments are converted to; null if they do not fit.
  ///
  /// @param pattern one letter for each argument: `a` array, `e` element (of any types that have a common one), `i` integer, `b`
  ///     boolean, `t` text
  static int @Nullable [] declared(String pattern, int[] oids) {
    if (oids.length != pattern.length()) {
      return null;
    }
    int element = Types.UNKNOWN;
    boolean arrayKnown = false;
    for (int i = 0; i < oids.length; i++) {
      int given = oids[i];
      if (pattern.charAt(i) == 'a' && given != Types.UNKNOWN) {
        if (!isArray(given)) {
          return null;
        }
        arrayKnown = true;
        given = TypeOid.element(given);
      } else if (pattern.charAt(i) != 'e' && pattern.charAt(i) != 'a') {
        continue;
      }
      element = common(element, given);
      if (element == TypeOid.UNSPECIFIED) {
        return null;
      }
    }
    if (element == Types.UNKNOWN) {
      if (pattern.indexOf('e') < 0) {
        throw SqlErrors.undeterminedPolymorphicType();
      }
      element = TypeOid.TEXT;
    }
    if (!arrayKnown && isArray(element)) {
      return null;
    }
    int array = TypeOid.arrayOf(element);
    if (array == TypeOid.UNSPECIFIED) {
      return null;
    }
    int[] declared = new int[oids.length];
    for (int i = 0; i < oids.length; i++) {
      declared[i] =
          switch (pattern.charAt(i)) {
            case 'a' -> array;
            case 'e' -> element;
            case 'i' -> TypeOid.INT4;
            case 'b' -> TypeOid.BOOL;
            default -> TypeOid.TEXT;
          };
      boolean fits =
          oids[i] == Types.UNKNOWN
              || Casts.isImplicit(oids[i], declared[i])
              || (isArray(oids[i]) && Casts.isImplicit(TypeOid.element(oids[i]), element));
      if (!fits) {
        return null;
      }
    }
    return declared;
  }

  /// Whether values of a type are written differently in other time zones.
  public static boolean dependsOnZone(int elementOid) {
    return elementOid == TypeOid.TIMESTAMPTZ;
  }

  static ScalarFunction function(
      String name, int[] declared, int result, int elementOid, boolean strict, Body body) {
    return new ScalarFunction(name, declared, result, strict, !dependsOnZone(elementOid), body);
  }

  public static ArrayValue array(long word) {
    return ArrayValue.parse(Varlena.string(word));
  }

  public static long word(ArrayValue array, FunctionContext context) {
    return Varlena.of(context.heap, array.toString());
  }

  static boolean isNull(long nulls, int argument) {
    return (nulls >>> argument & 1) != 0;
  }

  static @Nullable String text(
      int oid, long[] arguments, long nulls, int argument, FunctionContext context) {
    return isNull(nulls, argument) ? null : Values.toText(oid, arguments[argument], context.zone);
  }

  /// The words of elements; what is null has the word 0.
  static long[] words(List<@Nullable String> elements, int oid, FunctionContext context) {
    long[] words = new long[elements.size()];
    for (int i = 0; i < words.length; i++) {
      String element = elements.get(i);
      words[i] = element == null ? 0 : Values.parse(oid, element, context.heap, context.zone);
    }
    return words;
  }

  /// Reads an array whose elements are written in any way that their type takes.
  ///
  /// @throws EngineException with PostgreSQL's SQLSTATE for text that is no array or whose elements are not of the type
  public static ArrayValue canonical(String text, int elementOid, FunctionContext context) {
    try (VarHeap heap = new VarHeap()) {
      return ArrayValue.parse(text)
          .map(element ->
              Values.toText(
                  elementOid, Values.parse(elementOid, element, heap, context.zone), context.zone));
    }
  }
}
