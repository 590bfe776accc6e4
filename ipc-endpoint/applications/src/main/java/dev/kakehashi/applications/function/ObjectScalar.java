package dev.kakehashi.applications.function;

import dev.kakehashi.applications.type.ArgumentShape;
import dev.kakehashi.applications.type.JavaType;
import dev.kakehashi.engine.api.application.LoadedApplication.ScalarCode;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Scalar functions whose values are objects. Used by one task at a time.
abstract sealed class ObjectScalar implements ScalarCode {
  final FunctionRun run;
  final JavaType result;

  ObjectScalar(FunctionRun run, JavaType result) {
    this.run = run;
    this.result = result;
  }

  @Override
  public Form form() {
    return Form.OBJECTS;
  }

  @Override
  public void callLongs(long[][] arguments, long[] results, int count) {
    throw new UnsupportedOperationException("callLongs");
  }

  @Override
  public void callDoubles(double[][] arguments, double[] results, int count) {
    throw new UnsupportedOperationException("callDoubles");
  }

  /// Function of one argument, which may be a record of several parameters.
  static final class One extends ObjectScalar {
    private final ArgumentShape shape;
    private final Function<Object, Object> body;
    private final @Nullable Object[] values;

    One(FunctionRun run, ArgumentShape shape, JavaType result, Function<Object, Object> body) {
      super(run, result);
      this.shape = shape;
      this.body = body;
      values = new Object[shape.fields().size()];
    }

    @Override
    public void call(@Nullable Object[][] arguments, @Nullable Object[] results, int count) {
      run.call(
          count,
          () -> {
            if (shape instanceof ArgumentShape.One one
                && one.type().isPlain()
                && one.type().isNullable()) {
              @Nullable Object[] column = arguments[0];
              for (int i = 0; i < count; i++) {
                run.check();
                results[i] = result.toSql(body.apply(column[i]));
              }
            } else {
              for (int i = 0; i < count; i++) {
                run.check();
                for (int p = 0; p < values.length; p++) {
                  values[p] = arguments[p][i];
                }
                results[i] = result.toSql(body.apply(made(arguments, i)));
              }
            }
            return results;
          });
    }

    private @Nullable Object made(@Nullable Object[][] arguments, int row) throws Throwable {
      try {
        return shape.make(values);
      } catch (EngineException e) {
        throw run.atRow(e, arguments, row);
      }
    }
  }

  /// Function of two arguments.
  static final class Two extends ObjectScalar {
    private final JavaType first;
    private final JavaType second;
    private final BiFunction<Object, Object, Object> body;

    Two(
        FunctionRun run,
        JavaType first,
        JavaType second,
        JavaType result,
        BiFunction<Object, Object, Object> body) {
      super(run, result);
      this.first = first;
      this.second = second;
      this.body = body;
    }

    @Override
    public void call(@Nullable Object[][] arguments, @Nullable Object[] results, int count) {
      run.call(
          count,
          () -> {
            for (int i = 0; i < count; i++) {
              run.check();
              results[i] =
                  result.toSql(
                      body.apply(
                          made(first, arguments, 0, i, "the first argument"),
                          made(second, arguments, 1, i, "the second argument")));
            }
            return results;
          });
    }

    private @Nullable Object made(
        JavaType type, @Nullable Object[][] arguments, int parameter, int row, String place) {
      try {
        return type.toJava(arguments[parameter][row], place);
      } catch (EngineException e) {
        throw run.atRow(e, arguments, row);
      }
    }
  }
}
