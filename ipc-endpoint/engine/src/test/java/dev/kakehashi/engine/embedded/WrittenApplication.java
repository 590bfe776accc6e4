package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationContents.CallTransaction;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionKind;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.Volatility;
import dev.kakehashi.engine.api.application.LoadedApplication.AggregateCode;
import dev.kakehashi.engine.api.application.LoadedApplication.Invocation;
import dev.kakehashi.engine.api.application.LoadedApplication.Listener;
import dev.kakehashi.engine.api.application.LoadedApplication.Running;
import dev.kakehashi.engine.api.application.LoadedApplication.ScalarCode;
import dev.kakehashi.engine.api.application.LoadedApplication.TableCode;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/// Functions and procedures of one version of a [WrittenApplications].
final class WrittenApplication {
  private final List<FunctionSignature> functions = new ArrayList<>();
  private final List<Object> codes = new ArrayList<>();
  private final List<ProcedureSignature> procedures = new ArrayList<>();
  private final List<Procedure> bodies = new ArrayList<>();

  /// Rows that scalar functions were called for.
  final AtomicLong calls = new AtomicLong();

  /// Code of a procedure; on a thread of its own.
  @FunctionalInterface
  interface Procedure {
    void run(Invocation invocation, Listener listener) throws InterruptedException;
  }

  ApplicationContents contents() {
    return new ApplicationContents(
        List.copyOf(functions), List.copyOf(procedures), List.of(), List.of(), List.of());
  }

  Object function(int index) {
    return codes.get(index);
  }

  Running call(int index, Invocation invocation, Listener listener) {
    Thread thread =
        Thread.ofVirtual()
            .start(() -> {
              try {
                bodies.get(index).run(invocation, listener);
                listener.done();
              } catch (EngineException refused) {
                listener.failed(refused);
              } catch (InterruptedException canceled) {
                listener.failed(
                    new EngineException(ErrorCode.QUERY_CANCELED, "canceled", canceled));
              }
            });
    return thread::interrupt;
  }

  static List<Field> fields(int... oids) {
    return Arrays.stream(oids).mapToObj(oid -> new Field("", oid, true)).toList();
  }

  private WrittenApplication add(FunctionSignature signature, Object code) {
    functions.add(signature);
    codes.add(code);
    return this;
  }

  WrittenApplication scalar(
      String name, Volatility volatility, boolean strict, double cost, Scalar body, int... oids) {
    List<Field> parameters = fields(Arrays.copyOfRange(oids, 1, oids.length));
    return add(
        new FunctionSignature(
            name, FunctionKind.SCALAR, parameters, fields(oids[0]), volatility, strict, cost, 1),
        body);
  }

  WrittenApplication longs(String name, LongUnaryOperator body) {
    return scalar(
        name,
        Volatility.IMMUTABLE,
        true,
        10,
        new Scalar(ScalarCode.Form.LONGS, calls) {
          @Override
          public void callLongs(long[][] arguments, long[] results, int count) {
            calls.addAndGet(count);
            for (int i = 0; i < count; i++) {
              results[i] = body.applyAsLong(arguments[0][i]);
            }
          }
        },
        20,
        20);
  }

  WrittenApplication doubles(String name, DoubleUnaryOperator body) {
    return scalar(
        name,
        Volatility.IMMUTABLE,
        true,
        10,
        new Scalar(ScalarCode.Form.DOUBLES, calls) {
          @Override
          public void callDoubles(double[][] arguments, double[] results, int count) {
            calls.addAndGet(count);
            for (int i = 0; i < count; i++) {
              results[i] = body.applyAsDouble(arguments[0][i]);
            }
          }
        },
        701,
        701);
  }

  /// @param oids of the result, then of the parameters
  WrittenApplication objects(
      String name,
      Volatility volatility,
      boolean strict,
      Function<@Nullable Object[], @Nullable Object> body,
      int... oids) {
    return scalar(
        name,
        volatility,
        strict,
        100,
        new Scalar(ScalarCode.Form.OBJECTS, calls) {
          @Override
          public void call(@Nullable Object[][] arguments, @Nullable Object[] results, int count) {
            calls.addAndGet(count);
            for (int i = 0; i < count; i++) {
              @Nullable Object[] row = new @Nullable Object[arguments.length];
              for (int a = 0; a < row.length; a++) {
                row[a] = arguments[a][i];
              }
              results[i] = body.apply(row);
            }
          }
        },
        oids);
  }

  WrittenApplication table(
      String name,
      boolean strict,
      long rows,
      List<Field> parameters,
      List<Field> columns,
      Function<@Nullable Object[], Iterator<@Nullable Object[]>> body) {
    TableCode code = body::apply;
    return add(
        new FunctionSignature(
            name, FunctionKind.TABLE, parameters, columns, Volatility.IMMUTABLE, strict, 100, rows),
        code);
  }

  /// An aggregate of a list of what it was given.
  WrittenApplication aggregate(
      String name,
      boolean strict,
      Function<List<@Nullable Object>, @Nullable Object> result,
      BiFunction<@Nullable Object, @Nullable Object, @Nullable Object> pair,
      int... oids) {
    return add(
        new FunctionSignature(
            name,
            FunctionKind.AGGREGATE,
            fields(Arrays.copyOfRange(oids, 1, oids.length)),
            fields(oids[0]),
            Volatility.IMMUTABLE,
            strict,
            100,
            1),
        new Collecting(result, pair));
  }

  WrittenApplication procedure(
      String name,
      CallTransaction transaction,
      List<Field> parameters,
      List<Field> result,
      Procedure body) {
    procedures.add(
        new ProcedureSignature(
            name, parameters, result, transaction, "READ COMMITTED", 5, 0, false));
    bodies.add(body);
    return this;
  }

  private record Collecting(
      Function<List<@Nullable Object>, @Nullable Object> made,
      BiFunction<@Nullable Object, @Nullable Object, @Nullable Object> pair)
      implements AggregateCode {
    @Override
    public Object begin() {
      return new ArrayList<@Nullable Object>();
    }

    @SuppressWarnings("unchecked")
    private static List<@Nullable Object> list(Object state) {
      return (List<@Nullable Object>) state;
    }

    @Override
    public Object add(Object state, @Nullable Object[][] arguments, int count) {
      for (int i = 0; i < count; i++) {
        list(state)
            .add(
                arguments.length == 1
                    ? arguments[0][i]
                    : pair.apply(arguments[0][i], arguments[1][i]));
      }
      return state;
    }

    @Override
    public Object merge(Object state, Object other) {
      list(state).addAll(list(other));
      return state;
    }

    @Override
    public @Nullable Object result(Object state) {
      return made.apply(list(state));
    }
  }

  /// A scalar function of one form.
  abstract static class Scalar implements ScalarCode {
    private final Form form;
    final AtomicLong calls;

    Scalar(Form form, AtomicLong calls) {
      this.form = form;
      this.calls = calls;
    }

    @Override
    public Form form() {
      return form;
    }

    @Override
    public void call(@Nullable Object[][] arguments, @Nullable Object[] results, int count) {
      throw new AssertionError("of form " + form);
    }

    @Override
    public void callLongs(long[][] arguments, long[] results, int count) {
      throw new AssertionError("of form " + form);
    }

    @Override
    public void callDoubles(double[][] arguments, double[] results, int count) {
      throw new AssertionError("of form " + form);
    }
  }
}
