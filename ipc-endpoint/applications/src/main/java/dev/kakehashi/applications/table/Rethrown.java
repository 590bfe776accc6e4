package dev.kakehashi.applications.table;

/// Exceptions that come through a place whose signature does not have them.
public final class Rethrown {
  private Rethrown() {}

  /// Never returns normally.
  public static RuntimeException unchecked(Throwable thrown) {
    throw Rethrown.<RuntimeException>as(thrown);
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // to throw it as it is
  private static <X extends Throwable> X as(Throwable thrown) throws X {
    throw (X) thrown;
  }
}
