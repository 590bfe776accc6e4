package dev.kakehashi.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// How many whole lives one thread makes, with a log that costs nothing; printed, not judged.
///
/// `kakehashi.queue.lives` sets the number, `kakehashi.queue.backlog` tasks that stay before them.
class QueueRateTest {
  private static final Logger LOG = LoggerFactory.getLogger(QueueRateTest.class);
  private static final int LIVES = Integer.getInteger("kakehashi.queue.lives", 5_000);
  private static final int BACKLOG = Integer.getInteger("kakehashi.queue.backlog", 1_000);
  private static final int KEYS = Integer.getInteger("kakehashi.queue.keys", 0);
  private static final int FAIR = Integer.getInteger("kakehashi.queue.fair", 0);
  private static final int BATCH = Integer.getInteger("kakehashi.queue.batch", 1);

  @TempDir Path directory;

  @Test
  void shouldLiveManyLives() {
    LogHost host = new LogHost(directory).start();
    host.keepLog = false;
    host.create(options -> KEYS > 0 ? options.ordered() : options);
    int count = 0;
    long begin = System.nanoTime();
    for (int each = 0; each < BACKLOG; each += 100) {
      int from = count;
      host.commit(changes -> {
        for (int task = 0; task < 100; task++) {
          changes.enqueue(LogHost.QUEUE, task(from + task));
        }
      });
      count += 100;
    }
    long filled = System.nanoTime();
    for (int each = 0; each < LIVES; each += BATCH) {
      int from = count;
      host.commit(changes -> {
        for (int task = 0; task < BATCH; task++) {
          changes.enqueue(LogHost.QUEUE, task(from + task));
        }
      });
      count += BATCH;
      List<LeasedTask> tasks = host.receive(BATCH);
      assertEquals(BATCH, tasks.size());
      host.commit(changes -> {
        for (LeasedTask task : tasks) {
          changes.complete(task.token());
        }
      });
    }
    long ended = System.nanoTime();
    LOG.info(
        "enqueue {}/s, lives {}/s, {} MB",
        (long) (BACKLOG * 1e9 / (filled - begin)),
        (long) (LIVES * 1e9 / (ended - filled)),
        (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) >> 20);
    assertEquals(List.of(), host.problems());
    host.queues.close();
  }

  private static NewTask task(int number) {
    byte[] bytes = new byte[100];
    return new NewTask(
        new dev.kakehashi.engine.api.queue.Payload(false, bytes),
        KEYS > 0 ? "key " + number % KEYS : null,
        FAIR > 0 ? "fair " + number % FAIR : null,
        NewTask.DEFAULT_PRIORITY,
        0,
        null,
        0);
  }
}
