package dev.kakehashi.engine.api;

import org.jspecify.annotations.Nullable;

/// A standby asks for the log behind its position.
///
/// @param standby its name
/// @param machine which one of that name: it is the same over starts, and another one on another machine or of another directory
/// @param logId identifier of its log
/// @param from position up to which it has it, durably
/// @param applied position up to which its readers see it
/// @param last what it has before its position; null: it does not say, or has nothing there
public record LogRequest(
    String standby,
    String machine,
    long logId,
    LogPosition from,
    LogPosition applied,
    @Nullable LogFrame last) {}
