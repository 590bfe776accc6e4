package dev.kakehashi.rest.job;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// Jobs of a directory with a clock that the test turns, and transactions whose outcome it says.
public final class TestJobs implements AutoCloseable {
  public static final JobViewer ALICE = JobViewer.of("alice");
  public static final JobViewer BOB = JobViewer.of("bob");
  public static final Duration LONG = Duration.ofSeconds(60);

  public final Path directory;
  public final AtomicLong now = new AtomicLong(1_800_000_000_000L);
  public final Map<String, OutcomeLookup.Outcome> outcomes = new ConcurrentHashMap<>();
  public JobSettings settings = settings(100, 4, 1 << 20);
  public Jobs jobs;

  public TestJobs(Path directory) {
    this.directory = directory;
    this.jobs = open();
  }

  public static JobSettings settings(int jobsPerUser, int running, long bytesPerUser) {
    return new JobSettings(
        Duration.ofMinutes(10),
        Duration.ofHours(1),
        10_000,
        jobsPerUser,
        running,
        1_000,
        100,
        4 * bytesPerUser,
        bytesPerUser,
        1 << 16);
  }

  private Jobs open() {
    try {
      return Jobs.open(
          directory,
          settings,
          (owner, transaction) ->
              outcomes.getOrDefault(transaction, OutcomeLookup.Outcome.ROLLED_BACK),
          now::get);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Closes and opens it again.
  public void restart() throws IOException {
    jobs.close();
    jobs = open();
  }

  public void restart(JobSettings changed) throws IOException {
    settings = changed;
    restart();
  }

  public void sweep() {
    jobs.sweeper().sweep();
  }

  public void pass(Duration time) {
    now.addAndGet(time.toMillis());
  }

  public JobRecord await(JobRecord job) {
    JobRecord ended = jobs.await(JobViewer.of(job.owner()), job.token(), LONG).orElseThrow();
    assertEquals(true, ended.state().isEnded(), "still " + ended.state());
    return ended;
  }

  public JobRecord run(String owner, JobWork work) {
    return await(jobs.submit(owner, "select 1", work));
  }

  public static KeyedRequest key(String user, String key, String body) {
    return KeyedRequest.of(user, key, "POST /v1/sql", "", body.getBytes(StandardCharsets.UTF_8));
  }

  public byte[] read(JobViewer viewer, JobRecord job, int number) throws IOException {
    try (FileHold hold = jobs.openFile(viewer, job.token(), number).orElseThrow()) {
      byte[] bytes = readAll(hold);
      assertEquals(hold.file().sha256(), HexFormat.of().formatHex(Sha256.begin().digest(bytes)));
      return bytes;
    }
  }

  public static byte[] readAll(FileHold hold) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
    hold.channel().position(0);
    while (hold.channel().read(buffer.clear()) >= 0) {
      Channels.newChannel(bytes).write(buffer.flip());
    }
    return bytes.toByteArray();
  }

  /// A work that writes one file.
  public static JobWork writes(byte[] content) {
    return new Simple() {
      @Override
      public void run(JobContext context) {
        try (ResultFile file = context.open("text/csv", "", "csv")) {
          file.write(content, 0, content.length);
          file.addRows(3);
          file.publish();
        }
        context.rowsWritten(3);
      }
    };
  }

  public static JobWork writes(String content) {
    return writes(content.getBytes(StandardCharsets.UTF_8));
  }

  /// A work that is not to be canceled.
  public abstract static class Simple implements JobWork {
    @Override
    public void cancel() {}
  }

  /// A work that begins, and then waits for the test or a cancel.
  public static final class Waiting implements JobWork {
    public final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private volatile boolean isCanceled;

    @Override
    public void run(JobContext context) {
      begun.countDown();
      await(end);
      if (isCanceled) {
        throw JobRun.canceled();
      }
    }

    @Override
    public void cancel() {
      isCanceled = true;
      end.countDown();
    }

    public void finish() {
      end.countDown();
    }

    public void awaitBegin() {
      await(begun);
    }
  }

  public static void await(CountDownLatch latch) {
    try {
      assertEquals(true, latch.await(60, TimeUnit.SECONDS), "nothing happens");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() throws IOException {
    jobs.close();
  }
}
