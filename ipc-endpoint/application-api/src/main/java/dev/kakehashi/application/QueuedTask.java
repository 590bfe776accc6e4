package dev.kakehashi.application;

import java.util.Optional;

/// A task that a handler has.
///
/// @param id within its queue
/// @param attempt 1 at first
/// @param key of its order
/// @param value its payload
public record QueuedTask<T>(long id, int attempt, Optional<String> key, T value) {}
