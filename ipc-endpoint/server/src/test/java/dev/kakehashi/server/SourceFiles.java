package dev.kakehashi.server;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The Java sources of the checkout, of all modules: what javac has put in place of a constant cannot be seen in a class.
final class SourceFiles {
  static final String ROOT = "dev.kakehashi.";

  private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");

  /// Names with their packages, imported or in place.
  private static final Pattern NAME =
      Pattern.compile("\\bdev\\.kakehashi\\.((?:[a-z]\\w*\\.)*[a-z]\\w*)\\.([A-Z]\\w*)");

  private static final Pattern COMMENT_LINE = Pattern.compile("(?m)^\\s*(///|//|/\\*|\\*).*$");

  /// A source.
  ///
  /// @param packageName without [#ROOT]
  /// @param name of the file, without its ending
  /// @param uses classes that it names with their packages, without [#ROOT]; comments do not count
  record SourceFile(Path path, String packageName, String name, List<Use> uses) {}

  /// A class that is named.
  record Use(String packageName, String className) {}

  private SourceFiles() {}

  /// Files of main code.
  static List<SourceFile> main() throws IOException {
    return read("src/main/java");
  }

  static List<SourceFile> test() throws IOException {
    return read("src/test/java");
  }

  private static List<SourceFile> read(String kind) throws IOException {
    List<SourceFile> found = new ArrayList<>();
    Path checkout = checkout();
    Files.walkFileTree(
        checkout,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            String name = directory.getFileName().toString();
            boolean hidden = name.startsWith(".") && !directory.equals(checkout);
            return hidden || name.equals("target")
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            String name = file.getFileName().toString();
            if (name.endsWith(".java")
                && !name.equals("package-info.java")
                && checkout.relativize(file).toString().contains(kind)) {
              add(found, file, name.substring(0, name.length() - ".java".length()));
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return found;
  }

  private static void add(List<SourceFile> found, Path file, String name) throws IOException {
    String text = Files.readString(file);
    Matcher matcher = PACKAGE.matcher(text);
    if (!matcher.find() || !matcher.group(1).startsWith(ROOT)) {
      return;
    }
    TreeSet<String> seen = new TreeSet<>();
    List<Use> uses = new ArrayList<>();
    Matcher names = NAME.matcher(COMMENT_LINE.matcher(text).replaceAll(""));
    while (names.find()) {
      if (seen.add(names.group())) {
        uses.add(new Use(names.group(1), names.group(2)));
      }
    }
    found.add(new SourceFile(file, matcher.group(1).substring(ROOT.length()), name, uses));
  }

  private static Path checkout() {
    Path directory = Path.of("").toAbsolutePath();
    while (directory != null && Files.notExists(directory.resolve("fdw-extension"))) {
      directory = directory.getParent();
    }
    return Objects.requireNonNull(directory, "the tests run outside of the checkout");
  }
}
