package dev.kakehashi.tools.shell;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/// Lines of a file or a pipe.
public final class FilePrompt implements Prompt {
  private final BufferedReader reader;
  private int number;

  public FilePrompt(BufferedReader reader) {
    this.reader = reader;
  }

  @Override
  public @Nullable String line(String prompt) {
    try {
      String line = reader.readLine();
      if (line != null && number == 0 && line.startsWith("\uFEFF")) {
        line = line.substring(1);
      }
      number++;
      return line;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Override
  public boolean isInteractive() {
    return false;
  }

  @Override
  public int number() {
    return number;
  }
}
