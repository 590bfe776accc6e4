package dev.kakehashi.server;

import dev.kakehashi.protocol.authentication.ScramVerifier;
import java.io.BufferedReader;
import java.io.Console;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.util.Arrays;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `kakehashi user`: who may attach with `authentication = password`. Works on the file, with or without a running endpoint.
@Command(name = "user", description = "Users of the endpoint and their passwords.")
final class UserCommand {
  @Command(
      name = "add",
      description =
          "Adds a user. The password is asked for, or read from the first line of standard input.")
  int add(
      @Mixin Main.Common common,
      @Option(names = "--replace", description = "give a user who is there a new password")
          boolean replace,
      @Parameters(paramLabel = "NAME", description = "name of the user") String name)
      throws IOException {
    char[] password = password(name);
    try {
      if (password.length == 0) {
        throw new SettingsException("a password cannot be empty");
      }
      users(common).add(name, ScramVerifier.of(password), replace);
    } finally {
      Arrays.fill(password, '\0');
    }
    return 0;
  }

  @Command(name = "remove", description = "Removes a user. Sessions that are attached go on.")
  int remove(
      @Mixin Main.Common common,
      @Parameters(paramLabel = "NAME", description = "name of the user") String name)
      throws IOException {
    users(common).remove(name);
    return 0;
  }

  @Command(name = "list", description = "Prints the names of the users.")
  int list(@Mixin Main.Common common) throws IOException {
    users(common).read().keySet().forEach(System.out::println);
    return 0;
  }

  private static UserFile users(Main.Common common) throws IOException {
    return new UserFile(common.settingsOfOther().dataDirectory());
  }

  @SuppressWarnings("SystemConsoleNull") // since 25 it is null again without a terminal
  private static char[] password(String name) throws IOException {
    Console console = System.console();
    if (console != null && console.isTerminal()) {
      char[] first = console.readPassword("Password for user %s: ", name);
      char[] second = console.readPassword("Again: ");
      if (!Arrays.equals(first, second)) {
        throw new SettingsException("the passwords differ");
      }
      return first == null ? new char[0] : first;
    }
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
    String line = input.readLine();
    return line == null ? new char[0] : line.toCharArray();
  }
}
