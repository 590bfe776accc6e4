package dev.kakehashi.engine.api.application;

import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.thread.BlockingExecutor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Native applications. Thread-safe.
///
/// Life: [#inspect] and [#load] at any time after [#start]; [#define] in the order of commits; [#close].
public interface ApplicationSystem extends AutoCloseable {
  /// @param committed applications of the catalogue; those with handlers or processes begin
  void start(ApplicationHost host, List<ApplicationDefinition> committed);

  /// Contents that jars define: loads the jars, runs their definitions, and lets them go again. Blocks; runs user code.
  ///
  /// @param application its name
  /// @throws EngineException INVALID_PARAMETER_VALUE naming jar, class and member: no jar, no application or several, two modules of one
  ///     name, a type without a counterpart, a wrong name, a class that cannot be linked, an exception of user code, a time limit
  ApplicationContents inspect(String application, List<JarContent> jars, CodeIsolation isolation);

  /// A jar at hand.
  record JarContent(String name, byte[] bytes) {}

  /// The version of an application as it is in a catalogue; loaded by its first use. Blocks the first time.
  ///
  /// @throws EngineException what [#inspect] throws; OBJECT_NOT_IN_PREREQUISITE_STATE if it has been disabled
  LoadedApplication load(ApplicationDefinition definition);

  /// Threads that whoever calls the engine lends: short calls may run there.
  ///
  /// @return lends the same for what else blocks, to such calls, too
  default BlockingExecutor lent(BlockingExecutor executor) {
    return executor;
  }

  /// Whether a call may begin on a thread that must not wait: its code is loaded, and its calls have taken microseconds lately.
  ///
  /// @param index of the procedures, or of the routes
  default boolean isShort(ApplicationDefinition definition, int index, boolean isRoute) {
    return false;
  }

  /// The committed catalogue has these applications from now on. Versions that are none of them are retired; handlers and processes end and
  /// begin. Called in the order of commits, on a thread that must not block. Never fails.
  void define(List<ApplicationDefinition> committed);

  /// Functions that are disabled, because they did not end: named `schema.name`, with the reason.
  java.util.Map<String, String> disabled();

  /// Recent failures, the newest first; a bounded ring.
  List<ApplicationFailure> failures();

  /// Recent log lines of applications, the newest first; a bounded ring.
  List<LogLine> log();

  /// Calls under way, and counts since the start.
  List<CallState> calls();

  /// @param version number
  /// @param member function, procedure, `route GET /x`, `handler q`, `process p`
  /// @param stack of the exception, at most 16 kB
  record ApplicationFailure(
      long wallMillis,
      String application,
      int version,
      String member,
      long call,
      String sqlstate,
      String message,
      String stack) {}

  record LogLine(long wallMillis, String application, int version, long call, String line) {}

  /// @param running calls under way now
  /// @param calls that have ended since the start
  /// @param failures of them
  /// @param nanos that they have taken in all
  record CallState(
      String application,
      int version,
      String member,
      int running,
      long calls,
      long failures,
      long nanos) {}

  /// Class loaders of versions that were made and have not been collected, for tests.
  int loadersAlive();

  /// Ends all calls, handlers and processes, and processes of their own.
  @Override
  void close();

  /// Opens the system of an engine.
  @FunctionalInterface
  interface Opener {
    @Nullable ApplicationSystem open();
  }
}
