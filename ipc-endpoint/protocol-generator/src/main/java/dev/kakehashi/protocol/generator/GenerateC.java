package dev.kakehashi.protocol.generator;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/// Writes the generated C files of the repository.
///
/// Run by `make generate`. The files are committed, so that the extension builds without Java; a test compares them
/// with what this class would write.
public final class GenerateC {
  private static final String SCHEMA = "ipc-endpoint/protocol/schema/";

  private GenerateC() {}

  /// Writes the files that have changed and prints their names.
  ///
  /// @param arguments the root of the repository
  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 1) {
      throw new IllegalArgumentException("usage: GenerateC <root of the repository>");
    }
    Path root = Path.of(arguments[0]);
    for (Map.Entry<String, String> file : files(root).entrySet()) {
      Path target = root.resolve(file.getKey());
      if (!Files.exists(target) || !Files.readString(target).equals(file.getValue())) {
        Files.createDirectories(target.resolveSibling("."));
        Files.writeString(target, file.getValue());
        System.out.println(file.getKey());
      }
    }
  }

  /// Contents by path relative to the root of the repository.
  static Map<String, String> files(Path root) throws IOException {
    Schema messages = SchemaReader.read(root.resolve(SCHEMA + "messages.xml"));
    Schema layouts = SchemaReader.read(root.resolve(SCHEMA + "layouts.xml"));
    String generated = "fdw-extension/src/ipc/generated/";
    Map<String, String> files = new LinkedHashMap<>();
    files.put(generated + "kh_messages.h", MessagesHeader.emit(messages, SCHEMA + "messages.xml"));
    files.put(generated + "kh_messages.c", MessagesSource.emit(messages, SCHEMA + "messages.xml"));
    files.put(generated + "kh_layouts.h", LayoutsHeader.emit(layouts, SCHEMA + "layouts.xml"));
    files.put(
        "fdw-extension/include/kakehashi/error_codes.h",
        ErrorCodesHeader.emit(root.resolve(SCHEMA + "errors.txt"), SCHEMA + "errors.txt"));
    files.put(
        "fdw-extension/include/kakehashi/capabilities.h",
        CapabilitiesHeader.emit(
            root.resolve(SCHEMA + "capabilities.txt"), SCHEMA + "capabilities.txt"));
    return files;
  }
}
