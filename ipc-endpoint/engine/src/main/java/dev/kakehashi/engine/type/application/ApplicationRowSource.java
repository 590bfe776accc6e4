package dev.kakehashi.engine.type.application;

import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.LoadedApplication.TableCode;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.SqlErrors;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A table function of an application. Immutable; names a version and refers to nothing of its code.
///
/// @param index of [dev.kakehashi.engine.api.application.ApplicationContents#functions]
public record ApplicationRowSource(ApplicationDefinition definition, int index, String name)
    implements RowFunction.Body {
  public FunctionSignature signature() {
    return definition.version().contents().functions().get(index);
  }

  /// The function of SQL.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException FEATURE_NOT_SUPPORTED if it has more than 64 columns
  public RowFunction function() {
    FunctionSignature signature = signature();
    if (signature.result().size() > Long.SIZE) {
      throw SqlErrors.notSupported(
          "function " + name + " has more than " + Long.SIZE + " columns, which");
    }
    return new RowFunction(
        name,
        ApplicationScalar.oids(signature.parameters()),
        signature.result().stream()
            .map(field -> new RowFunction.Column(field.name(), field.typeOid()))
            .toList(),
        signature.strict(),
        this);
  }

  @Override
  public long rowEstimate() {
    return signature().rows();
  }

  @Override
  public RowFunction.Rows open(long[] arguments, FunctionContext context) {
    ApplicationUses uses = context.applications();
    FunctionTime time = new FunctionTime(uses.meter(name));
    uses.requireEnabled(definition, signature());
    TableCode code = uses.of(definition).table(index);
    List<Field> parameters = signature().parameters();
    @Nullable Object[] values = new @Nullable Object[arguments.length];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          (context.nullArguments >>> i & 1) != 0
              ? null
              : JavaValues.toObject(parameters.get(i).typeOid(), arguments[i]);
    }
    time.begin();
    Iterator<@Nullable Object[]> rows = code.open(values);
    time.end(1);
    int[] oids = ApplicationScalar.oids(signature().result());
    return (words, out) -> {
      time.begin();
      @Nullable Object @Nullable [] row = rows.hasNext() ? rows.next() : null;
      time.end(0);
      if (row == null) {
        return false;
      }
      for (int i = 0; i < oids.length; i++) {
        Object value = row[i];
        if (value == null) {
          out.nullColumns |= 1L << i;
          words[i] = 0;
        } else {
          words[i] = JavaValues.ofObject(oids[i], value, out.heap);
        }
      }
      return true;
    };
  }
}
