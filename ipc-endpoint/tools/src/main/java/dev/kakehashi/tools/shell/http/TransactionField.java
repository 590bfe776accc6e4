package dev.kakehashi.tools.shell.http;

import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.tools.shell.ShellException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The field `Kakehashi-Transaction` of requests and answers.
final class TransactionField {
  static final String NAME = "Kakehashi-Transaction";

  private static final Pattern HANDLE = Pattern.compile(";handle=\"([0-9a-f]{1,64})\"");

  private TransactionField() {}

  /// Field of a statement by itself.
  static String auto(TransactionOptions options, CommitResponse response) {
    return "auto"
        + options(options)
        + (response == CommitResponse.STORED ? "" : ";commit=" + word(response));
  }

  /// Field of a transaction that begins.
  static String begin(TransactionOptions options) {
    StringBuilder field = new StringBuilder("begin").append(options(options));
    if (!options.lease().isZero()) {
      field.append(";lease=").append(options.lease().toSeconds());
    }
    if (options.priority() != 0) {
      field.append(";priority=").append(options.priority());
    }
    names(field, "write", options.writePreserve());
    names(field, "read", options.readInclude());
    names(field, "read-exclude", options.readExclude());
    return field.toString();
  }

  static String resumed(String handle) {
    return "continue;handle=\"" + handle + "\"";
  }

  private static String options(TransactionOptions options) {
    StringBuilder field = new StringBuilder();
    field.append(";kind=").append(word(options.kind()));
    field.append(";isolation=").append(word(options.isolation()));
    if (!options.label().isEmpty()) {
      field.append(";label=").append(text(options.label()));
    }
    if (!options.timeout().isZero()) {
      field.append(";timeout=").append(options.timeout().toSeconds());
    }
    if (options.deferrable()) {
      field.append(";deferrable");
    }
    return field.toString();
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static void names(StringBuilder field, String name, String tables) {
    if (!tables.isBlank()) {
      field
          .append(';')
          .append(name)
          .append("=(")
          .append(
              split(tables).stream().map(TransactionField::text).collect(Collectors.joining(" ")))
          .append(')');
    }
  }

  /// Names between commas outside of quotes.
  static List<String> split(String tables) {
    List<String> names = new ArrayList<>();
    StringBuilder name = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < tables.length(); i++) {
      char c = tables.charAt(i);
      quoted ^= c == '"';
      if (c == ',' && !quoted) {
        names.add(name.toString().strip());
        name.setLength(0);
      } else {
        name.append(c);
      }
    }
    names.add(name.toString().strip());
    return names;
  }

  /// A string of RFC 9651, or a display string if it has more than ASCII.
  static String text(String value) {
    StringBuilder text = new StringBuilder();
    boolean plain = value.chars().allMatch(c -> c >= ' ' && c < 0x7f);
    if (plain) {
      return text.append('"')
          .append(value.replace("\\", "\\\\").replace("\"", "\\\""))
          .append('"')
          .toString();
    }
    text.append("%\"");
    for (byte each : value.getBytes(StandardCharsets.UTF_8)) {
      if (each < ' ' || each == 0x7f || each == '%' || each == '"') {
        text.append("%%%02x".formatted(each & 0xff));
      } else {
        text.append((char) each);
      }
    }
    return text.append('"').toString();
  }

  // ---- of answers ----

  static boolean isActive(String field) {
    return field.equals("active") || field.startsWith("active;");
  }

  /// @throws ShellException it has none
  static String handle(String field) {
    Matcher handle = HANDLE.matcher(field);
    if (!handle.find()) {
      throw new ShellException("the endpoint has begun no transaction: " + field);
    }
    return handle.group(1);
  }
}
