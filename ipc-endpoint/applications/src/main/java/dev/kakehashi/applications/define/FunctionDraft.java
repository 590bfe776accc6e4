package dev.kakehashi.applications.define;

import dev.kakehashi.application.FunctionOptions;
import dev.kakehashi.applications.Refusals;
import dev.kakehashi.applications.function.FunctionBody;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionKind;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.Volatility;
import java.util.List;

/// A function while it is defined.
final class FunctionDraft implements FunctionOptions {
  private static final double DEFAULT_COST = 100;
  private static final long DEFAULT_ROWS = 1_000;
  private static final double MAX_COST = 1_000_000;

  private final DefinitionReader reader;
  private final String name;
  private final FunctionKind kind;
  private final List<Field> parameters;
  private final List<Field> result;
  final FunctionBody body;
  private Volatility volatility = Volatility.VOLATILE;
  private boolean isStrict;
  private double cost = DEFAULT_COST;
  private long rows;

  FunctionDraft(
      DefinitionReader reader,
      String name,
      FunctionKind kind,
      List<Field> parameters,
      List<Field> result,
      FunctionBody body) {
    this.reader = reader;
    this.name = name;
    this.kind = kind;
    this.parameters = parameters;
    this.result = result;
    this.body = body;
    isStrict = parameters.stream().anyMatch(parameter -> !parameter.nullable());
    rows = kind == FunctionKind.TABLE ? DEFAULT_ROWS : 1;
  }

  FunctionSignature signature() {
    return new FunctionSignature(name, kind, parameters, result, volatility, isStrict, cost, rows);
  }

  @Override
  public FunctionOptions immutable() {
    reader.checkOpen();
    volatility = Volatility.IMMUTABLE;
    return this;
  }

  @Override
  public FunctionOptions stable() {
    reader.checkOpen();
    volatility = Volatility.STABLE;
    return this;
  }

  @Override
  public FunctionOptions strict() {
    reader.checkOpen();
    isStrict = true;
    return this;
  }

  @Override
  public FunctionOptions cost(double units) {
    reader.checkOpen();
    if (!(units > 0 && units <= MAX_COST)) {
      throw Refusals.of("function %s: cost %s is not in (0, %s]", name, units, (long) MAX_COST);
    }
    cost = units;
    return this;
  }

  @Override
  public FunctionOptions rows(long estimate) {
    reader.checkOpen();
    if (kind != FunctionKind.TABLE || estimate < 1) {
      throw Refusals.of(
          "function %s: rows(%d) is of a table function, and at least 1", name, estimate);
    }
    rows = estimate;
    return this;
  }
}
