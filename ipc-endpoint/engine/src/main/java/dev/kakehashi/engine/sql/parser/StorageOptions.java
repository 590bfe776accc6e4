package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Set;

/// Parser of how PostgreSQL is to keep a table or an index: parameters of storage, tablespaces, access methods. They are read, as
/// definitions out of PostgreSQL have them, and mean nothing here.
final class StorageOptions {
  private static final Set<String> OF_INDEXES = Set.of("fillfactor", "deduplicate_items");
  private static final Set<String> OF_TABLES =
      Set.of("fillfactor", "toast_tuple_target", "parallel_workers", "user_catalog_table");
  private static final Set<String> OF_COLUMNS = Set.of("n_distinct", "n_distinct_inherited");

  private StorageOptions() {}

  /// WITH (...) and TABLESPACE of an index, or of the key of a constraint, which has USING INDEX before the latter.
  static void ofIndex(TokenReader in) {
    if (in.acceptWords("with")) {
      parameters(in, OF_INDEXES, true);
    }
    if (in.acceptWords("tablespace") || in.acceptWords("using", "index", "tablespace")) {
      in.expectName();
    }
  }

  /// Clauses that may follow the columns of CREATE TABLE.
  static void ofTable(TokenReader in) {
    if (in.acceptWords("using")) {
      in.expectName();
    }
    if (in.acceptWords("with")) {
      parameters(in, OF_TABLES, true);
    } else {
      in.acceptWords("without", "oids");
    }
    if (in.acceptWords("tablespace")) {
      in.expectName();
    }
  }

  /// An action of ALTER TABLE that is about storage.
  ///
  /// @return whether one was there
  static boolean alterTable(TokenReader in) {
    if (in.peek().isWord("set") && in.peek(1).isOperator("(")) {
      in.at++;
      parameters(in, OF_TABLES, true);
    } else if (in.peek().isWord("reset") && in.peek(1).isOperator("(")) {
      in.at++;
      parameters(in, OF_TABLES, false);
    } else if (in.acceptWords("set", "tablespace") || in.acceptWords("cluster", "on")) {
      in.expectName();
    } else {
      return in.acceptWords("set", "without", "cluster")
          || in.acceptWords("set", "without", "oids");
    }
    return true;
  }

  /// An action of ALTER INDEX that is about storage.
  ///
  /// @return whether one was there
  static boolean alterIndex(TokenReader in) {
    if (in.acceptWords("set", "tablespace")) {
      in.expectName();
      return true;
    }
    boolean sets = in.acceptWords("set");
    if (!sets && !in.acceptWords("reset")) {
      return false;
    }
    parameters(in, OF_INDEXES, sets);
    return true;
  }

  /// Clauses of ALTER COLUMN about storage and statistics.
  ///
  /// @return whether something was there
  static boolean alterColumn(TokenReader in) {
    if (in.acceptWords("set", "statistics")) {
      in.acceptOperator("-");
      if (in.next().kind() != Token.Kind.NUMBER) {
        in.at--;
        throw in.syntaxError();
      }
    } else if (in.acceptWords("set", "storage") || in.acceptWords("set", "compression")) {
      // DEFAULT is one of them.
      in.expectIdentifier();
    } else if (in.peek().isWord("set") && in.peek(1).isOperator("(")) {
      in.at++;
      parameters(in, OF_COLUMNS, true);
    } else if (in.peek().isWord("reset") && in.peek(1).isOperator("(")) {
      in.at++;
      parameters(in, OF_COLUMNS, false);
    } else {
      return false;
    }
    return true;
  }

  private static void parameters(TokenReader in, Set<String> known, boolean values) {
    in.expectOperator("(");
    do {
      Token token = in.peek();
      String name = in.expectIdentifier();
      if (in.acceptOperator(".")) {
        name += "." + in.expectIdentifier();
      }
      boolean ofVacuum =
          known.equals(OF_TABLES)
              && (name.startsWith("autovacuum_")
                  || name.startsWith("toast.")
                  || name.startsWith("vacuum_")
                  || name.startsWith("log_autovacuum_"));
      if (!known.contains(name) && !ofVacuum) {
        throw new EngineException(
                ErrorCode.INVALID_PARAMETER_VALUE, "unrecognized parameter \"" + name + "\"")
            .withPosition(token.start() + 1);
      }
      if (values && in.acceptOperator("=")) {
        in.acceptOperator("-");
        in.next();
      }
    } while (in.acceptOperator(","));
    in.expectOperator(")");
  }
}
