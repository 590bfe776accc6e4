package dev.kakehashi.bulk.load;

import dev.kakehashi.bulk.file.OpenedFile;
import dev.kakehashi.bulk.format.FileFormat;
import dev.kakehashi.bulk.option.CopyOptions;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.api.error.EngineException;
import java.util.ArrayList;
import java.util.List;

/// Says what is in files, and which statements load them. Stateless.
public final class FilesInspection {
  private static final String COLUMN = "column";
  private static final String TABLE = "loaded";

  private FilesInspection() {}

  /// Lines of all files; the statements are those of the first one.
  public static List<InspectedItem> of(
      List<SourceFile> files,
      FileFormat format,
      CopyRequest request,
      CopyOptions options,
      BulkContext context) {
    List<InspectedItem> items = new ArrayList<>();
    List<InspectedItem> statements = new ArrayList<>();
    for (SourceFile each : files) {
      context.checkCanceled();
      try (OpenedFile file = each.open()) {
        List<InspectedItem> found = format.inspect(file, context);
        if (found.stream().noneMatch(item -> item.kind().equals("file"))) {
          items.add(new InspectedItem(file.name(), "file", "", file.sizeBytes() + " bytes"));
        }
        items.addAll(found);
        if (statements.isEmpty()) {
          statements.addAll(statements(file.name(), found, request, options));
        }
      } catch (EngineException e) {
        throw FileErrors.named(e, each.name());
      }
    }
    items.addAll(statements);
    return items;
  }

  private static List<InspectedItem> statements(
      String file, List<InspectedItem> items, CopyRequest request, CopyOptions options) {
    List<String> definitions = new ArrayList<>();
    for (InspectedItem item : items) {
      if (item.kind().equals(COLUMN)) {
        definitions.add(quoted(item.name()) + " " + item.value());
      }
    }
    List<InspectedItem> statements = new ArrayList<>();
    if (!definitions.isEmpty()) {
      statements.add(
          new InspectedItem(
              file,
              "create table",
              "",
              "CREATE TABLE " + TABLE + " (" + String.join(", ", definitions) + ")"));
    }
    statements.add(new InspectedItem(file, "copy", "", copy(items, request, options)));
    return statements;
  }

  /// A statement with the options that were used, and those that the format has found out.
  private static String copy(List<InspectedItem> items, CopyRequest request, CopyOptions options) {
    List<String> said = new ArrayList<>();
    said.add("FORMAT " + options.format().key());
    for (CopyRequest.Option option : request.options()) {
      if (!option.name().equals("format")) {
        said.add(option.name() + value(option.values()));
      }
    }
    for (InspectedItem item : items) {
      boolean isSaid =
          request.options().stream().anyMatch(option -> option.name().equals(item.name()));
      if (item.kind().equals("option") && !isSaid) {
        said.add(item.name() + " " + literal(item.value()));
      }
    }
    return "COPY %s FROM %s WITH (%s)"
        .formatted(TABLE, literal(request.location()), String.join(", ", said));
  }

  private static String value(List<String> values) {
    List<String> literals = new ArrayList<>();
    values.forEach(each -> literals.add(literal(each)));
    return switch (literals.size()) {
      case 0 -> "";
      case 1 -> " " + literals.getFirst();
      default -> " (" + String.join(", ", literals) + ")";
    };
  }

  private static String literal(String text) {
    return "'" + text.replace("'", "''") + "'";
  }

  private static String quoted(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }
}
