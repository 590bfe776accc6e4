import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.rest.monitor.OpenApiDocument;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/// Writes what documents say of the command line, the engine's tables and the routes, from the classes of the jars:
/// `CommandDocuments DIRECTORY`.
///
/// The command `kakehashi` is two programs, endpoint and tools. Here they are one model of picocli, from which manual pages, the completion
/// of bash and a page of the documentation are made. One thread.
public final class CommandDocuments {
  private static final String NAME = "kakehashi";

  private final Path target;

  private CommandDocuments(Path target) {
    this.target = target;
  }

  public static void main(String[] arguments) throws Exception {
    CommandDocuments documents = new CommandDocuments(Path.of(arguments[0]));
    CommandLine command = command();
    documents.manuals(command);
    Files.writeString(
        documents.target.resolve(NAME + ".bash"),
        AutoComplete.bash(NAME, command).replaceFirst("^#!.*\n", "")); // it is sourced
    Files.writeString(documents.target.resolve("commands.md"), documents.page(command));
    Files.writeString(documents.target.resolve("catalogue.md"), catalogue());
    Files.write(
        documents.target.resolve("openapi.json"), OpenApiDocument.of(List.of()).bytes());
  }

  /// Both programs as one.
  private static CommandLine command() throws ReflectiveOperationException {
    CommandLine endpoint = new CommandLine(Class.forName("dev.kakehashi.server.Main"));
    CommandLine tools = new CommandLine(Class.forName("dev.kakehashi.tools.Tools"));
    tools.getSubcommands().forEach((name, each) -> {
      if (each.getCommandSpec().usageMessage().hidden()) {
        return;
      }
      CommandLine there = endpoint.getSubcommands().get(name);
      if (there == null) {
        endpoint.addSubcommand(name, each);
      } else {
        each.getSubcommands().forEach(there::addSubcommand);
      }
    });
    return endpoint;
  }

  private static List<CommandLine> shown(CommandLine command) {
    return new TreeMap<>(command.getSubcommands())
        .values().stream()
            .distinct()
            .filter(each -> !each.getCommandSpec().usageMessage().hidden())
            .filter(each -> !each.getCommandName().equals("help"))
            .toList();
  }

  private static String fullName(CommandLine command) {
    CommandLine parent = command.getParent();
    return parent == null ? NAME : fullName(parent) + " " + command.getCommandName();
  }

  private static List<String> description(CommandSpec spec) {
    List<String> lines = new ArrayList<>();
    for (String line : spec.usageMessage().description()) {
      lines.add(String.format(line.replaceAll("%(?!n)", "%%")).strip());
    }
    return lines;
  }

  private static String first(CommandSpec spec) {
    List<String> lines = description(spec);
    return lines.isEmpty() ? "" : lines.getFirst();
  }

  private static String synopsis(CommandLine command) {
    Help help = command.getHelp();
    String text = help.synopsis(0).replaceAll("\\s+", " ").strip();
    // The name that it has as a part of one of the two programs.
    String own = command.getCommandSpec().qualifiedName(" ");
    return fullName(command) + (text.startsWith(own) ? text.substring(own.length()) : " " + text);
  }

  private record Argument(String names, String text) {}

  private static List<Argument> arguments(CommandSpec spec) {
    List<Argument> arguments = new ArrayList<>();
    for (PositionalParamSpec each : spec.positionalParameters()) {
      if (!each.hidden()) {
        arguments.add(new Argument(each.paramLabel(), text(each)));
      }
    }
    for (OptionSpec each : spec.options()) {
      if (!each.hidden()) {
        String label = each.arity().max() > 0 ? " " + each.paramLabel() : "";
        arguments.add(new Argument(String.join(", ", each.names()) + label, text(each)));
      }
    }
    return arguments;
  }

  /// With the values of variables; picocli has no other way to them yet.
  @SuppressWarnings("deprecation")
  private static String text(ArgSpec argument) {
    return String.join(" ", argument.renderedDescription()).strip();
  }

  // ---- manual pages -------------------------------------------------------------------------------------------------

  private void manuals(CommandLine command) throws IOException {
    Files.createDirectories(target.resolve("man"));
    manual(command);
  }

  private void manual(CommandLine command) throws IOException {
    String page = fullName(command).replace(' ', '-');
    CommandSpec spec = command.getCommandSpec();
    StringBuilder roff = new StringBuilder();
    roff.append(".TH \"").append(page.toUpperCase(Locale.ROOT)).append("\" 1 \"\" \"Kakehashi\" \"User Commands\"\n");
    roff.append(".SH NAME\n").append(page.replace("-", "\\-")).append(" \\- ");
    roff.append(roff(first(spec).replaceFirst("\\.\\s.*|\\.$", ""))).append('\n');
    roff.append(".SH SYNOPSIS\n").append(roff(synopsis(command))).append('\n');
    roff.append(".SH DESCRIPTION\n");
    for (String line : description(spec)) {
      roff.append(".PP\n").append(roff(line)).append('\n');
    }
    List<Argument> arguments = arguments(spec);
    if (!arguments.isEmpty()) {
      roff.append(".SH OPTIONS\n");
      for (Argument each : arguments) {
        roff.append(".TP\n\\fB").append(roff(each.names())).append("\\fR\n");
        roff.append(each.text().isEmpty() ? "\\&" : roff(each.text())).append('\n');
      }
    }
    List<CommandLine> parts = shown(command);
    if (!parts.isEmpty()) {
      roff.append(".SH COMMANDS\n");
      for (CommandLine each : parts) {
        roff.append(".TP\n\\fB").append(roff(fullName(each).replace(' ', '-'))).append("\\fR(1)\n");
        roff.append(roff(first(each.getCommandSpec()))).append('\n');
      }
    }
    roff.append(".SH EXIT STATUS\n0: it is done. 1: it failed, and one line says why. 2: wrong usage. Some commands have others, which their description names.\n");
    if (command.getParent() == null) {
      roff.append(".SH FILES\n.TP\n/etc/kakehashi/kakehashi.conf\nsettings of the service, see the comments in it\n");
      roff.append(".TP\n/var/lib/kakehashi\ndata of the service\n.TP\n/dev/shm/kakehashi\nshared memory\n");
      roff.append(".SH ENVIRONMENT\n.TP\nKAKEHASHI_RUNTIME_DIR\nruntime directory of the endpoint that clients attach to\n");
      roff.append(".TP\nKAKEHASHI_PASSWORD\npassword of clients\n.TP\nKAKEHASHI_JAVA_OPTIONS\noptions of the JVM, which come last\n.TP\nKAKEHASHI_TMPDIR\ndirectory for the library that is extracted, where /tmp is mounted with noexec\n");
    } else {
      roff.append(".SH SEE ALSO\n").append(roff(fullName(command.getParent()).replace(' ', '-'))).append("(1)\n");
    }
    Files.writeString(target.resolve("man").resolve(page + ".1"), roff);
    for (CommandLine each : parts) {
      manual(each);
    }
  }

  private static String roff(String text) {
    String escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("\n", "\n.br\n");
    return escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" + escaped : escaped;
  }

  // ---- page of the documentation -------------------------------------------------------------------------------------

  private String page(CommandLine command) {
    StringBuilder page = new StringBuilder("# Commands\n\nMade from the model of the command line. `COMMAND --help` says the same.\n");
    for (CommandLine each : shown(command)) {
      section(each, page);
    }
    return page.toString();
  }

  private void section(CommandLine command, StringBuilder page) {
    int depth = fullName(command).split(" ").length;
    page.append('\n').append("#".repeat(depth)).append(' ').append(fullName(command)).append("\n\n");
    description(command.getCommandSpec()).forEach(line -> page.append(escaped(line)).append("\n\n"));
    page.append("```text\n").append(synopsis(command)).append("\n```\n");
    List<Argument> arguments = arguments(command.getCommandSpec());
    if (!arguments.isEmpty()) {
      page.append("\n| argument | meaning |\n|---|---|\n");
      for (Argument each : arguments) {
        page.append("| `").append(each.names().replace("|", "\\|")).append("` | ");
        page.append(escaped(each.text()).replace("|", "\\|").replace("\n", " ")).append(" |\n");
      }
    }
    shown(command).forEach(each -> section(each, page));
  }

  private static String escaped(String text) {
    return text.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_");
  }

  // ---- tables of the engine --------------------------------------------------------------------------------------------

  private static String catalogue() throws ReflectiveOperationException {
    Object tables = read(null, Class.forName("dev.kakehashi.engine.catalog.SystemTables"), "TABLES");
    Map<String, String> sections = new TreeMap<>();
    for (Object table : (List<?>) tables) {
      StringBuilder section = new StringBuilder();
      String name = call(table, "schema") + "." + call(table, "name");
      section.append("\n## ").append(name).append("\n\n| column | type |\n|---|---|\n");
      for (Object column : (List<?>) call(table, "columns")) {
        section.append("| `").append(call(column, "name")).append("` | ").append(Types.format((SqlType) call(column, "type"))).append(" |\n");
      }
      sections.put(name, section.toString());
    }
    return "# Catalogue tables\n\nTables of the engine that describe it. Their rows are made when they are read.\n"
        + String.join("", sections.values());
  }

  private static Object read(Object from, Class<?> type, String name) throws ReflectiveOperationException {
    var field = type.getDeclaredField(name);
    opened(field);
    return field.get(from);
  }

  private static Object call(Object target, String name) throws ReflectiveOperationException {
    Method method = target.getClass().getDeclaredMethod(name);
    opened(method);
    return method.invoke(target);
  }

  private static void opened(AccessibleObject member) {
    if (!member.trySetAccessible()) {
      throw new UncheckedIOException(new IOException("cannot read " + member));
    }
  }
}
