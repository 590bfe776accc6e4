package dev.kakehashi.pgwire.pool;

import java.time.Duration;

/// Limits of a pool.
///
/// @param size connections at most, at least 1
/// @param failoverWindow how long a server that takes writes is looked for
public record PoolLimits(int size, Duration failoverWindow) {}
