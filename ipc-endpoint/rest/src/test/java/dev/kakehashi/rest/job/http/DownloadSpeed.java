package dev.kakehashi.rest.job.http;

import com.sun.management.OperatingSystemMXBean;
import dev.kakehashi.rest.job.JobContext;
import dev.kakehashi.rest.job.JobRecord;
import dev.kakehashi.rest.job.JobSettings;
import dev.kakehashi.rest.job.JobViewer;
import dev.kakehashi.rest.job.JobWork;
import dev.kakehashi.rest.job.Jobs;
import dev.kakehashi.rest.job.OutcomeLookup;
import dev.kakehashi.rest.job.ResultFile;
import dev.kakehashi.rest.route.Routes;
import dev.kakehashi.rest.server.FixedUsers;
import dev.kakehashi.rest.server.HttpConfig;
import dev.kakehashi.rest.server.HttpDoor;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.Random;
import java.util.stream.Stream;

/// Measures downloads of a file of a result beside `sendfile` of the same bytes, in turns, over loopback. A program, because times are no
/// test: arguments are a directory on a disk, and the megabytes of the file.
final class DownloadSpeed {
  private static final int TURNS = 7;

  private DownloadSpeed() {}

  public static void main(String[] arguments) throws Exception {
    Path directory = Files.createTempDirectory(Path.of(arguments[0]), "download");
    long bytes = Long.parseLong(arguments[1]) << 20;
    try (Jobs jobs =
        Jobs.open(directory, JobSettings.defaults(), (o, t) -> OutcomeLookup.Outcome.ROLLED_BACK)) {
      long begin = System.nanoTime();
      JobRecord job = jobs.submit("alice", "", new Fill(bytes));
      job = jobs.await(JobViewer.of("alice"), job.token(), Duration.ofMinutes(5)).orElseThrow();
      System.out.printf(
          "written, synchronised, published: %.0f MB/s%n", megabytesPerSecond(bytes, begin));
      HttpDoor door =
          HttpDoor.start(
              HttpConfig.onLoopback(),
              Routes.builder().addAll(new JobRoutes(jobs, new FixedUsers()).routes()).build(),
              new FixedUsers());
      try (ServerSocketChannel plain =
          ServerSocketChannel.open()
              .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
        Thread.ofPlatform().daemon().start(() -> serve(plain, directory));
        measure(
            door.uri(0).getPort(),
            ((InetSocketAddress) plain.getLocalAddress()).getPort(),
            job,
            bytes);
      } finally {
        door.close();
      }
      jobs.delete(JobViewer.of("alice"), job.token());
    }
  }

  private static void measure(int http, int plain, JobRecord job, long bytes) throws IOException {
    double[] ours = new double[TURNS];
    double[] theirs = new double[TURNS];
    String path = "/v1/jobs/" + job.token() + "/files/1";
    long ourCpu = 0;
    long theirCpu = 0;
    for (int i = 0; i < TURNS; i++) {
      long begin = cpuNanos();
      ours[i] = fetch(http, path, bytes);
      long between = cpuNanos();
      theirs[i] = fetch(plain, path, bytes);
      ourCpu += between - begin;
      theirCpu += cpuNanos() - between;
    }
    // With the client, which is the same for both.
    System.out.printf(
        "processor time of a GB: %.0f ms, sendfile %.0f ms%n",
        ourCpu / 1e6 / TURNS / (bytes / 1e9), theirCpu / 1e6 / TURNS / (bytes / 1e9));
    Arrays.sort(ours);
    Arrays.sort(theirs);
    System.out.printf(
        "GET %.0f MB/s, sendfile %.0f MB/s, ratio %.2f%n",
        ours[TURNS / 2], theirs[TURNS / 2], ours[TURNS / 2] / theirs[TURNS / 2]);
  }

  private static long cpuNanos() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }

  private static double megabytesPerSecond(long bytes, long begin) {
    return bytes / 1e6 / ((System.nanoTime() - begin) / 1e9);
  }

  private static double fetch(int port, String path, long bytes) throws IOException {
    long begin = System.nanoTime();
    try (SocketChannel socket =
        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
      String pair =
          Base64.getEncoder().encodeToString("alice:wonder".getBytes(StandardCharsets.UTF_8));
      socket.write(
          ByteBuffer.wrap(
              ("GET "
                      + path
                      + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic "
                      + pair
                      + "\r\nRange: bytes=0-"
                      + (bytes - 1)
                      + "\r\nConnection: close\r\n\r\n")
                  .getBytes(StandardCharsets.US_ASCII)));
      ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 18);
      long read = 0;
      for (int n; (n = socket.read(buffer.clear())) >= 0; ) {
        read += n;
      }
      if (read < bytes) {
        throw new IOException("only " + read + " bytes");
      }
    }
    return megabytesPerSecond(bytes, begin);
  }

  private static void serve(ServerSocketChannel listener, Path directory) {
    try {
      while (true) {
        try (SocketChannel socket = listener.accept();
            Stream<Path> files = Files.list(directory.resolve("results"));
            FileChannel file =
                FileChannel.open(files.findAny().orElseThrow(), StandardOpenOption.READ)) {
          socket.read(ByteBuffer.allocate(1 << 12));
          long at = 0;
          while (at < file.size()) {
            at += file.transferTo(at, file.size() - at, socket);
          }
        }
      }
    } catch (IOException e) {
      if (listener.isOpen()) {
        throw new IllegalStateException(e);
      }
    }
  }

  private record Fill(long bytes) implements JobWork {
    @Override
    public void run(JobContext context) {
      byte[] block = new byte[1 << 20];
      new Random(1).nextBytes(block);
      try (ResultFile file = context.open("application/octet-stream", "", "bin")) {
        for (long at = 0; at < bytes; at += block.length) {
          file.write(block, 0, block.length);
        }
        file.publish();
      }
    }

    @Override
    public void cancel() {}
  }
}
