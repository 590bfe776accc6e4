package dev.kakehashi.rest.job;

import dev.kakehashi.engine.api.error.EngineException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Work of a job. Implemented by code that knows statements.
public interface JobWork {
  /// Runs to its end, blocking, on a virtual thread of its own. Called at most once. No other thread works for it when it returns; files
  /// that it has opened and not published are discarded.
  ///
  /// @throws EngineException why it has failed; it has had no effect then, unless the recorded transaction has committed or it is a load in
  ///     batches; QUERY_CANCELED after [#cancel]; TRANSACTION_RESOLUTION_UNKNOWN or COMMIT_TIMEOUT if it may have committed all the same:
  ///     then the outcome of the recorded transaction is asked for
  /// @throws IOException of a file of the result
  void run(JobContext context) throws IOException;

  /// Memory that it takes until it has ended, also while it waits, in bytes: its request. Works of all users together are bounded by it. It
  /// stays the same.
  default long heldBytes() {
    return 0;
  }

  /// Whether it commits while it runs: the name under which [OutcomeLookup#load] knows how far it is; empty: it does, and has none; null:
  /// it has one transaction. It stays the same.
  default @Nullable String load() {
    return null;
  }

  /// Asks it to end soon. Any thread, perhaps before [#run], more than once, and after the end. Must not block.
  void cancel();
}
