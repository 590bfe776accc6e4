package dev.kakehashi.server;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

/// The project's classes as the tests of its structure see them, read once.
final class ProjectClasses {
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.kakehashi");

  private ProjectClasses() {}

  /// Main code of all modules.
  static JavaClasses main() {
    return MAIN;
  }
}
