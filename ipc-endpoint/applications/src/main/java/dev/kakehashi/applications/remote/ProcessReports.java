package dev.kakehashi.applications.remote;

/// Reports of a process about its application. Thread-safe.
public interface ProcessReports {
  /// @param call number within the process; 0: none
  void logged(long call, String line);

  /// @param member function, procedure, `route GET /x`, `handler q`, `process p`
  void failed(String member, long call, String sqlstate, String message, String stack);
}
