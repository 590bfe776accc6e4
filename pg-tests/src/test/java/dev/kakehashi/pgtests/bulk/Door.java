package dev.kakehashi.pgtests.bulk;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.HttpClientCommand;
import dev.kakehashi.pgtests.harness.JavaSession;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.Tools;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
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
  },

  /// Jobs over HTTP, with files of the endpoint.
  HTTP {
    @Override
    String load(Doors at, String table, String file, Map<String, String> options) {
      return at.job("load", table, "from", file, options);
    }

    @Override
    String dump(Doors at, String table, String file, Map<String, String> options) {
      return at.job("dump", table, "to", file, options);
    }
  },

  /// Bodies of HTTP.
  HTTP_BODY {
    @Override
    String load(Doors at, String table, String file, Map<String, String> options) {
      return at.ofAnswer(
          "\"loaded\":(\\d+)",
          at.http()
              .send(
                  "POST",
                  rows(table, options),
                  "@" + at.path(file),
                  "",
                  "Content-Type: " + mediaType(options)));
    }

    @Override
    String dump(Doors at, String table, String file, Map<String, String> options) {
      HttpClientCommand.Answer answer =
          at.http()
              .send(
                  "GET", rows(table, options), "", at.path(file), "Accept: " + mediaType(options));
      return answer.status() == 200 ? at.rows(table) : "status " + answer.status();
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

  /// Rows of a table, with all options but the format.
  private static String rows(String table, Map<String, String> options) {
    return options.entrySet().stream()
        .filter(option -> !option.getKey().equals("format"))
        .map(option ->
            option.getKey() + "=" + URLEncoder.encode(option.getValue(), StandardCharsets.UTF_8))
        .collect(Collectors.joining("&", "/v1/tables/" + table + "/rows?", ""));
  }

  private static String mediaType(Map<String, String> options) {
    return switch (options.getOrDefault("format", "")) {
      case "parquet" -> "application/vnd.apache.parquet";
      case "arrow" -> "application/vnd.apache.arrow.file";
      default -> "text/csv";
    };
  }

  private static String text(Map<String, String> options) {
    return options.entrySet().stream()
        .map(option -> option.getKey() + " '" + option.getValue().replace("'", "''") + "'")
        .collect(Collectors.joining(", "));
  }

  /// Targets of doors. Used by one thread.
  record Doors(
      Cluster cluster,
      Connection connection,
      JavaSession java,
      HttpClientCommand http,
      Path files) {
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

    private String job(
        String verb, String table, String way, String file, Map<String, String> options) {
      String body =
          "{\"table\": \"%s\", \"%s\": \"%s\", \"options\": %s}"
              .formatted(table, way, location(file), json(options));
      return ofAnswer(
          "^[^,]*,(\\d+),",
          http.send(
              "POST",
              "/v1/" + verb,
              body,
              "",
              "Content-Type: application/json",
              "Accept: text/csv;header=absent",
              "Prefer: wait=60"));
    }

    private String ofAnswer(String good, HttpClientCommand.Answer answer) {
      boolean isGood = answer.status() == 200;
      Matcher found =
          Pattern.compile(isGood ? good : "\"sqlstate\":\"(.....)\"").matcher(answer.body());
      if (isGood) {
        return found.find() ? found.group(1) : answer.toString();
      }
      return "error " + (found.find() ? found.group(1) : answer.status());
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
