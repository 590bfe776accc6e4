package dev.kakehashi.transport.os;

/// Permissions that files of this process do not get when they are made.
public final class Umask {
  private static final int OTHERS = 077;

  private Umask() {}

  /// From now on only our own OS user may read or write what this process makes, its native libraries included; what is opened to others is
  /// opened on purpose, afterwards.
  public static void keepPrivate() {
    int ignored = Linux.umask(OTHERS);
    assert ignored >= 0;
  }
}
