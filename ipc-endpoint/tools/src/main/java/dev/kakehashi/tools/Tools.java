package dev.kakehashi.tools;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.tools.application.AppCommand;
import dev.kakehashi.tools.bulk.DumpCommand;
import dev.kakehashi.tools.bulk.InspectCommand;
import dev.kakehashi.tools.bulk.LoadCommand;
import dev.kakehashi.tools.queue.QueueCommand;
import dev.kakehashi.tools.replay.ReplayCommand;
import dev.kakehashi.tools.shell.SqlCommand;
import dev.kakehashi.tools.tpch.TpchCommand;
import dev.kakehashi.tools.training.TrainingCommand;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/// Entry point: `java -jar kakehashi-tools.jar COMMAND`. Exits with 0, 1 (it failed; one line says why) or 2 (usage).
@Command(
    name = "kakehashi-tools",
    description = "Tools around a Kakehashi endpoint.",
    mixinStandardHelpOptions = true,
    version = "1.0.0",
    subcommands = {
      LoadCommand.class,
      DumpCommand.class,
      InspectCommand.class,
      QueueCommand.class,
      SqlCommand.class,
      AppCommand.class,
      TpchCommand.class,
      ReplayCommand.class,
      TrainingCommand.class
    })
public final class Tools {
  private Tools() {}

  public static void main(String[] arguments) {
    int exit =
        new CommandLine(new Tools())
            .setExecutionExceptionHandler((failure, commandLine, parsed) -> {
              commandLine.getErr().println("error: " + reason(failure));
              return 1;
            })
            .execute(arguments);
    System.exit(exit);
  }

  /// Messages of file systems are often no more than the name of a file.
  private static String reason(Exception failure) {
    return switch (failure) {
      case EndpointException e -> reason(e);
      case NoSuchFileException e -> "\"" + e.getFile() + "\" does not exist";
      case AccessDeniedException e -> "permission denied for \"" + e.getFile() + "\"";
      case FileAlreadyExistsException e -> "\"" + e.getFile() + "\" already exists";
      default -> String.valueOf(failure.getMessage());
    };
  }

  private static String reason(EndpointException failure) {
    StringBuilder text = new StringBuilder(String.valueOf(failure.getMessage()));
    text.append(" (SQLSTATE ").append(failure.sqlstate()).append(')');
    if (!failure.failure().detail().isEmpty()) {
      text.append("\ndetail: ").append(failure.failure().detail());
    }
    if (!failure.failure().hint().isEmpty()) {
      text.append("\nhint: ").append(failure.failure().hint());
    }
    return text.toString();
  }
}
