package dev.kakehashi.application;

/// The call of the thread; bound by the platform.
public final class CurrentCall {
  private static final ScopedValue<Call> CALL = ScopedValue.newInstance();

  private CurrentCall() {}

  static Call get() {
    if (!CALL.isBound()) {
      throw new IllegalStateException("this thread runs no call of an application");
    }
    return CALL.get();
  }

  /// Runs something as a call; for the platform.
  public static <R, X extends Throwable> R run(Call call, ScopedValue.CallableOp<R, X> body)
      throws X {
    return ScopedValue.where(CALL, call).call(body);
  }
}
