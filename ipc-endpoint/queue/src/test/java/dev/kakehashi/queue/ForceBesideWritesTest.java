package dev.kakehashi.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Segments become full, and leave memory, while another thread writes the files of all queues.
class ForceBesideWritesTest {
  private static final int QUEUES = 8;
  private static final int TASKS = 15;

  /// With so many bytes 15 tasks are not a full segment, and 17 are.
  private static final String PAYLOAD = "x".repeat(260_000);

  @TempDir Path directory;

  @Test
  void shouldFindEachTaskAfterAnother() throws Exception {
    for (int round = 0; round < 4; round++) {
      Path home = directory.resolve("home" + round);
      LogHost host = new LogHost(home);
      host.keepLog = false;
      host.start();
      for (long queue = 1; queue <= QUEUES; queue++) {
        host.create(queue, options -> options);
        enqueue(host, queue, TASKS);
      }
      CompletableFuture<Void> force = CompletableFuture.runAsync(host.queues::force);
      // The first of eight files is there: the rest is still to be written, with what was there
      // when it began.
      Await.until("a file of a segment", () -> force.isDone() || hasSegment(home));
      for (long queue = 1; queue <= QUEUES; queue++) {
        enqueue(host, queue, 3);
      }
      force.get(Await.LIMIT.toSeconds(), TimeUnit.SECONDS);
      host.settle();
      assertEquals(List.of(), host.problems());
      for (long queue = 1; queue <= QUEUES; queue++) {
        assertEquals(TASKS + 3, received(host, queue));
      }
      host.queues.close();
    }
  }

  private static void enqueue(LogHost host, long queue, int tasks) {
    for (int i = 0; i < tasks; i++) {
      host.commit(changes -> changes.enqueue(queue, LogHost.task(PAYLOAD)));
    }
  }

  private static int received(LogHost host, long queue) {
    int count = 0;
    List<LeasedTask> tasks = host.call(queue, 0, 4, 0, LeaseHolder.TIME, List.of()).answer();
    while (!tasks.isEmpty()) {
      count += tasks.size();
      tasks.forEach(host::complete);
      tasks = host.call(queue, 0, 4, 0, LeaseHolder.TIME, List.of()).answer();
    }
    return count;
  }

  private static boolean hasSegment(Path home) {
    try (var files = Files.walk(home)) {
      return files.anyMatch(file -> file.toString().endsWith(".data"));
    } catch (IOException | UncheckedIOException e) {
      return false; // a name of a moment, as that of a state that is being replaced
    }
  }
}
