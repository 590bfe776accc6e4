package dev.kakehashi.engine.type.registry;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.TypeClass;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Casts;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// PostgreSQL's choice among functions of one name (the manual's chapter "Type Conversion").
///
/// @param <T> kind of function
public final class Overloads<T> {
  private final String name;
  private final List<T> candidates;
  private final Function<T, int[]> declared;
  private final int[] oids;

  private Overloads(String name, List<T> candidates, Function<T, int[]> declared, int[] oids) {
    this.name = name;
    this.candidates = candidates;
    this.declared = declared;
    this.oids = oids;
  }

  /// The best candidate for argument types; null when none fits.
  public static <T> @Nullable T resolve(
      String name, List<T> candidates, Function<T, int[]> declared, int[] oids) {
    return new Overloads<>(name, candidates, declared, oids).resolve();
  }

  public static boolean isOperator(String name) {
    return !Character.isLetter(name.charAt(0));
  }

  private @Nullable T resolve() {
    T exact = exact(oids);
    if (exact != null) {
      return exact;
    }
    if (oids.length == 2
        && isOperator(name)
        && (oids[0] == Types.UNKNOWN) != (oids[1] == Types.UNKNOWN)) {
      // An unknown operand is assumed to have the other's type.
      int known = oids[0] == Types.UNKNOWN ? oids[1] : oids[0];
      exact = exact(new int[] {known, known});
      if (exact != null) {
        return exact;
      }
    }
    return choose();
  }

  private @Nullable T exact(int[] types) {
    for (T candidate : candidates) {
      if (Arrays.equals(declared.apply(candidate), types)) {
        return candidate;
      }
    }
    return null;
  }

  /// In order: what can be coerced, most exact matches, most preferred types, then guesses for unknown arguments.
  private @Nullable T choose() {
    List<T> rest = filter(candidates, this::fits);
    rest = best(rest, (given, type) -> given == type ? 1 : 0);
    if (rest.size() > 1) {
      rest = best(rest, Overloads::exactOrPreferred);
    }
    if (rest.size() > 1) {
      rest = guessUnknown(rest);
    }
    if (rest.isEmpty()) {
      return null;
    }
    if (rest.size() > 1) {
      throw new EngineException(
              ErrorCode.AMBIGUOUS_FUNCTION,
              (isOperator(name) ? "operator" : "function")
                  + " is not unique: "
                  + Functions.describe(name, oids))
          .withHint(
              "Could not choose a best candidate "
                  + (isOperator(name) ? "operator" : "function")
                  + ". You might need to add explicit type casts.");
    }
    return rest.get(0);
  }

  private boolean fits(T candidate) {
    int[] types = declared.apply(candidate);
    if (types.length != oids.length) {
      return false;
    }
    for (int i = 0; i < oids.length; i++) {
      if (!Casts.isImplicit(oids[i], types[i])) {
        return false;
      }
    }
    return true;
  }

  private static int exactOrPreferred(int given, int type) {
    boolean preferred = TypeClass.of(given) == TypeClass.of(type) && TypeClass.isPreferred(type);
    return given == type || preferred ? 1 : 0;
  }

  private List<T> guessUnknown(List<T> fitting) {
    List<T> rest = fitting;
    for (int i = 0; i < oids.length; i++) {
      if (oids[i] == Types.UNKNOWN) {
        TypeClass guess = guess(fitting, i);
        if (guess == null) {
          rest = fitting;
          break;
        }
        rest = ofClass(rest, i, guess);
      }
    }
    if (rest.isEmpty()) {
      rest = fitting;
    }
    int known = onlyKnownType();
    if (rest.size() > 1 && known > 0) {
      List<T> same =
          filter(
              rest,
              c ->
                  Arrays.stream(declared.apply(c)).allMatch(type -> Casts.isImplicit(known, type)));
      if (same.size() == 1) {
        return same;
      }
    }
    return rest;
  }

  /// The class of an unknown argument: string if any candidate takes one, otherwise that of all candidates; null when they differ.
  private @Nullable TypeClass guess(List<T> fitting, int position) {
    TypeClass guess = null;
    boolean same = true;
    for (T candidate : fitting) {
      TypeClass next = TypeClass.of(type(candidate, position));
      if (next == TypeClass.STRING) {
        return next;
      }
      same &= guess == null || guess == next;
      guess = next;
    }
    return same ? guess : null;
  }

  /// Candidates of a class at a position, of its preferred type if any has it.
  private List<T> ofClass(List<T> from, int position, TypeClass wanted) {
    List<T> rest = filter(from, c -> TypeClass.of(type(c, position)) == wanted);
    List<T> preferred = filter(rest, c -> TypeClass.isPreferred(type(c, position)));
    return preferred.isEmpty() ? rest : preferred;
  }

  private int type(T candidate, int position) {
    return declared.apply(candidate)[position];
  }

  /// The type of all arguments that have one; -1 when they differ or there is none.
  private int onlyKnownType() {
    int[] known = Arrays.stream(oids).filter(oid -> oid != Types.UNKNOWN).distinct().toArray();
    return known.length == 1 ? known[0] : -1;
  }

  private List<T> filter(List<T> from, Predicate<T> keep) {
    return from.stream().filter(keep).toList();
  }

  private List<T> best(List<T> from, IntBinaryOperator score) {
    int best = 0;
    List<T> kept = new ArrayList<>();
    for (T candidate : from) {
      int sum = 0;
      for (int i = 0; i < oids.length; i++) {
        sum += score.applyAsInt(oids[i], type(candidate, i));
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
