package dev.kakehashi.engine.api;

import java.util.OptionalLong;

/// Activity of a transaction's clients, as the engine's tables show it. Any thread.
public interface ClientActivity {
  /// Since when no request of it runs, by System.nanoTime(): its beginning, or the end of the last one; empty: one runs.
  OptionalLong idleSinceNanos();
}
