package dev.kakehashi.engine.api.application;

import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/// A version whose code can run. The engine's only reference to user classes: it holds this in one place for each version, and asks it for
/// code at each call or statement. Thread-safe.
///
/// Exceptions of user code come as [dev.kakehashi.engine.api.error.EngineException]: P0001 or their own SQLSTATE, with class and
/// message; the stack is logged here.
public interface LoadedApplication {
  ApplicationContents contents();

  /// Begins to use the version's functions, for a statement; [Use#close()] ends it.
  ///
  /// @return null: the version has been retired
  @Nullable Use use();

  /// A statement's use of functions. A version stays loaded while it is used.
  interface Use extends AutoCloseable {
    /// @param index of [ApplicationContents#functions]
    ScalarCode scalar(int index);

    TableCode table(int index);

    AggregateCode aggregate(int index);

    @Override
    void close();
  }

  /// A scalar function; used by one task at a time, from a worker.
  interface ScalarCode {
    /// How values are passed.
    enum Form {
      OBJECTS,
      /// All parameters and the result are int8, the function is strict.
      LONGS,
      /// All parameters and the result are float8, the function is strict.
      DOUBLES
    }

    Form form();

    /// Calls of the form OBJECTS, for rows `0 .. count-1`.
    ///
    /// @param arguments `[parameter][row]`; of a strict function none is null
    /// @param results by row
    void call(@Nullable Object[][] arguments, @Nullable Object[] results, int count);

    /// Calls of the form LONGS.
    void callLongs(long[][] arguments, long[] results, int count);

    /// Calls of the form DOUBLES.
    void callDoubles(double[][] arguments, double[] results, int count);
  }

  /// A table function.
  interface TableCode {
    /// @return rows; each array has a value for each column of the result
    Iterator<@Nullable Object[]> open(@Nullable Object[] arguments);
  }

  /// An aggregate. States are opaque.
  interface AggregateCode {
    Object begin();

    /// Adds rows of one group.
    Object add(Object state, @Nullable Object[][] arguments, int count);

    Object merge(Object state, Object other);

    @Nullable Object result(Object state);
  }

  /// Calls a procedure, on a thread of its own; or lets it wait for one of the `maxCalls` calls.
  ///
  /// @param index of [ApplicationContents#procedures]
  /// @param listener told once how it ends, from any thread
  /// @return to cancel it: the listener is called soon, with QUERY_CANCELED, also if the code goes on
  /// @throws dev.kakehashi.engine.api.error.EngineException TOO_MANY_CONNECTIONS as more wait than may
  Running procedure(int index, Invocation invocation, Listener listener);

  /// As [#procedure], of a route.
  Running route(int index, Invocation invocation, Listener listener);

  /// A call under way.
  interface Running {
    void cancel();
  }

  /// How a call goes.
  interface Listener {
    /// A row of the result: may block until there is room for it; on the call's thread, in order.
    void row(@Nullable Object[] values);

    void done();

    void failed(dev.kakehashi.engine.api.error.EngineException reason);
  }

  /// A call.
  ///
  /// @param arguments one for each parameter
  /// @param user whose rights count
  /// @param access the tables in the transaction of the caller; null: it has none, see [ApplicationContents.ProcedureSignature#transaction]
  /// @param timeLimitMillis of the caller; 0: none of its own
  record Invocation(
      @Nullable Object[] arguments,
      String user,
      @Nullable DirectAccess access,
      long timeLimitMillis) {}

  /// No new call or use begins: the name means another version now, or none. When the last one ends, or `drainMillis` are over, its code is
  /// closed and let go.
  void retire(long drainMillis);
}
