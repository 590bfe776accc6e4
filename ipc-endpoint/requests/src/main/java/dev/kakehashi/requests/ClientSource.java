package dev.kakehashi.requests;

import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// An interface, as whoever lists its clients sees it. Thread-safe, must not block.
@FunctionalInterface
public interface ClientSource {
  /// Tells of each client that is attached, with its requests if it has sent any.
  void forEachClient(BiConsumer<RequestClient, @Nullable ClientRequests> each);
}
