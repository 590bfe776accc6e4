package dev.kakehashi.server.doctor;

/// Result of one check.
///
/// @param grade how bad it is
/// @param subject what was looked at, a few words
/// @param text what it is like
/// @param advice what to do; empty: nothing
public record Finding(Grade grade, String subject, String text, String advice) {
  /// How bad something is.
  public enum Grade {
    OK,
    WARNING,
    PROBLEM
  }

  static Finding ok(String subject, String text) {
    return new Finding(Grade.OK, subject, text, "");
  }

  static Finding warning(String subject, String text, String advice) {
    return new Finding(Grade.WARNING, subject, text, advice);
  }

  static Finding problem(String subject, String text, String advice) {
    return new Finding(Grade.PROBLEM, subject, text, advice);
  }
}
