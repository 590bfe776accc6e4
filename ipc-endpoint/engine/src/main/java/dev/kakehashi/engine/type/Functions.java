package dev.kakehashi.engine.type;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.type.number.NumberFunctions;
import dev.kakehashi.engine.type.numeric.NumericFunctions;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntBinaryOperator;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Finds functions and operators by name and argument types, as PostgreSQL does.
///
/// Operators have their PostgreSQL names: "+", "<>", "||", "~~" (LIKE), "!~~", "~~*" (ILIKE); a prefix operator is one with one argument.
/// The special forms (AND, CASE, COALESCE, NULLIF, GREATEST, IS NULL ...) belong to the caller.
///
/// The resolved function's [ScalarFunction#argumentOids()] may differ from the types asked for: the caller converts each argument with
/// [Casts#find] in [CastContext#IMPLICIT]. A by-reference result may be an argument's word, so arguments must live as long as results.
/// Thread-safe.
public final class Functions {
  private static final FunctionSet SET = new FunctionSet();

  static {
    Comparisons.register(SET);
    NumberFunctions.register(SET);
    NumericFunctions.register(SET);
  }

  private Functions() {}

  /// The function that PostgreSQL would take; null when there is none.
  ///
  /// @param argumentOids types of the arguments; [Types#UNKNOWN] for a string literal or NULL without type
  /// @throws EngineException AMBIGUOUS_FUNCTION when several fit equally well
  public static @Nullable ScalarFunction resolve(String name, int[] argumentOids) {
    List<ScalarFunction> candidates = SET.candidates(name);
    ScalarFunction exact = exact(candidates, argumentOids);
    if (exact != null) {
      return exact;
    }
    if (argumentOids.length == 2 && isOperator(name)) {
      // An unknown operand is assumed to have the other's type.
      int left = argumentOids[0] == Types.UNKNOWN ? argumentOids[1] : argumentOids[0];
      int right = argumentOids[1] == Types.UNKNOWN ? argumentOids[0] : argumentOids[1];
      exact = exact(candidates, new int[] {left, right});
      if (exact != null && left != Types.UNKNOWN) {
        return exact;
      }
    }
    return choose(name, candidates, argumentOids);
  }

  /// Every function, for tests and catalogue views.
  public static List<ScalarFunction> all() {
    return SET.all();
  }

  private static boolean isOperator(String name) {
    return !Character.isLetter(name.charAt(0));
  }

  private static @Nullable ScalarFunction exact(List<ScalarFunction> candidates, int[] oids) {
    for (ScalarFunction candidate : candidates) {
      if (Arrays.equals(candidate.argumentOids(), oids)) {
        return candidate;
      }
    }
    return null;
  }

  /// PostgreSQL's rules in order: what can be coerced, most exact matches, most preferred types, then guesses for unknown arguments.
  private static @Nullable ScalarFunction choose(
      String name, List<ScalarFunction> all, int[] oids) {
    List<ScalarFunction> rest =
        filter(
            all,
            candidate -> {
              int[] declared = candidate.argumentOids();
              boolean fits = declared.length == oids.length;
              for (int i = 0; fits && i < oids.length; i++) {
                fits = Casts.isImplicit(oids[i], declared[i]);
              }
              return fits;
            });
    rest = best(rest, oids, (given, declared) -> TypeClass.base(given) == declared ? 1 : 0);
    if (rest.size() > 1) {
      rest =
          best(
              rest,
              oids,
              (given, declared) ->
                  TypeClass.base(given) == declared
                          || (TypeClass.of(given) == TypeClass.of(declared)
                              && TypeClass.isPreferred(declared))
                          || (given == Types.UNKNOWN && TypeClass.isPreferred(declared))
                      ? 1
                      : 0);
    }
    if (rest.size() > 1) {
      rest = guessUnknown(rest, oids);
    }
    if (rest.isEmpty()) {
      return null;
    }
    if (rest.size() > 1) {
      throw new EngineException(
              ErrorCode.AMBIGUOUS_FUNCTION,
              (isOperator(name) ? "operator" : "function")
                  + " is not unique: "
                  + describe(name, oids))
          .withHint(
              "Could not choose a best candidate. You might need to add explicit type casts.");
    }
    return rest.get(0);
  }

  /// The call as PostgreSQL's messages show it, for example "lower(integer)" or "text + integer".
  public static String describe(String name, int[] oids) {
    List<String> types = new ArrayList<>();
    for (int oid : oids) {
      types.add(Types.name(oid));
    }
    if (!isOperator(name)) {
      return name + "(" + String.join(", ", types) + ")";
    }
    return types.size() == 1
        ? name + " " + types.get(0)
        : types.get(0) + " " + name + " " + types.get(1);
  }

  private static List<ScalarFunction> guessUnknown(List<ScalarFunction> candidates, int[] oids) {
    List<ScalarFunction> rest = candidates;
    for (int i = 0; i < oids.length; i++) {
      if (oids[i] != Types.UNKNOWN) {
        continue;
      }
      int position = i;
      List<ScalarFunction> strings =
          filter(rest, c -> TypeClass.of(c.argumentOids()[position]) == TypeClass.STRING);
      if (!strings.isEmpty()) {
        rest = strings;
      }
      List<ScalarFunction> preferred =
          filter(rest, c -> TypeClass.isPreferred(c.argumentOids()[position]));
      if (!preferred.isEmpty()) {
        rest = preferred;
      }
    }
    int known = TypeOid.UNSPECIFIED;
    for (int oid : oids) {
      if (oid != Types.UNKNOWN) {
        known = known == TypeOid.UNSPECIFIED || known == oid ? oid : -1;
      }
    }
    if (rest.size() > 1 && known > 0) {
      int type = known;
      List<ScalarFunction> same =
          filter(
              rest, c -> Arrays.stream(c.argumentOids()).allMatch(d -> Casts.isImplicit(type, d)));
      if (same.size() == 1) {
        return same;
      }
    }
    return rest;
  }

  private static List<ScalarFunction> filter(
      List<ScalarFunction> candidates, Predicate<ScalarFunction> keep) {
    return candidates.stream().filter(keep).toList();
  }

  private static List<ScalarFunction> best(
      List<ScalarFunction> candidates, int[] oids, IntBinaryOperator score) {
    int best = 0;
    List<ScalarFunction> kept = new ArrayList<>();
    for (ScalarFunction candidate : candidates) {
      int sum = 0;
      for (int i = 0; i < oids.length; i++) {
        sum += score.applyAsInt(oids[i], candidate.argumentOids()[i]);
      }
      if (sum > best) {
        kept.clear();
        best = sum;
      }
      if (sum == best) {
        kept.add(candidate);
      }
    }
    return kept;
  }
}
