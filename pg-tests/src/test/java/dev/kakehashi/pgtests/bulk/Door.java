package dev.kakehashi.pgtests.bulk;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.JavaSession;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.Tools;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// A way by which rows come from files and go to them. Each answers the same: the number of rows, or `error` and the SQLSTATE.
enum Door {
  /// `kakehashi_load()` and `kakehashi_dump()`.
  FUNCTIONS {
    @Override
    String load(Doors at, String table, String file, Map<String, String> options) {
      return at.query(
          "SELECT rows_loaded FROM kakehashi_load('kakehashi', ?, ?, ?::jsonb)",
          table,
          at.location(file),
          json(options));
    }

    @Override
    String dump(Doors at, String table, String file, Map<String, String> options) {
      return at.query(
          "SELECT sum(rows) FROM kakehashi_dump('kakehashi', ?, ?, ?::jsonb)",
          table,
          at.location(file),
          json(options));
    }
  },

  /// `COPY foreign_table`, for formats that PostgreSQL does not have.
  COPY {
    @Override
    boolean has(String format) {
      return !format.equals("csv");
    }

    @Override
    String load(Doors at, String table, String file, Map<String, String> options) {
      return at.update(
          "COPY %s FROM '%s' WITH (%s)".formatted(table, at.location(file), text(options)));
    }

    @Override
    String dump(Doors at, String table, String file, Map<String, String> options) {
      return at.update(
          "COPY %s TO '%s' WITH (%s)".formatted(table, at.location(file), text(options)));
    }
  },

  /// The Java client, with files of the endpoint.
  JAVA {
    @Override
    String load(Doors at, String table, String file, Map<String, String> options) {
      return at.java().run("load %s %s %s".formatted(table, at.location(file), text(options)));
    }

    @Override
    String dump(Doors at, String table, String file, Map<String, String> options) {
      return at.java().run("dump %s %s %s".formatted(table, at.location(file), text(options)));
    }
  },

  /// The Java client, with streams.
  STREAM {
    @Override
    String load(Doors at, String table, String file, Map<String, String> options) {
      return at.java().run("send %s %s %s".formatted(table, at.path(file), text(options)));
    }

    @Override
    String dump(Doors at, String table, String file, Map<String, String> options) {
      String answer =
          at.java().run("fetch %s %s %s".formatted(table, at.path(file), text(options)));
      // A stream has bytes, not rows.
      return answer.equals(at.bytes(file)) ? at.rows(table) : answer;
    }
  },

  /// `kakehashi load` and `kakehashi dump`, with files of their own.
  COMMAND_LINE {
    @Override
    String load(Doors at, String table, String file, Map<String, String> options) {
      return at.tool("(\\d+) loaded", "load", "--table", table, options, at.path(file));
    }

    @Override
    String dump(Doors at, String table, String file, Map<String, String> options) {
      String answer =
          at.tool("(\\d+) bytes", "dump", "--table", table, options, "--to", at.path(file));
      return answer.equals(at.bytes(file)) ? at.rows(table) : answer;
    }
  };

  boolean has(String format) {
    return !format.isEmpty();
  }

  abstract String load(Doors at, String table, String file, Map<String, String> options);

  abstract String dump(Doors at, String table, String file, Map<String, String> options);

  private static String json(Map<String, String> options) {
    return options.entrySet().stream()
        .map(option -> "\"%s\": \"%s\"".formatted(option.getKey(), option.getValue()))
        .collect(Collectors.joining(", ", "{", "}"));
  }

  private static String text(Map<String, String> options) {
    return options.entrySet().stream()
        .map(option -> option.getKey() + " '" + option.getValue().replace("'", "''") + "'")
        .collect(Collectors.joining(", "));
  }

  /// What doors lead to. Used by one thread.
  record Doors(Cluster cluster, Connection connection, JavaSession java, Path files) {
    String location(String file) {
      return "files:" + file;
    }

    String path(String file) {
      return files.resolve(file).toString();
    }

    String bytes(String file) {
      try {
        return Long.toString(Files.size(files.resolve(file)));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    String rows(String table) {
      return query("SELECT count(*) FROM " + table);
    }

    String query(String sql, String... parameters) {
      try (var statement = connection.prepareStatement(sql)) {
        for (int i = 0; i < parameters.length; i++) {
          statement.setString(i + 1, parameters[i]);
        }
        try (var result = statement.executeQuery()) {
          result.next();
          return result.getString(1);
        }
      } catch (SQLException e) {
        return "error " + e.getSQLState();
      }
    }

    String update(String sql) {
      try (var statement = connection.createStatement()) {
        return Long.toString(statement.executeLargeUpdate(sql));
      } catch (SQLException e) {
        return "error " + e.getSQLState();
      }
    }

    private String tool(
        String answer,
        String verb,
        String word,
        String table,
        Map<String, String> options,
        String... more) {
      List<String> arguments = new ArrayList<>(List.of(verb, word, table));
      options.forEach((name, value) -> arguments.addAll(List.of("-o", name + "=" + value)));
      arguments.addAll(List.of(more));
      OsProcess.Outcome outcome =
          Tools.outcomeWithErrors(
              "",
              Map.of("KAKEHASHI_RUNTIME_DIR", cluster.endpoint().runtimeDirectory().toString()),
              arguments.toArray(String[]::new));
      Matcher found =
          Pattern.compile(outcome.exitCode() == 0 ? answer : "\\(SQLSTATE (.....)\\)")
              .matcher(outcome.output());
      if (!found.find()) {
        return "%s ended with %d: %s".formatted(arguments, outcome.exitCode(), outcome.output());
      }
      return outcome.exitCode() == 0 ? found.group(1) : "error " + found.group(1);
    }
  }
}
