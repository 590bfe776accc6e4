package dev.kakehashi.application;

import java.util.function.BiFunction;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Takes what an application offers. Confined to the call of [Application#define].
///
/// A class of arguments is a record, whose components are the parameters by order and name, or a class of the table of the package, which
/// is one parameter, or [Void], which is none. Names are SQL names: lower case letters, digits and `_`, at most 63 bytes. Definitions that
/// do not fit are refused when the application is deployed, with their places.
public interface Definitions {
  // ---- functions: pure, on workers, in batches; they may not use the engine and must not block
  // ----

  <A, R> FunctionOptions function(
      String name, Class<A> argument, Class<R> result, Function<? super A, ? extends R> body);

  <A, B, R> FunctionOptions function(
      String name,
      Class<A> first,
      Class<B> second,
      Class<R> result,
      BiFunction<? super A, ? super B, ? extends R> body);

  /// Strict function of one bigint.
  FunctionOptions longFunction(String name, LongUnaryOperator body);

  /// Strict function of two bigint.
  FunctionOptions longFunction(String name, LongBinaryOperator body);

  /// Strict function of one double precision.
  FunctionOptions doubleFunction(String name, DoubleUnaryOperator body);

  /// Strict function of two double precision.
  FunctionOptions doubleFunction(String name, DoubleBinaryOperator body);

  /// A function in FROM. A row is a record, or a class of the table of the package.
  <A, R> FunctionOptions tableFunction(
      String name,
      Class<A> argument,
      Class<R> row,
      Function<? super A, ? extends Iterable<R>> body);

  <A, S, R> FunctionOptions aggregate(
      String name, Class<A> argument, Class<R> result, Aggregate<A, S, R> body);

  // ---- straight code, on a virtual thread of its own for each call ----

  /// A procedure: `CALL name(...)`. A result of a record is a row; [Void] is none. A sealed interface of records is a row of `kind` and the
  /// components of all of them.
  <A, R> ProcedureOptions procedure(
      String name, Class<A> argument, Class<R> result, Body<? super A, ? extends R> body);

  /// A procedure with any number of rows. The stream is read and closed within the call.
  <A, R> ProcedureOptions rowsProcedure(
      String name, Class<A> argument, Class<R> row, Body<? super A, Stream<R>> body);

  /// A route of HTTP below `/v1/apps/{application}`. Components of the argument come from the path (`/orders/{id}`), the query, and the
  /// JSON object of the body, in this order.
  <A, R> RouteOptions route(
      HttpMethod method,
      String path,
      Class<A> argument,
      Class<R> result,
      Body<? super A, ? extends R> body);

  /// Handles the tasks of a queue. The transaction of the call completes the task; an exception fails it, with backoff.
  ///
  /// @param queue name of a queue, which is to exist when the application is deployed; without a schema it is looked for in that of the
  ///     application, then in `public`
  <T> HandlerOptions handler(String queue, Class<T> payload, Handler<T> body);

  // ---- processes: steps on workers ----

  /// A process that begins with the version and ends with it.
  ProcessOptions process(String name, Supplier<? extends ApplicationProcess> process);

  /// Code of a procedure or route.
  @FunctionalInterface
  interface Body<A, R> {
    R run(Call call, A argument) throws Exception;
  }

  /// Code of a handler.
  @FunctionalInterface
  interface Handler<T> {
    void run(Call call, QueuedTask<T> task) throws Exception;
  }
}
