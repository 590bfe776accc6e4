package dev.kakehashi.engine.type.application;

import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.Volatility;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.LoadedApplication.ScalarCode;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.number.FloatMath;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A scalar function of an application. Immutable; names a version and refers to nothing of its code.
///
/// @param index of [dev.kakehashi.engine.api.application.ApplicationContents#functions]
public record ApplicationScalar(ApplicationDefinition definition, int index, String name)
    implements ScalarFunction.Body {
  public FunctionSignature signature() {
    return definition.version().contents().functions().get(index);
  }

  /// The function of SQL.
  public ScalarFunction function() {
    FunctionSignature signature = signature();
    return new ScalarFunction(
        name,
        oids(signature.parameters()),
        signature.result().getFirst().typeOid(),
        signature.strict(),
        signature.volatility() == Volatility.IMMUTABLE,
        this);
  }

  static int[] oids(List<Field> fields) {
    return fields.stream().mapToInt(Field::typeOid).toArray();
  }

  @Override
  public boolean isVolatile() {
    return signature().volatility() == Volatility.VOLATILE;
  }

  @Override
  public double cost() {
    return signature().cost();
  }

  @Override
  public boolean mayGiveNull() {
    return true;
  }

  /// Tells versions apart where plans compare calls.
  @Override
  public String identity() {
    return "@" + definition.version().versionId() + "." + index;
  }

  /// One call; batches go through [ScalarCalls].
  @Override
  public long apply(long[] arguments, long nulls, FunctionContext context) {
    ScalarCalls calls = context.calls(this);
    ScalarCode code = calls.code();
    int count = arguments.length;
    calls.time().begin();
    return switch (code.form()) {
      case LONGS -> {
        long[][] values = new long[count][];
        for (int i = 0; i < count; i++) {
          values[i] = new long[] {arguments[i]};
        }
        long[] result = new long[1];
        code.callLongs(values, result, 1);
        calls.time().end(1);
        yield result[0];
      }
      case DOUBLES -> {
        double[][] values = new double[count][];
        for (int i = 0; i < count; i++) {
          values[i] = new double[] {FloatMath.ofWord8(arguments[i])};
        }
        double[] result = new double[1];
        code.callDoubles(values, result, 1);
        calls.time().end(1);
        yield FloatMath.word(result[0]);
      }
      case OBJECTS -> {
        List<Field> parameters = signature().parameters();
        @Nullable Object[][] values = new @Nullable Object[count][];
        for (int i = 0; i < count; i++) {
          boolean isNull = (nulls >>> i & 1) != 0;
          values[i] =
              new @Nullable Object[] {
                isNull ? null : JavaValues.toObject(parameters.get(i).typeOid(), arguments[i])
              };
        }
        @Nullable Object[] result = new @Nullable Object[1];
        code.call(values, result, 1);
        calls.time().end(1);
        Object value = result[0];
        yield value == null
            ? context.nullResult()
            : JavaValues.ofObject(signature().result().getFirst().typeOid(), value, context.heap);
      }
    };
  }
}
