package dev.kakehashi.applications.version;

import dev.kakehashi.applications.function.FunctionBody;
import dev.kakehashi.applications.function.FunctionRun;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/// A statement's use of a version's functions. Thread-safe.
final class FunctionUse implements LoadedApplication.Use {
  private final VersionCode code;
  private final Runnable release;
  private final Set<FunctionRun> runs = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean closed = new AtomicBoolean();

  FunctionUse(VersionCode code, Runnable release) {
    this.code = code;
    this.release = release;
    code.add(this);
  }

  @Override
  public LoadedApplication.ScalarCode scalar(int index) {
    return ((FunctionBody.OfScalar) body(index)).code(run(index));
  }

  @Override
  public LoadedApplication.TableCode table(int index) {
    return ((FunctionBody.OfTable) body(index)).code(run(index));
  }

  @Override
  public LoadedApplication.AggregateCode aggregate(int index) {
    return ((FunctionBody.OfAggregate) body(index)).code(run(index));
  }

  private FunctionBody body(int index) {
    return code.members().functions().get(index);
  }

  /// @throws EngineException NOT_IN_PREREQUISITE_STATE: the function has been disabled
  private FunctionRun run(int index) {
    FunctionSignature signature = code.members().contents().functions().get(index);
    String name = code.definition().schema() + "." + signature.name();
    String why = code.owner().disabled().get(name);
    if (why != null) {
      throw new EngineException(
              ErrorCode.NOT_IN_PREREQUISITE_STATE,
              "function " + name + " has been disabled: " + why)
          .withHint("Deploy a version of the application that ends.");
    }
    String label = "function " + signature.name();
    FunctionRun run =
        new FunctionRun(
            label,
            code.environment().failures(),
            code.counts(label),
            code.owner().watch(),
            TimeUnit.MILLISECONDS.toNanos(code.environment().options().get().functionTimeMillis()),
            reason -> code.owner().disabled().put(name, reason));
    runs.add(run);
    return run;
  }

  /// Stops what runs.
  void stop(String why) {
    runs.forEach(run -> run.close(why));
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      runs.forEach(run -> run.close(null));
      code.remove(this);
      release.run();
    }
  }
}
