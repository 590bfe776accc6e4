package dev.kakehashi.client;

/// How far a load or dump is.
///
/// @param stage what is going on
/// @param bytes of files so far: sent, read or written
/// @param totalBytes of all files; 0: not known
/// @param rows read or written so far
/// @param rejected of these rows
public record CopyProgress(Stage stage, long bytes, long totalBytes, long rows, long rejected) {
  /// Stage of the copy.
  public enum Stage {
    /// A file goes to the endpoint.
    SENDING,

    /// The endpoint reads files.
    LOADING,

    /// The endpoint writes files, or a file comes from it.
    DUMPING
  }

  /// Is told now and then, in the thread that waits; must not use the session.
  @FunctionalInterface
  public interface Listener {
    void progressed(CopyProgress progress);
  }
}
