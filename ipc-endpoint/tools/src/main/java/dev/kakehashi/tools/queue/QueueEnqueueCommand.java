package dev.kakehashi.tools.queue;

import dev.kakehashi.client.Session;
import dev.kakehashi.client.TaskDraft;
import dev.kakehashi.client.TaskQueue;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.tools.bulk.Connecting;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `queue enqueue`: makes tasks.
@Command(
    name = "enqueue",
    description = {
      "Makes a task for each PAYLOAD, all of them or none, and prints their numbers.",
      "Without PAYLOAD the lines of standard input are payloads."
    },
    mixinStandardHelpOptions = true)
public final class QueueEnqueueCommand implements Callable<Integer> {
  private static final int BATCH = 1_000;

  @Mixin private Connecting connecting = new Connecting();

  @Parameters(index = "0", paramLabel = "QUEUE", description = "the queue")
  private String queue = "";

  @Parameters(index = "1..*", paramLabel = "PAYLOAD", description = "a JSON text")
  private List<String> payloads = List.of();

  @Option(names = "--text", description = "payloads are texts, kept as bytes, and not JSON")
  private boolean text;

  @Option(names = "--key", paramLabel = "KEY", description = "tasks of one key keep their order")
  private @Nullable String key;

  @Option(names = "--fair", paramLabel = "KEY", description = "key of fair sharing")
  private @Nullable String fair;

  @Option(names = "--priority", paramLabel = "N", description = "0 to 9, greater ones go first")
  private @Nullable Integer priority;

  @Option(
      names = "--run-at",
      paramLabel = "TIME",
      description = "not before, as in 2026-11-25T22:30:00Z")
  private @Nullable Instant runAt;

  @Option(
      names = "--delay",
      paramLabel = "TIME",
      description = "not before this time has passed, as in 90s or 2h",
      converter = Times.class)
  private @Nullable Duration delay;

  @Option(
      names = "--unique-key",
      paramLabel = "KEY",
      description = "a second task of this key is not made")
  private @Nullable String uniqueKey;

  @Option(
      names = "--unique-for",
      paramLabel = "TIME",
      description = "as long as that (default: until the first one is done or dead)",
      converter = Times.class)
  private @Nullable Duration uniqueFor;

  @Override
  public Integer call() throws IOException {
    try (Session session = connecting.attach("kakehashi queue enqueue");
        Transaction transaction = session.begin()) {
      TaskQueue target = session.queue(queue);
      List<Long> numbers = new ArrayList<>();
      if (payloads.isEmpty()) {
        enqueueLines(target, transaction, numbers);
      } else {
        numbers.addAll(target.enqueue(transaction, payloads.stream().map(this::draft).toList()));
      }
      transaction.commit();
      numbers.forEach(System.out::println);
    }
    return 0;
  }

  private void enqueueLines(TaskQueue target, Transaction transaction, List<Long> numbers)
      throws IOException {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    List<TaskDraft> batch = new ArrayList<>();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (!line.isBlank()) {
        batch.add(draft(line));
      }
      if (batch.size() == BATCH) {
        numbers.addAll(target.enqueue(transaction, batch));
        batch.clear();
      }
    }
    numbers.addAll(target.enqueue(transaction, batch));
  }

  private TaskDraft draft(String payload) {
    TaskDraft draft = text ? TaskDraft.ofText(payload) : TaskDraft.ofJson(payload);
    if (key != null) {
      draft = draft.withKey(key);
    }
    if (fair != null) {
      draft = draft.withFair(fair);
    }
    if (priority != null) {
      draft = draft.withPriority(priority);
    }
    if (delay != null) {
      draft = draft.withRunAt(Instant.now().plus(delay));
    }
    if (runAt != null) {
      draft = draft.withRunAt(runAt);
    }
    return uniqueKey == null ? draft : draft.withUnique(uniqueKey, uniqueFor);
  }
}
