package dev.kakehashi.os;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// Ends with 0 if the C library's `getppid` gives the number that it is to give.
final class ParentProgram {
  private static final MethodHandle GETPPID =
      LibC.function("getppid", FunctionDescriptor.of(ValueLayout.JAVA_INT));

  private ParentProgram() {}

  public static void main(String[] arguments) throws Throwable {
    int parent = (int) GETPPID.invokeExact();
    if (parent != Integer.parseInt(arguments[0])) {
      throw new AssertionError("getppid gives " + parent);
    }
  }
}
