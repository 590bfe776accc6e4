package dev.kakehashi.os;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class ThreadPriorityTest {
  private static final Path STATE = Path.of("/proc/thread-self/stat");

  /// Field of `stat` after the name in parentheses, which is the second one.
  private static final int NICE = 19 - 3;

  @Test
  void shouldPutOneThreadBehind() throws Exception {
    int before = nice();
    try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
      int behind =
          thread
              .submit(() -> {
                ThreadPriority.letOthersPass();
                ThreadPriority.letOthersPass();
                return nice();
              })
              .get();
      assertEquals(Math.max(before, 10), behind);
    }
    assertEquals(before, nice());
  }

  private static int nice() throws Exception {
    String state = Files.readString(STATE);
    return Integer.parseInt(state.substring(state.lastIndexOf(')') + 2).split(" ", -1)[NICE]);
  }
}
