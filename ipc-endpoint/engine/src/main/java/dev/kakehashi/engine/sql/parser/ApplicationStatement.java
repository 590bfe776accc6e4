package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.sql.lexer.QualifiedName;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A parsed statement about native applications.
public sealed interface ApplicationStatement {
  /// Name of the statement in errors.
  String command();

  /// Where a jar comes from.
  sealed interface JarSource {
    /// A file in a location, as COPY names it.
    record Location(String location) implements JarSource {}

    /// Bytes of the statement: `bytea '\x…' [AS 'name']`.
    ///
    /// @param hexadecimal digits after `\x`
    record Literal(String hexadecimal, @Nullable String name) implements JarSource {}

    /// A parameter of type bytea: `$1 [AS 'name']`.
    ///
    /// @param number from 1
    record Parameter(int number, @Nullable String name) implements JarSource {}
  }

  /// Number of parameters of a statement; all are of type bytea.
  static int parameters(ApplicationStatement statement) {
    int most = 0;
    if (statement instanceof Deploying deploying) {
      for (JarSource jar : deploying.jars()) {
        if (jar instanceof JarSource.Parameter parameter) {
          most = Math.max(most, parameter.number());
        }
      }
    }
    return most;
  }

  /// A statement that brings code.
  sealed interface Deploying extends ApplicationStatement {
    QualifiedName name();

    List<JarSource> jars();

    List<QueueStatement.Option> options();
  }

  record CreateApplication(
      QualifiedName name,
      boolean ifNotExists,
      List<JarSource> jars,
      List<QueueStatement.Option> options)
      implements Deploying {
    @Override
    public String command() {
      return "CREATE APPLICATION";
    }
  }

  /// ALTER APPLICATION ... FROM: a new version.
  record ReplaceApplication(
      QualifiedName name, List<JarSource> jars, List<QueueStatement.Option> options)
      implements Deploying {
    @Override
    public String command() {
      return "ALTER APPLICATION";
    }
  }

  record AlterApplication(QualifiedName name, boolean ifExists, Change change)
      implements ApplicationStatement {
    @Override
    public String command() {
      return "ALTER APPLICATION";
    }
  }

  /// Change by ALTER APPLICATION.
  sealed interface Change {
    record SetLimits(List<QueueStatement.Option> options) implements Change {}

    /// RESET: the options get their defaults.
    record ResetLimits(List<String> names) implements Change {}

    record RenameApplication(String to) implements Change {}

    record ToSchema(String schema) implements Change {}

    /// VERSION: the name means a version that is kept.
    record ToVersion(int number) implements Change {}
  }

  record DropApplication(List<QualifiedName> names, boolean ifExists, boolean cascade)
      implements ApplicationStatement {
    @Override
    public String command() {
      return "DROP APPLICATION";
    }
  }
}
