package dev.kakehashi.engine.api.application;

import java.util.List;

/// Definitions of a version. Immutable; lies in the catalogue.
public record ApplicationContents(
    List<FunctionSignature> functions,
    List<ProcedureSignature> procedures,
    List<RouteSignature> routes,
    List<HandlerSignature> handlers,
    List<ProcessSignature> processes) {
  public static final ApplicationContents NONE =
      new ApplicationContents(List.of(), List.of(), List.of(), List.of(), List.of());

  /// A parameter or a column.
  ///
  /// @param name as in SQL; empty: it has none
  /// @param typeOid PostgreSQL's
  /// @param nullable whether null may be given for it
  public record Field(String name, int typeOid, boolean nullable) {}

  /// Kinds of functions.
  public enum FunctionKind {
    SCALAR,
    TABLE,
    AGGREGATE
  }

  /// Volatility of a function, on which the planner may rely.
  public enum Volatility {
    IMMUTABLE,
    STABLE,
    VOLATILE
  }

  /// @param result one field of a scalar function or an aggregate; the columns of a table function
  /// @param strict not called with nulls
  /// @param cost of one call; 1 is a comparison
  /// @param rows estimate of a table function
  public record FunctionSignature(
      String name,
      FunctionKind kind,
      List<Field> parameters,
      List<Field> result,
      Volatility volatility,
      boolean strict,
      double cost,
      long rows) {}

  /// Whose transaction a call runs in.
  public enum CallTransaction {
    REQUIRED,
    NONE,
    OWN
  }

  /// @param result its columns; empty: it gives no rows
  /// @param isolation of OWN: of [dev.kakehashi.engine.api.BeginOptions]
  /// @param retries of OWN
  /// @param timeLimitMillis 0: the application's
  public record ProcedureSignature(
      String name,
      List<Field> parameters,
      List<Field> result,
      CallTransaction transaction,
      String isolation,
      int retries,
      long timeLimitMillis,
      boolean processorBound) {}

  /// A route. Its code is the procedure of the same number of [LoadedApplication#route]. `CALL schema.application."POST /orders"(…)` runs
  /// it.
  ///
  /// @param method of HTTP, upper case
  /// @param path begins with `/`, with `{name}` for parameters
  /// @param procedure parameters, result and transaction; its name is method and path
  /// @param statuses by class of result: kind to status
  public record RouteSignature(
      String method,
      String path,
      ProcedureSignature procedure,
      java.util.Map<String, Integer> statuses) {}

  /// @param queue name as written
  /// @param group empty: none
  /// @param leaseMillis 0: the queue's
  public record HandlerSignature(
      String queue,
      String group,
      int concurrency,
      long leaseMillis,
      String isolation,
      long timeLimitMillis) {}

  public record ProcessSignature(String name, boolean autostart) {}
}
