package dev.kakehashi.scheduler.platform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/// Each test has a thread of its own: what a thread is lasts longer than a test.
@EnabledOnOs(OS.LINUX)
class BackgroundWorkTest {
  private static final String OTHER = "0";
  private static final String BATCH = "3";
  private static final String IDLE = "5";

  /// Steps of a test that run in a thread of their own.
  private interface Steps {
    void run() throws IOException, InterruptedException;
  }

  private static void inAThread(Steps steps) throws Exception {
    Throwable[] thrown = new Throwable[1];
    Thread thread =
        Thread.ofPlatform()
            .start(() -> {
              try {
                steps.run();
              } catch (Throwable e) {
                thrown[0] = e;
              }
            });
    thread.join();
    if (thrown[0] != null) {
      throw new AssertionError(thrown[0]);
    }
  }

  /// Policy of the calling thread, field 41 of proc(5)'s `stat`.
  private static String policy() throws IOException {
    String stat = Files.readString(Path.of("/proc/thread-self/stat"));
    return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[41 - 3];
  }

  @Test
  void shouldLetOthersPassUntilItEnds() throws Exception {
    inAThread(() -> {
      assertTrue(BackgroundWork.begin());
      assertEquals(BATCH, policy());
      BackgroundWork.end();
      assertEquals(OTHER, policy());
    });
  }

  @Test
  void shouldBeginOnceOnly() throws Exception {
    inAThread(() -> {
      assertTrue(BackgroundWork.begin());
      assertFalse(BackgroundWork.begin());
      BackgroundWork.end();
      BackgroundWork.end();
      assertEquals(OTHER, policy());
    });
  }

  @Test
  void shouldLeaveThePolicyThatSomebodyHasGiven() throws Exception {
    inAThread(() -> {
      become("--idle");
      assertFalse(BackgroundWork.begin());
      BackgroundWork.end();
      assertEquals(IDLE, policy());
    });
  }

  @Test
  void shouldLeaveThePolicyThatSomebodyHasGivenMeanwhile() throws Exception {
    inAThread(() -> {
      assertTrue(BackgroundWork.begin());
      become("--idle");
      BackgroundWork.end();
      assertEquals(IDLE, policy());
    });
  }

  /// Gives the calling thread another policy, as an operator does by chrt(1).
  private static void become(String policy) throws IOException, InterruptedException {
    String thread = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
    Process chrt = new ProcessBuilder("chrt", policy, "--pid", "0", thread).inheritIO().start();
    assertEquals(0, chrt.waitFor());
  }
}
