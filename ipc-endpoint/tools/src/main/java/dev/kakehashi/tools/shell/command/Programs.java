package dev.kakehashi.tools.shell.command;

import dev.kakehashi.tools.shell.ShellException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Other programs, and files, that commands use.
final class Programs {
  private Programs() {}

  static void write(OutputStream out, String text) {
    try {
      out.write(text.getBytes(StandardCharsets.UTF_8));
      out.flush();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /// Runs a command of the system's shell with the terminal, or an interactive shell.
  static void run(String command) {
    String program = System.getenv().getOrDefault("SHELL", "/bin/sh");
    ProcessBuilder process =
        command.isEmpty()
            ? new ProcessBuilder(program)
            : new ProcessBuilder("/bin/sh", "-c", command);
    wait(process.inheritIO(), command);
  }

  static int wait(ProcessBuilder process, String name) {
    try {
      return process.start().waitFor();
    } catch (IOException failed) {
      throw new ShellException(name + ": " + failed.getMessage());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new ShellException(name + ": interrupted");
    }
  }

  /// Where results go: a file, or a program after `|`.
  static OutputStream open(String target) {
    try {
      if (!target.startsWith("|")) {
        return Files.newOutputStream(
            Path.of(target),
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE);
      }
      Process process =
          new ProcessBuilder("/bin/sh", "-c", target.substring(1))
              .redirectOutput(ProcessBuilder.Redirect.INHERIT)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      return new PipeOutput(process);
    } catch (IOException failed) {
      throw new ShellException(target + ": " + failed.getMessage());
    }
  }

  /// The input of a program, whose end is waited for.
  private static final class PipeOutput extends OutputStream {
    private final Process process;
    private final OutputStream out;

    PipeOutput(Process process) {
      this.process = process;
      this.out = process.getOutputStream();
    }

    @Override
    public void write(int value) throws IOException {
      out.write(value);
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
      out.write(bytes, from, count);
    }

    @Override
    public void flush() throws IOException {
      out.flush();
    }

    @Override
    public void close() throws IOException {
      try {
        out.close();
      } finally {
        try {
          process.waitFor();
        } catch (InterruptedException interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }
}
