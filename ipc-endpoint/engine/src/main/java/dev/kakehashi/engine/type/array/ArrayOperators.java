package dev.kakehashi.engine.type.array;

import static dev.kakehashi.protocol.TypeOid.BOOL;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.registry.PolymorphicFunctions;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.protocol.TypeOid;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/// The operators of arrays: concatenation, containment, comparison.
public final class ArrayOperators {
  private ArrayOperators() {}

  public static void register(PolymorphicFunctions set) {
    set.add(
        "||",
        "anycompatiblearray || anycompatiblearray → anycompatiblearray",
        oids -> concatenation(oids, "aa"));
    set.add(
        "||",
        "anycompatiblearray || anycompatible → anycompatiblearray",
        oids -> concatenation(oids, "ae"));
    set.add(
        "||",
        "anycompatible || anycompatiblearray → anycompatiblearray",
        oids -> concatenation(oids, "ea"));
    comparison(set, "@>", oid -> (a, _, c) -> contains(oid, a[0], a[1], true, c) ? 1 : 0);
    comparison(set, "<@", oid -> (a, _, c) -> contains(oid, a[1], a[0], true, c) ? 1 : 0);
    comparison(set, "&&", oid -> (a, _, c) -> contains(oid, a[0], a[1], false, c) ? 1 : 0);
    comparison(
        set, "=", oid -> (a, _, _) -> Ordering.equal(TypeOid.arrayOf(oid), a[0], a[1]) ? 1 : 0);
    comparison(
        set, "<>", oid -> (a, _, _) -> Ordering.equal(TypeOid.arrayOf(oid), a[0], a[1]) ? 0 : 1);
    ordered(set, "<", order -> order < 0);
    ordered(set, "<=", order -> order <= 0);
    ordered(set, ">", order -> order > 0);
    ordered(set, ">=", order -> order >= 0);
  }

  private static @Nullable ScalarFunction concatenation(int[] oids, String pattern) {
    if (oids.length != 2) {
      return null;
    }
    boolean leftArray = ArrayTypes.isArray(oids[0]);
    boolean rightArray = ArrayTypes.isArray(oids[1]);
    // A literal beside an array is an array, and a value beside a literal is none.
    boolean wanted =
        switch (pattern) {
          case "ae" -> leftArray && !rightArray && oids[1] != Types.UNKNOWN;
          case "ea" -> rightArray && !leftArray && oids[0] != Types.UNKNOWN;
          default ->
              (leftArray && (rightArray || oids[1] == Types.UNKNOWN))
                  || (rightArray && oids[0] == Types.UNKNOWN);
        };
    int[] declared = wanted ? ArrayTypes.declared(pattern, oids) : null;
    if (declared == null) {
      return null;
    }
    int element = TypeOid.element(declared[pattern.indexOf('a')]);
    Body body =
        switch (pattern) {
          case "ae" ->
              (a, nulls, c) ->
                  ArrayFunctions.extended(
                      a[0], ArrayTypes.isNull(nulls, 0), element, a, nulls, 1, c);
          case "ea" ->
              (a, nulls, c) ->
                  ArrayFunctions.extended(
                      a[1], ArrayTypes.isNull(nulls, 1), element, a, nulls, 0, c);
          default -> ArrayFunctions::concatenated;
        };
    return ArrayTypes.function("||", declared, TypeOid.arrayOf(element), element, false, body);
  }

  /// The operator's body for a type of elements.
  @FunctionalInterface
  private interface Operator {
    Body of(int elementOid);
  }

  private static void comparison(PolymorphicFunctions set, String name, Operator operator) {
    set.add(
        name,
        "anyarray " + name + " anyarray → boolean",
        oids -> {
          if (oids.length != 2 || (!ArrayTypes.isArray(oids[0]) && !ArrayTypes.isArray(oids[1]))) {
            return null;
          }
          int array = oids[0] == Types.UNKNOWN ? oids[1] : oids[0];
          if (oids[1] != Types.UNKNOWN && oids[1] != array) {
            return null;
          }
          int element = TypeOid.element(array);
          Body body = operator.of(element);
          return ArrayTypes.function(
              name,
              new int[] {array, array},
              BOOL,
              element,
              true,
              (a, nulls, c) -> {
                Types.requireEquality(element);
                return body.apply(a, nulls, c);
              });
        });
  }

  private static void ordered(PolymorphicFunctions set, String name, IntPredicate holds) {
    comparison(
        set,
        name,
        oid ->
            (a, _, _) -> {
              Types.requireOrder(oid);
              return holds.test(Ordering.compare(TypeOid.arrayOf(oid), a[0], a[1])) ? 1 : 0;
            });
  }

  /// Whether all, or any, of the elements of an array are in another; null is in none.
  private static boolean contains(int oid, long in, long of, boolean all, FunctionContext c) {
    ArrayValue outer = ArrayTypes.array(in);
    ArrayValue inner = ArrayTypes.array(of);
    long[] words = ArrayTypes.words(outer.elements(), oid, c);
    long[] wanted = ArrayTypes.words(inner.elements(), oid, c);
    for (int i = 0; i < wanted.length; i++) {
      boolean found = false;
      for (int k = 0; k < words.length && !found && inner.elements().get(i) != null; k++) {
        found = outer.elements().get(k) != null && Ordering.equal(oid, words[k], wanted[i]);
      }
      if (found != all) {
        return found;
      }
    }
    return all;
  }
}
