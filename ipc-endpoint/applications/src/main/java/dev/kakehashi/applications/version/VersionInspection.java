package dev.kakehashi.applications.version;

import dev.kakehashi.applications.watch.ApplicationJournal;
import dev.kakehashi.applications.watch.CallWatch;
import dev.kakehashi.applications.watch.UserFailures;
import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.List;
import java.util.function.Consumer;

/// Finds out what jars define. Stateless.
public final class VersionInspection {
  private VersionInspection() {}

  /// Loads jars, and lets them go again. Blocks.
  ///
  /// @param made is told of the loader
  /// @throws EngineException see [dev.kakehashi.engine.api.application.ApplicationSystem#inspect]
  public static ApplicationContents inspect(
      String application,
      List<JarContent> jars,
      CallWatch watch,
      ApplicationJournal journal,
      Consumer<ClassLoader> made) {
    UserCode code = UserCode.load(application, jars, watch);
    made.accept(code.loader());
    ApplicationContents contents = code.members().contents();
    code.close(watch, new UserFailures(journal, application, 0));
    return contents;
  }
}
