package dev.kakehashi.tools;

import dev.kakehashi.tools.application.AppCommand;
import dev.kakehashi.tools.bulk.DumpCommand;
import dev.kakehashi.tools.bulk.InspectCommand;
import dev.kakehashi.tools.bulk.LoadCommand;
import dev.kakehashi.tools.queue.QueueCommand;
import dev.kakehashi.tools.replay.ReplayCommand;
import dev.kakehashi.tools.tpch.TpchCommand;
import dev.kakehashi.tools.training.TrainingCommand;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.UnmatchedArgumentException;

/// All commands: `java -jar kakehashi-tools.jar COMMAND`, which begins in [Launch]. Exits with 0, 1 (it failed; one line says why) or 2
/// (usage).
@Command(
    name = "kakehashi",
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
              commandLine.getErr().println("error: " + Reason.of(failure));
              return 1;
            })
            .setParameterExceptionHandler((refused, words) -> {
              PrintWriter err = refused.getCommandLine().getErr();
              err.println("error: " + refused.getMessage());
              UnmatchedArgumentException.printSuggestions(refused, err);
              err.printf(
                  "hint: \"%s --help\" lists what there is%n",
                  refused.getCommandLine().getCommandSpec().qualifiedName());
              return refused.getCommandLine().getCommandSpec().exitCodeOnInvalidInput();
            })
            .execute(arguments);
    System.exit(exit);
  }
}
