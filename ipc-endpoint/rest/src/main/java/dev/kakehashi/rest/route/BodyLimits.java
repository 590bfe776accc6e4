package dev.kakehashi.rest.route;

/// How slowly a body may come.
///
/// @param minBytesPerSecond on average over the time that the endpoint has waited for bytes; 0: any
/// @param graceNanos of waiting before the rate counts
public record BodyLimits(long minBytesPerSecond, long graceNanos) {}
