package dev.kakehashi.applications.remote;

import dev.kakehashi.applications.child.ProcessMain;
import java.io.IOException;

/// The process of a test.
final class SmallProcess {
  private SmallProcess() {}

  public static void main(String[] arguments) throws IOException {
    ProcessMain.run(arguments[0], reports -> new SmallSystem());
  }
}
