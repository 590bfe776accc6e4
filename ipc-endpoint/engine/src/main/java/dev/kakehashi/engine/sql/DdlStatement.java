package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.type.SqlType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A parsed DDL statement. Every one commits on its own, whatever transaction it is executed in.
public sealed interface DdlStatement {
  /// A name with an optional schema; `position` is its first character in the statement, from 1.
  record Name(@Nullable String schema, String name, int position) {}

  record ColumnDefinition(
      String name, SqlType type, boolean notNull, @Nullable String defaultText) {}

  /// PRIMARY KEY or UNIQUE.
  record KeyDefinition(@Nullable String name, List<String> columns, boolean primary) {}

  record CreateTable(
      Name name, boolean ifNotExists, List<ColumnDefinition> columns, List<KeyDefinition> keys)
      implements DdlStatement {}

  record CreateIndex(
      @Nullable String name,
      Name table,
      boolean unique,
      boolean ifNotExists,
      List<String> columns,
      List<Boolean> descending)
      implements DdlStatement {}

  record CreateSchema(String name, boolean ifNotExists) implements DdlStatement {}

  record DropTable(List<Name> names, boolean ifExists) implements DdlStatement {}

  record DropIndex(List<Name> names, boolean ifExists) implements DdlStatement {}

  record DropSchema(List<String> names, boolean ifExists, boolean cascade)
      implements DdlStatement {}

  record Truncate(List<Name> names) implements DdlStatement {}
}
