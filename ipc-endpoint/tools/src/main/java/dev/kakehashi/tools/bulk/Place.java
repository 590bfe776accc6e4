package dev.kakehashi.tools.bulk;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/// Where a file is: with the endpoint, here, or standard input or output.
///
/// @param text as the command line has it
record Place(String text) {
  private static final Pattern LOCATION = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*:.*");

  /// `-`.
  boolean isStandard() {
    return text.equals("-");
  }

  /// `name:path`. A file here of that name is meant by `./name:path`.
  boolean isLocation() {
    return LOCATION.matcher(text).matches();
  }

  /// A directory, in which files get names of their own.
  boolean isDirectory() {
    return text.endsWith("/") || (!isStandard() && !isLocation() && Files.isDirectory(path()));
  }

  Path path() {
    return Path.of(text);
  }

  Place resolve(String name) {
    return new Place(text.endsWith("/") ? text + name : text + "/" + name);
  }
}
