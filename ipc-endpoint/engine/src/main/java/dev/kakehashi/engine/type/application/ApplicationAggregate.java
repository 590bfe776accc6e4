package dev.kakehashi.engine.type.application;

import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.AggregateFunction;
import java.util.function.Supplier;

/// An aggregate of an application. Immutable; names a version and refers to nothing of its code.
///
/// @param index of [dev.kakehashi.engine.api.application.ApplicationContents#functions]
public record ApplicationAggregate(ApplicationDefinition definition, int index, String name)
    implements Supplier<Accumulator> {
  public FunctionSignature signature() {
    return definition.version().contents().functions().get(index);
  }

  @Override
  public Accumulator get() {
    return new ApplicationAccumulator(this);
  }

  /// The aggregate of SQL.
  public AggregateFunction function() {
    FunctionSignature signature = signature();
    return new AggregateFunction(
        name,
        ApplicationScalar.oids(signature.parameters()),
        signature.result().getFirst().typeOid(),
        this);
  }
}
