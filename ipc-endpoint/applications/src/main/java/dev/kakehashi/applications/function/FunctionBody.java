package dev.kakehashi.applications.function;

import dev.kakehashi.application.Aggregate;
import dev.kakehashi.applications.type.ArgumentShape;
import dev.kakehashi.applications.type.JavaType;
import dev.kakehashi.applications.type.ResultShape;
import dev.kakehashi.engine.api.application.LoadedApplication.AggregateCode;
import dev.kakehashi.engine.api.application.LoadedApplication.ScalarCode;
import dev.kakehashi.engine.api.application.LoadedApplication.TableCode;
import java.util.function.BiFunction;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;

/// Users' code of a function. Immutable; makes code for each statement that uses it.
public sealed interface FunctionBody {
  /// A scalar function.
  @FunctionalInterface
  non-sealed interface OfScalar extends FunctionBody {
    ScalarCode code(FunctionRun run);
  }

  /// A table function.
  @FunctionalInterface
  non-sealed interface OfTable extends FunctionBody {
    TableCode code(FunctionRun run);
  }

  /// An aggregate.
  @FunctionalInterface
  non-sealed interface OfAggregate extends FunctionBody {
    AggregateCode code(FunctionRun run);
  }

  static <A, R> FunctionBody of(
      ArgumentShape shape, JavaType result, Function<? super A, ? extends R> body) {
    Function<Object, Object> raw = raw(body);
    return (OfScalar) run -> new ObjectScalar.One(run, shape, result, raw);
  }

  static <A, B, R> FunctionBody of(
      JavaType first,
      JavaType second,
      JavaType result,
      BiFunction<? super A, ? super B, ? extends R> body) {
    BiFunction<Object, Object, Object> raw = rawPair(body);
    return (OfScalar) run -> new ObjectScalar.Two(run, first, second, result, raw);
  }

  static FunctionBody of(LongUnaryOperator body) {
    return (OfScalar) run -> new WordScalar.OfLong(run, body);
  }

  static FunctionBody of(LongBinaryOperator body) {
    return (OfScalar) run -> new WordScalar.OfTwoLongs(run, body);
  }

  @SuppressWarnings("overloads") // which is meant is said by the type of the variable
  static FunctionBody of(DoubleUnaryOperator body) {
    return (OfScalar) run -> new WordScalar.OfDouble(run, body);
  }

  @SuppressWarnings("overloads") // which is meant is said by the type of the variable
  static FunctionBody of(DoubleBinaryOperator body) {
    return (OfScalar) run -> new WordScalar.OfTwoDoubles(run, body);
  }

  static <A, R> FunctionBody of(
      ArgumentShape shape, ResultShape rows, Function<? super A, ? extends Iterable<R>> body) {
    Function<Object, Object> raw = raw(body);
    return (OfTable) run -> new UserTable(run, shape, rows, raw);
  }

  static <A, S, R> FunctionBody of(ArgumentShape shape, JavaType result, Aggregate<A, S, R> body) {
    Aggregate<Object, Object, Object> raw = rawAggregate(body);
    return (OfAggregate) run -> new UserAggregate(run, shape, result, raw);
  }

  @SuppressWarnings("unchecked") // it gets what its shape makes
  private static Function<Object, Object> raw(Function<?, ?> body) {
    return (Function<Object, Object>) java.util.Objects.requireNonNull(body, "body");
  }

  @SuppressWarnings("unchecked") // it gets what its types make
  private static BiFunction<Object, Object, Object> rawPair(BiFunction<?, ?, ?> body) {
    return (BiFunction<Object, Object, Object>) java.util.Objects.requireNonNull(body, "body");
  }

  @SuppressWarnings("unchecked") // it gets what its shape makes
  private static Aggregate<Object, Object, Object> rawAggregate(Aggregate<?, ?, ?> body) {
    return (Aggregate<Object, Object, Object>) java.util.Objects.requireNonNull(body, "body");
  }
}
