package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.spelling.Source;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A parsed COPY.
public sealed interface CopyStatement {
  CopyRequest request();

  /// COPY ... FROM.
  ///
  /// @param columns empty: there is no list
  /// @param where condition that rows have to fulfil, or null
  record From(
      QualifiedName table, List<QualifiedName> columns, CopyRequest request, @Nullable Source where)
      implements CopyStatement {}

  /// COPY ... TO of a table.
  ///
  /// @param columns empty: there is no list
  record TableTo(QualifiedName table, List<QualifiedName> columns, CopyRequest request)
      implements CopyStatement {}

  /// COPY ... TO of a query, or of what a change returns.
  ///
  /// @param text of the query
  record QueryTo(ParsedStatement query, String text, CopyRequest request)
      implements CopyStatement {}
}
