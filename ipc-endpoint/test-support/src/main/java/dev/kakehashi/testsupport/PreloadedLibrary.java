package dev.kakehashi.testsupport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/// A library for LD_PRELOAD or for a process that loads it by name, compiled from the source of a test. Thread-safe for different
/// directories.
public final class PreloadedLibrary {
  private PreloadedLibrary() {}

  /// Compiles a C file, or all of a directory. Without a C compiler the test is skipped.
  ///
  /// @param source file or directory, below the directory that the tests run in
  /// @param directory of the library, which is named as the source
  /// @param options of the compiler besides
  /// @throws AssertionError the compiler refuses it, or does not end
  public static Path compile(Path source, Path directory, String... options) throws IOException {
    String name = String.valueOf(source.getFileName()).replaceFirst("\\.c$", "") + ".so";
    Path library = directory.resolve(name);
    List<String> command = new ArrayList<>(List.of("cc", "-shared", "-fPIC", "-O1"));
    command.addAll(List.of(options));
    command.addAll(List.of("-o", library.toString()));
    files(source).forEach(file -> command.add(file.toString()));
    command.add("-ldl");
    Process compiler;
    try {
      compiler = new ProcessBuilder(command).inheritIO().start();
    } catch (IOException e) {
      Assumptions.assumeTrue(false, "there is no C compiler: " + e.getMessage());
      throw e;
    }
    int status = ServerProcess.awaitExit("the C compiler", compiler, Await.LIMIT);
    if (status != 0) {
      throw new AssertionError("the C compiler refuses " + source + ": status " + status);
    }
    return library;
  }

  private static List<Path> files(Path source) throws IOException {
    if (!Files.isDirectory(source)) {
      return List.of(source);
    }
    try (Stream<Path> all = Files.list(source)) {
      return all.filter(file -> file.toString().endsWith(".c")).sorted().toList();
    }
  }
}
