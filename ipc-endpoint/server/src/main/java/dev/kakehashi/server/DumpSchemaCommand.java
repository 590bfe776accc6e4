package dev.kakehashi.server;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/// `kakehashi dump-schema`: the engine's definitions as a script.
@Command(
    name = "dump-schema",
    description =
        "Prints the definitions of a running endpoint's engine as SQL: roles with their verifiers, schemas, sequences, tables, indexes, references, views, comments, rights. Rows do not come.")
final class DumpSchemaCommand implements Callable<Integer> {
  @CommandLine.Mixin private Main.Common common = new Main.Common();

  @Override
  public Integer call() throws IOException {
    Settings settings = common.settingsOfOther();
    DirectoryLock.Owner owner =
        DirectoryLock.owner(settings.dataDirectory())
            .orElseThrow(() ->
                new SettingsException(
                    "no endpoint runs on \"" + settings.dataDirectory() + "\"; start one"));
    String script = SchemaSocket.ask(common.location(owner, settings));
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    out.print(script);
    if (out.checkError()) {
      throw new IOException("could not write the definitions to standard output");
    }
    return 0;
  }
}
