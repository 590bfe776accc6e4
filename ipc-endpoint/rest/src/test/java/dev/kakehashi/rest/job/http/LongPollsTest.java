package dev.kakehashi.rest.job.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;
import dev.kakehashi.rest.job.JobRecord;
import dev.kakehashi.rest.job.TestJobs;
import dev.kakehashi.rest.route.Routes;
import dev.kakehashi.rest.server.FixedUsers;
import dev.kakehashi.rest.server.HttpConfig;
import dev.kakehashi.rest.server.HttpDoor;
import dev.kakehashi.rest.server.HttpLimits;
import dev.kakehashi.rest.server.HttpListener;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class LongPollsTest {
  private static final int POLLS = 1_000;
  private static final long MAX_BYTES = 64L << 20;
  private static final long MAX_CPU_NANOS_PER_SECOND = 2_000_000;
  private static final int WINDOWS = 60;

  @TempDir Path directory;

  /// They are answered all the same when the job ends.
  @Test
  @Timeout(120)
  void shouldBearAThousandWithoutThreadsMemoryOrWork() throws Exception {
    HttpConfig config = config(30_000);
    try (TestJobs test = new TestJobs(directory)) {
      TestJobs.Waiting work = new TestJobs.Waiting();
      JobRecord job = test.jobs.submit("alice", "select", work);
      work.awaitBegin();
      HttpDoor door =
          HttpDoor.start(
              config,
              Routes.builder().addAll(new JobRoutes(test.jobs, new FixedUsers()).routes()).build(),
              new FixedUsers());
      try {
        List<SocketChannel> polls = new ArrayList<>();
        poll(door, job, polls, 50);
        long before = usedBytes();
        int threads = ManagementFactory.getThreadMXBean().getThreadCount();
        poll(door, job, polls, POLLS);
        waitUntilAllWait(test, polls.size());

        long bytes = usedBytes() - before;
        System.out.printf("%d long polls: %d kB%n", POLLS, bytes >> 10);
        assertTrue(bytes < MAX_BYTES, bytes + " bytes");
        assertTrue(
            ManagementFactory.getThreadMXBean().getThreadCount() <= threads + POLLS / 20,
            "they have threads");
        long nanos = leastCpuNanosPerSecond();
        System.out.printf("%d long polls: %d us of a processor in a second%n", POLLS, nanos / 1000);
        assertTrue(nanos <= MAX_CPU_NANOS_PER_SECOND, nanos + " ns in a second");

        work.finish();
        for (SocketChannel poll : polls) {
          assertAnswered(poll);
        }
      } finally {
        door.close();
      }
    }
  }

  private static HttpConfig config(int idleMillis) {
    int many = 2 * POLLS;
    HttpLimits limits =
        new HttpLimits(16 << 10, 10_000, many, many, many, idleMillis, 1_000, 10_000, 10_000, 100);
    return new HttpConfig(List.of(new HttpListener.Loopback(0)), limits, Set.of(), false);
  }

  /// A connection whose client waits for an answer is not idle.
  @Test
  @Timeout(60)
  void shouldWaitLongerThanAConnectionMayBeIdle() throws Exception {
    try (TestJobs test = new TestJobs(directory)) {
      TestJobs.Waiting work = new TestJobs.Waiting();
      JobRecord job = test.jobs.submit("alice", "select", work);
      HttpDoor door =
          HttpDoor.start(
              config(200),
              Routes.builder().addAll(new JobRoutes(test.jobs, new FixedUsers()).routes()).build(),
              new FixedUsers());
      try {
        List<SocketChannel> polls = new ArrayList<>();
        poll(door, job, polls, 1);
        waitUntilAllWait(test, 1);
        Thread.sleep(1_000); // five times the idle time
        work.finish();
        assertAnswered(polls.getFirst());
      } finally {
        door.close();
      }
    }
  }

  private static void poll(HttpDoor door, JobRecord job, List<SocketChannel> polls, int count)
      throws IOException {
    String pair =
        Base64.getEncoder().encodeToString("alice:wonder".getBytes(StandardCharsets.UTF_8));
    byte[] request =
        ("GET /v1/jobs/"
                + job.token()
                + "?wait=120 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic "
                + pair
                + "\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII);
    for (int i = 0; i < count; i++) {
      SocketChannel socket =
          SocketChannel.open(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), door.uri(0).getPort()));
      polls.add(socket);
      socket.write(ByteBuffer.wrap(request));
    }
  }

  private static void waitUntilAllWait(TestJobs test, int count) {
    Await.until("all wait", () -> test.jobs.waiting() == count);
  }

  /// Used bytes of heap and buffers, after a collection.
  private static long usedBytes() {
    System.gc();
    long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
      used += pool.getMemoryUsed();
    }
    return used;
  }

  /// Least processor time per second, among some seconds: the compilers have work of their own at first.
  private static long leastCpuNanosPerSecond() throws InterruptedException {
    OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    long least = Long.MAX_VALUE;
    for (int i = 0; i < WINDOWS && least > MAX_CPU_NANOS_PER_SECOND; i++) {
      long cpu = system.getProcessCpuTime();
      Thread.sleep(1_000); // the second that is measured
      least = Math.min(least, system.getProcessCpuTime() - cpu);
    }
    return least;
  }

  private static void assertAnswered(SocketChannel poll) throws IOException {
    try (poll) {
      ByteBuffer answer = ByteBuffer.allocate(4096);
      String text = "";
      while (!text.contains("\"state\":\"succeeded\"")) {
        assertTrue(poll.read(answer) > 0, text);
        text = new String(answer.array(), 0, answer.position(), StandardCharsets.US_ASCII);
      }
      assertEquals("HTTP/1.1 200", text.substring(0, 12));
    }
  }
}
