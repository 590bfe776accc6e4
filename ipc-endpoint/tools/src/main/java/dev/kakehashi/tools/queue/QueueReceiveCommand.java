package dev.kakehashi.tools.queue;

import dev.kakehashi.client.QueueTask;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.TaskQueue;
import dev.kakehashi.tools.bulk.Connecting;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `queue receive`: takes tasks.
@Command(
    name = "receive",
    description = {
      "Takes tasks and prints each as a JSON object on one line. They are lent for the queue's time, or --lease; complete ends them.",
      "With --exec a command works on each of them instead: its standard input is the payload. The task is completed if it exits with 0."
    },
    mixinStandardHelpOptions = true)
public final class QueueReceiveCommand implements Callable<Integer> {
  private static final String TASKS =
      """
      SELECT jsonb_build_object('token', token, 'task_id', task_id, 'attempt', attempt, 'key', "key", 'fair', fair,
        'priority', priority, 'payload', payload, 'body', encode(body, 'hex'), 'enqueued_at', enqueued_at,
        'lease_until', lease_until, 'last_error', last_error)::text AS task
      FROM receive($1::text, "max" => $2::int4, "wait" => $3::interval, lease => $4::interval, "group" => $5::text,
        hold => 'time')\
      """;

  @Mixin private Connecting connecting = new Connecting();

  @Parameters(index = "0", paramLabel = "QUEUE", description = "the queue")
  private String queue = "";

  @Option(names = "--max", paramLabel = "N", description = "at most so many (default: 1)")
  private int max = 1;

  @Option(
      names = "--wait",
      paramLabel = "TIME",
      description = "waits so long for a first one, as in 20s (default: not at all)",
      converter = Times.class)
  private Duration wait = Duration.ZERO;

  @Option(
      names = "--lease",
      paramLabel = "TIME",
      description = "takes them for this time",
      converter = Times.class)
  private @Nullable Duration lease;

  @Option(names = "--group", paramLabel = "GROUP", description = "subscription group")
  private @Nullable String group;

  @Option(
      names = "--exec",
      paramLabel = "COMMAND",
      description =
          "shell command that works on a task; $KAKEHASHI_TASK_ID, $KAKEHASHI_ATTEMPT and $KAKEHASHI_KEY are set")
  private @Nullable String command;

  @Override
  public Integer call() throws IOException, InterruptedException {
    try (Session session = connecting.attach("kakehashi queue receive")) {
      return command == null ? print(session) : execute(session, command);
    }
  }

  private int print(Session session) {
    PrintedRows tasks =
        PrintedRows.of(
            session, TASKS, queue, max, Times.interval(wait), Times.interval(lease), group);
    tasks.printValues(System.out);
    return 0;
  }

  private int execute(Session session, String shellCommand)
      throws IOException, InterruptedException {
    TaskQueue source = session.queue(queue);
    if (group != null) {
      source = source.group(group);
    }
    if (lease != null) {
      source = source.lease(lease);
    }
    List<QueueTask> tasks = source.receive(max, wait);
    int failures = 0;
    for (QueueTask task : tasks) {
      int exit = run(shellCommand, task);
      if (exit == 0) {
        task.complete();
      } else {
        failures++;
        task.fail("the command has exited with " + exit);
      }
    }
    return failures == 0 ? 0 : 1;
  }

  private static int run(String shellCommand, QueueTask task)
      throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder("/bin/sh", "-c", shellCommand)
            .redirectOutput(ProcessBuilder.Redirect.INHERIT)
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().put("KAKEHASHI_TASK_ID", Long.toString(task.taskId()));
    builder.environment().put("KAKEHASHI_ATTEMPT", Integer.toString(task.attempt()));
    String key = task.key();
    builder.environment().put("KAKEHASHI_KEY", key == null ? "" : key);
    Process process = builder.start();
    try (OutputStream in = process.getOutputStream()) {
      in.write(task.bytes());
    } catch (IOException e) {
      // The command need not read it. Whether it has worked its exit says.
      if (process.isAlive() && !String.valueOf(e.getMessage()).contains("Broken pipe")) {
        throw e;
      }
    }
    return process.waitFor();
  }
}
