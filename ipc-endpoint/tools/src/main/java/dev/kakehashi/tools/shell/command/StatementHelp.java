package dev.kakehashi.tools.shell.command;

import java.util.Map;
import java.util.TreeMap;

/// Statements that are not PostgreSQL's, or of which the engine has a part.
final class StatementHelp {
  static final Map<String, String> SYNTAX = new TreeMap<>();

  static {
    SYNTAX.put("SELECT", "SELECT ... as in PostgreSQL; docs/limitations.md says what is missing");
    SYNTAX.put(
        "INSERT",
        "INSERT INTO table [(column, ...)] {VALUES (...), ... | query} [ON CONFLICT ...] [RETURNING ...]");
    SYNTAX.put(
        "UPDATE",
        "UPDATE table SET column = expression, ... [FROM ...] [WHERE ...] [RETURNING ...]");
    SYNTAX.put("DELETE", "DELETE FROM table [USING ...] [WHERE ...] [RETURNING ...]");
    SYNTAX.put(
        "COPY",
        "COPY table FROM 'location' [WITH (option value, ...)] [WHERE ...]\nCOPY {table | (query)} TO 'location' [WITH (option value, ...)]");
    SYNTAX.put("CREATE QUEUE", "CREATE QUEUE [IF NOT EXISTS] name [WITH (option = value, ...)]");
    SYNTAX.put(
        "CREATE SUBSCRIPTION GROUP",
        "CREATE SUBSCRIPTION GROUP name ON QUEUE queue FROM {FIRST | NOW}");
    SYNTAX.put(
        "ALTER QUEUE",
        "ALTER QUEUE name {SET (...) | RESET (...) | RENAME TO name | PAUSE | RESUME | PUSH TO 'url' | SET WEIGHT 'key' TO n | ADD SCHEDULE ... | DROP SCHEDULE name}");
    SYNTAX.put(
        "CREATE APPLICATION",
        "CREATE APPLICATION name FROM 'location' [, ...] [WITH (option = value, ...)]");
    SYNTAX.put("CALL", "CALL procedure(argument, ...)");
    SYNTAX.put(
        "BEGIN",
        "BEGIN [ISOLATION LEVEL {SERIALIZABLE | REPEATABLE READ | READ COMMITTED}] [READ ONLY]");
    SYNTAX.put(
        "CREATE TABLE",
        "CREATE TABLE [IF NOT EXISTS] name (column type [constraint ...], ... [, constraint ...])");
    SYNTAX.put(
        "CREATE INDEX",
        "CREATE [UNIQUE] INDEX [name] ON table (column [DESC], ...) [WHERE condition]");
    SYNTAX.put("CREATE VIEW", "CREATE [OR REPLACE] VIEW name [(column, ...)] AS query");
    SYNTAX.put("GRANT", "GRANT privilege, ... ON object TO role, ... [WITH GRANT OPTION]");
  }

  private StatementHelp() {}
}
