package dev.kakehashi.tools;

import dev.kakehashi.client.EndpointException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;

/// Why a command has failed, for people.
final class Reason {
  private Reason() {}

  /// Messages of file systems are often no more than the name of a file.
  static String of(Exception failure) {
    return switch (failure) {
      case EndpointException e -> ofEndpoint(e);
      case NoSuchFileException e -> "\"" + e.getFile() + "\" does not exist";
      case AccessDeniedException e -> "permission denied for \"" + e.getFile() + "\"";
      case FileAlreadyExistsException e -> "\"" + e.getFile() + "\" already exists";
      default -> String.valueOf(failure.getMessage());
    };
  }

  private static String ofEndpoint(EndpointException failure) {
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
