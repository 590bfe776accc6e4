package dev.kakehashi.engine.type.application;

import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Code of applications as one statement uses it: the version that a plan names stays loaded until the statement ends, whatever is deployed
/// meanwhile.
///
/// Thread-safe. Its maker closes it, after the statement's last task.
public final class ApplicationUses implements AutoCloseable {
  /// For what runs without applications.
  public static final ApplicationUses NONE = new ApplicationUses(null);

  /// A version may be retired between its load and its use; the next load makes it again.
  private static final int MOST_LOADS = 10;

  private final @Nullable ApplicationSystem system;

  /// By number of the version.
  private final Map<Long, LoadedApplication.Use> uses = new HashMap<>(2);

  /// By name of the function, as EXPLAIN shows it.
  private final Map<String, FunctionMeter> meters = new HashMap<>(2);

  private boolean closed;

  /// @param system null: there is none
  public ApplicationUses(@Nullable ApplicationSystem system) {
    this.system = system;
  }

  /// Uses of the statement that the calling thread works for.
  static ApplicationUses current() {
    Interrupts.Source part = Interrupts.current();
    return part != null && part.statement() instanceof FunctionSession session
        ? session.applications()
        : NONE;
  }

  /// The use of a version; loads it the first time, which blocks.
  ///
  /// @throws EngineException FEATURE_NOT_SUPPORTED if there are no applications here, and what [ApplicationSystem#load] throws
  public synchronized LoadedApplication.Use of(ApplicationDefinition definition) {
    if (closed) {
      throw new IllegalStateException("the statement has ended");
    }
    long version = definition.version().versionId();
    LoadedApplication.Use use = uses.get(version);
    if (use == null) {
      use = begin(definition);
      uses.put(version, use);
    }
    return use;
  }

  /// @throws EngineException NOT_IN_PREREQUISITE_STATE if the function has been disabled, because a call of it did not end
  void requireEnabled(ApplicationDefinition definition, FunctionSignature function) {
    String name = definition.schema() + "." + function.name();
    String reason = system == null ? null : system.disabled().get(name);
    if (reason != null) {
      throw new EngineException(
              ErrorCode.NOT_IN_PREREQUISITE_STATE, "function " + name + " is disabled")
          .withDetail(reason)
          .withHint("A new version of the application enables it.");
    }
  }

  private LoadedApplication.Use begin(ApplicationDefinition definition) {
    ApplicationSystem loader = system;
    if (loader == null) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "functions of application \"" + definition.name() + "\" cannot be called here");
    }
    for (int i = 0; i < MOST_LOADS; i++) {
      LoadedApplication.Use use = loader.load(definition).use();
      if (use != null) {
        return use;
      }
    }
    throw new EngineException(
        ErrorCode.NOT_IN_PREREQUISITE_STATE,
        "application \"" + definition.name() + "\" is being replaced");
  }

  /// Calls of a function by this statement.
  public synchronized FunctionMeter meter(String function) {
    return meters.computeIfAbsent(function, _ -> new FunctionMeter());
  }

  /// Calls of all functions so far, by their names; a copy.
  public synchronized Map<String, FunctionMeter> meters() {
    return Map.copyOf(meters);
  }

  /// Ends the uses; [#NONE] is everybody's, so nothing of it ends.
  @Override
  public synchronized void close() {
    if (system == null) {
      return;
    }
    closed = true;
    uses.values().forEach(LoadedApplication.Use::close);
    uses.clear();
  }
}
