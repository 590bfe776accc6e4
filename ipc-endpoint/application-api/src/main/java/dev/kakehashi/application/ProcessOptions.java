package dev.kakehashi.application;

/// How a process runs.
public interface ProcessOptions {
  /// Whether one begins with each version; true without. Others begin by [ApplicationProcess.Context#spawn].
  ProcessOptions autostart(boolean begins);
}
