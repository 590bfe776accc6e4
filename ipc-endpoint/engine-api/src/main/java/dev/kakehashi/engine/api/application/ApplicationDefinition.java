package dev.kakehashi.engine.api.application;

import java.util.List;

/// An application as of one version of the catalogue. Immutable.
///
/// @param applicationId number of the object; it stays when the version changes
/// @param schema of the application, its functions and procedures
/// @param owner name of the role whose rights handlers and processes have
/// @param version the one that its name means now
/// @param options limits
public record ApplicationDefinition(
    long applicationId,
    String schema,
    String name,
    String owner,
    VersionDefinition version,
    ApplicationOptions options) {

  /// A version, which never changes.
  ///
  /// @param versionId number of the object
  /// @param number 1 for an application's first one, and so on
  /// @param isolation where its code runs
  /// @param jars in the order of the statement, one at least
  /// @param contents what it has defined
  public record VersionDefinition(
      long versionId,
      int number,
      CodeIsolation isolation,
      List<Jar> jars,
      ApplicationContents contents) {}

  /// A jar in the store.
  ///
  /// @param name of its file, for displays
  /// @param sha256 64 hexadecimal digits, lower case
  /// @param bytes its length
  public record Jar(String name, String sha256, long bytes) {}

  /// Where code runs.
  public enum CodeIsolation {
    /// In the endpoint.
    NONE,
    /// In a process of its own.
    PROCESS
  }
}
