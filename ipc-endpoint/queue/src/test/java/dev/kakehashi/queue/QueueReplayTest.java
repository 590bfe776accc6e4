package dev.kakehashi.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.Payload;
import dev.kakehashi.engine.api.queue.QueueState.TaskCounts;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// State from files and log, wherever the log ends and however old the files are; segments on disk; damage.
class QueueReplayTest {
  @TempDir Path directory;

  private Path home() {
    return directory.resolve("home");
  }

  /// The queue as operators see it.
  private static List<String> picture(LogHost host) {
    List<String> result = new ArrayList<>(host.problems());
    if (host.queues.states().isEmpty()) {
      return result;
    }
    TaskCounts tasks = host.state().tasks();
    result.add(
        tasks.enqueued()
            + " "
            + tasks.done()
            + " "
            + tasks.dead()
            + " "
            + tasks.deadLetters()
            + " "
            + tasks.canceled());
    host.queues.tasks(
        LogHost.QUEUE,
        view ->
            result.add(
                view.position()
                    + " "
                    + view.state()
                    + " "
                    + view.attempts()
                    + " "
                    + view.order().key()));
    return result;
  }

  @Test
  void shouldComeToTheSameFromFilesOfAnyAgeWhereverTheLogEnds() throws IOException {
    Random random = new Random(42);
    LogHost host = new LogHost(home()).start();
    host.create(options -> options.ordered().backoff(1_000_000, 1_000_000, 0));
    List<Integer> images = new ArrayList<>();
    for (int round = 0; round < 25; round++) {
      for (int each = 0; each < 3; each++) {
        host.enqueue(LogHost.keyed("t", random.nextBoolean() ? "k" + random.nextInt(3) : null));
      }
      List<LeasedTask> tasks = host.receive(2);
      for (LeasedTask each : tasks) {
        switch (random.nextInt(4)) {
          case 0, 1 -> host.complete(each);
          case 2 -> host.fail(each, -1);
          default -> host.commit(changes -> changes.release(each.token()));
        }
      }
      if (round % 8 == 5) {
        host.queues.force();
        images.add(host.log.size());
        copy(home(), directory.resolve("image" + host.log.size()));
      }
    }
    for (int length = images.getFirst(); length <= host.log.size(); length += 29) {
      List<byte[]> log = new ArrayList<>(host.log.subList(0, length));
      List<String> fromNothing = replayed(host, directory.resolve("empty" + length), log);
      for (int image : images) {
        if (image <= length) {
          Path over = directory.resolve("over" + image + "." + length);
          copy(directory.resolve("image" + image), over);
          assertEquals(fromNothing, replayed(host, over, log), "files of " + image);
        }
      }
    }
  }

  private static List<String> replayed(LogHost like, Path home, List<byte[]> log) {
    LogHost host = new LogHost(home, log);
    host.definitions = like.definitions;
    host.start();
    List<String> picture = picture(host);
    host.queues.close();
    return picture;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path each : files.toList()) {
        Path target = to.resolve(from.relativize(each));
        if (Files.isDirectory(each)) {
          Files.createDirectories(target);
        } else {
          Files.copy(each, target);
        }
      }
    }
  }

  private static NewTask large(int number) {
    byte[] bytes = new byte[64 << 10];
    ByteBuffer.wrap(bytes).putInt(number);
    return new NewTask(
        new Payload(false, bytes),
        number % 3 == 0 ? "key" : null,
        null,
        NewTask.DEFAULT_PRIORITY,
        0,
        null,
        0);
  }

  private static int number(LeasedTask task) {
    return ByteBuffer.wrap(task.payload().bytes()).getInt();
  }

  @Test
  void shouldReadTasksOfFullSegmentsFromTheirFiles() throws IOException {
    int count = 200;
    LogHost host = new LogHost(home()).start();
    host.create(options -> options);
    for (int each = 0; each < count; each++) {
      host.enqueue(large(each));
    }
    Path folder = home().resolve(Long.toString(LogHost.QUEUE));
    try (Stream<Path> files = Files.list(folder)) {
      assertTrue(files.count() >= 4);
    }
    host.queues.force();
    host.log.clear();
    host = host.crash();
    for (int each = count; each < count + 20; each++) {
      host.enqueue(large(each));
    }
    for (int each = 0; each < count + 20; each++) {
      LeasedTask task = host.receiveOne();
      assertEquals(each, number(task));
      host.complete(task);
    }
    host.queues.force();
    assertEquals(List.of(), host.problems());
    try (Stream<Path> files = Files.list(folder)) {
      assertEquals(0, files.count());
    }
    host.queues.close();
  }

  @Test
  void shouldNotHandOutDamagedTasks() throws IOException {
    LogHost host = new LogHost(home()).start();
    host.create(options -> options);
    for (int each = 0; each < 100; each++) {
      host.enqueue(large(each));
    }
    host.queues.force();
    host.queues.close();
    Path data = home().resolve(Long.toString(LogHost.QUEUE)).resolve("%016x.data".formatted(0));
    byte[] bytes = Files.readAllBytes(data);
    bytes[bytes.length / 2 + 1000] ^= 1;
    Files.write(data, bytes);
    LogHost again = new LogHost(home(), new ArrayList<>());
    again.definitions = host.definitions;
    again.start();
    List<String> problems = again.problems();
    assertTrue(problems.getFirst().contains("checksum"), problems::toString);
    EngineException refused =
        assertThrows(
            EngineException.class,
            () -> {
              for (int each = 0; each < 100; each++) {
                again.receiveOne();
              }
            });
    assertEquals(ErrorCode.DATA_CORRUPTED, refused.code());
  }

  @Test
  void shouldTakeTheLastWholeStateOfADamagedFile() throws IOException {
    LogHost host = new LogHost(home()).start();
    host.create(options -> options);
    host.enqueue("a");
    host.queues.force();
    Path state = states().getFirst();
    byte[] before = Files.readAllBytes(state);
    host.enqueue("b");
    host.queues.force();
    byte[] after = Files.readAllBytes(state);
    for (int length = before.length; length < after.length; length += 9) {
      Files.write(state, Arrays.copyOf(after, length));
      LogHost again = new LogHost(home(), new ArrayList<>(host.log));
      again.definitions = host.definitions;
      again.start();
      assertEquals(List.of("a", "b"), again.receiveTexts(5));
      assertEquals(List.of(), again.problems());
    }
  }

  /// Files of states, the oldest first.
  private List<Path> states() throws IOException {
    try (Stream<Path> files = Files.list(home())) {
      return files
          .filter(each -> String.valueOf(each.getFileName()).startsWith("state-"))
          .sorted()
          .toList();
    }
  }

  /// A state that was durable is there, or the queues are refused: the log may not have its changes any more.
  @Test
  void shouldRefuseStatesThatAreDamagedBeforeTheirLastWrite() throws IOException {
    LogHost host = new LogHost(home()).start();
    host.create(options -> options);
    List<Integer> ends = new ArrayList<>();
    for (String text : List.of("a", "b", "c")) {
      host.enqueue(text);
      host.queues.force();
      ends.add((int) Files.size(states().getFirst()));
    }
    host.queues.close();
    Path state = states().getFirst();
    byte[] whole = Files.readAllBytes(state);
    // Records begin at multiples of 8, so none of these bytes is one that fills up.
    for (int at = 32; at < ends.get(1); at += 8) {
      byte[] damaged = whole.clone();
      damaged[at] ^= 1;
      Files.write(state, damaged);
      int position = at;
      EngineException refused =
          assertThrows(
              EngineException.class,
              () -> DurableQueues.open(home()).close(),
              () -> "byte " + position);
      assertEquals(ErrorCode.DATA_CORRUPTED, refused.code());
    }
  }

  private static byte[] old(String name) throws IOException {
    try (InputStream in = QueueReplayTest.class.getResourceAsStream("format-5/" + name)) {
      return Objects.requireNonNull(in, name).readAllBytes();
    }
  }

  /// The files are of a data directory of format 5, whose states have no header. Tasks a and b have a write each.
  @Test
  void shouldOpenStatesOfFormat5AndWriteThemAnew() throws IOException {
    LogHost other = new LogHost(directory.resolve("other")).start();
    other.create(options -> options);
    Path folder = home().resolve(Long.toString(LogHost.QUEUE));
    Files.createDirectories(folder);
    Files.write(folder.resolve("0000000000000000.data"), old("data"));
    Files.write(folder.resolve("0000000000000000.index"), old("index"));
    Path state = home().resolve("state-0000000000000000");
    byte[] states = old("state");
    for (int length = states.length; length >= states.length - 20; length -= 5) {
      for (Path each : states()) {
        Files.delete(each);
      }
      Files.write(state, Arrays.copyOf(states, length));
      LogHost host = new LogHost(home());
      host.definitions = other.definitions;
      host.start();
      boolean isWhole = length == states.length;
      // Without the second write, its task is one that the log would have brought.
      assertEquals(isWhole ? 2 : 1, host.state().tasks().enqueued(), "cut at " + length);
      host.queues.close();
    }
    for (Path each : states()) {
      Files.delete(each);
    }
    Files.write(state, states);
    LogHost host = new LogHost(home());
    host.definitions = other.definitions;
    host.start();
    host.enqueue("c");
    host.queues.force();
    Path next = home().resolve("state-0000000000000001");
    assertEquals(List.of(next), states());
    String head = new String(Files.readAllBytes(next), 0, 8, StandardCharsets.US_ASCII);
    assertEquals("KHRECORD", head);
    LogHost again = host.crash();
    assertEquals(List.of("a", "b", "c"), again.receiveTexts(5));
    assertEquals(List.of(), again.problems());
  }
}
