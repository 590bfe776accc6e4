package dev.kakehashi.bulk.value;

/// How values are converted.
///
/// @param truncates digits of times beyond microseconds are cut off; otherwise a value that has them is refused
public record ValueOptions(boolean truncates) {}
