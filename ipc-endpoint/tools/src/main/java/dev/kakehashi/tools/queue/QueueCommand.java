package dev.kakehashi.tools.queue;

import picocli.CommandLine.Command;

/// `queue`: looks at queues, and makes, takes and ends tasks.
@Command(
    name = "queue",
    description = {
      "Durable queues of the engine. QUEUE is a name as SQL writes it.",
      "A lease ends with the command that took the task, so receive completes what it prints, or works on it with --exec."
    },
    mixinStandardHelpOptions = true,
    subcommands = {
      QueueListCommand.class,
      QueueShowCommand.class,
      QueueEnqueueCommand.class,
      QueueReceiveCommand.class,
      QueueCompleteCommand.class,
      QueuePurgeCommand.class,
      QueueMoveCommand.class
    })
public final class QueueCommand {}
