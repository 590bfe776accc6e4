package dev.kakehashi.applications.host;

import dev.kakehashi.applications.watch.ApplicationJournal;
import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationSystem.CallState;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.List;

/// Runs versions in processes of their own. Thread-safe; owned by the system that has it.
public interface IsolatedVersions extends AutoCloseable {
  /// Contents that jars define, found out in a process that ends after it. Blocks.
  ///
  /// @throws EngineException as [dev.kakehashi.engine.api.application.ApplicationSystem#inspect]
  ApplicationContents inspect(String application, List<JarContent> jars);

  /// The version in a process; handlers and processes of the version begin there. Its retirement ends the process.
  ///
  /// @param journal gets what it logs and what fails
  LoadedApplication load(
      ApplicationDefinition definition, ApplicationHost host, ApplicationJournal journal);

  /// As [dev.kakehashi.engine.api.application.ApplicationSystem#calls]; a process that does not answer is left out.
  List<CallState> calls();

  /// Ends all processes; blocks some seconds at most.
  @Override
  void close();
}
