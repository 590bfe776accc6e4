package dev.kakehashi.tck.drive;

import dev.kakehashi.engine.api.Engine;

/// An engine that the conformance suite and the transfer test drive, with all that it needs to run: scheduler, directory, servers.
///
/// The suite calls these methods from one thread; only [#engine()] is called from any. `open` comes first and `close` last, also after a
/// failure.
public interface EngineUnderTest {
  /// Name of the engine, as the setting `engine` has it: letters, digits and hyphens.
  String name();

  /// Names the report, `target/tck-NAME.txt`.
  default String reportName() {
    return name();
  }

  /// Opens the engine. Its state is what earlier lives at the same place have left; of a new place, nothing: the first call gives an engine
  /// without tables.
  ///
  /// @throws Exception it cannot be opened, which fails all tests
  void open() throws Exception;

  /// The engine that is open. It stays the same object through [#killStore()].
  ///
  /// @throws IllegalStateException none is
  Engine engine();

  /// Closes the engine, and whatever was made for it in this process. Servers and files stay, so that [#open()] finds the state again.
  void shutDown() throws Exception;

  /// Whether [#killStore()] can do what it says: the rows are kept by another process than this one.
  default boolean canKillStore() {
    return false;
  }

  /// Ends what keeps the rows as `kill -9` does, and starts it again. The engine goes on; calls meanwhile end within its time-outs.
  default void killStore() throws Exception {
    throw new UnsupportedOperationException(name() + " keeps its rows in this process");
  }

  /// Shuts down and removes servers and files.
  void close() throws Exception;
}
