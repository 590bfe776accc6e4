package dev.kakehashi.rest.route;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A path whose segments are texts or variables. Immutable.
///
/// | variable | takes |
/// |---|---|
/// | `{name}` | 1 to 256 characters, none of them a control character |
/// | `{name:token}` | 1 to 64 of letters, digits, `-` and `_` |
/// | `{name:int}` | 1 to 9 digits |
///
/// A text may follow a variable, as in `{token:token}:complete`.
///
/// A segment that the variable does not take is not found: it names nothing.
public final class PathTemplate {
  private static final int MAX_VARIABLE = 256;
  private static final int MAX_TOKEN = 64;
  private static final int MAX_DIGITS = 9;

  /// Kind of text that a variable takes.
  enum Kind {
    TEXT,
    TOKEN,
    INT
  }

  /// @param variable name; empty: the segment is a text
  /// @param text of a segment without a variable; else what follows the variable
  record Segment(String variable, Kind kind, String text) {
    boolean isVariable() {
      return !variable.isEmpty();
    }

    /// The variable's value in a segment of a path; null: the segment is another one.
    @Nullable String take(String segment) {
      if (!segment.endsWith(text)) {
        return null;
      }
      String value = segment.substring(0, segment.length() - text.length());
      return takes(value) ? value : null;
    }

    private boolean takes(String value) {
      if (value.isEmpty() || value.length() > MAX_VARIABLE) {
        return false;
      }
      return switch (kind) {
        case TEXT -> value.chars().noneMatch(Character::isISOControl);
        case TOKEN -> value.length() <= MAX_TOKEN && value.chars().allMatch(Segment::isOfToken);
        case INT ->
            value.length() <= MAX_DIGITS && value.chars().allMatch(c -> c >= '0' && c <= '9');
      };
    }

    private static boolean isOfToken(int c) {
      return (c >= '0' && c <= '9')
          || (c >= 'a' && c <= 'z')
          || (c >= 'A' && c <= 'Z')
          || c == '-'
          || c == '_';
    }
  }

  private final String template;
  private final List<Segment> segments;

  private PathTemplate(String template, List<Segment> segments) {
    this.template = template;
    this.segments = segments;
  }

  /// @throws IllegalArgumentException it is none
  static PathTemplate parse(String template) {
    if (!template.startsWith("/") || template.endsWith("/")) {
      throw new IllegalArgumentException("no path template: " + template);
    }
    List<Segment> segments = new ArrayList<>();
    for (String part : template.substring(1).split("/", -1)) {
      segments.add(segment(part, template));
    }
    long names =
        segments.stream().filter(Segment::isVariable).map(Segment::variable).distinct().count();
    if (names != segments.stream().filter(Segment::isVariable).count()) {
      throw new IllegalArgumentException("a variable comes twice: " + template);
    }
    return new PathTemplate(template, List.copyOf(segments));
  }

  private static Segment segment(String part, String template) {
    int end = part.indexOf('}');
    if (part.startsWith("{") && end > 0) {
      String inner = part.substring(1, end);
      String suffix = part.substring(end + 1);
      int colon = inner.indexOf(':');
      String name = colon < 0 ? inner : inner.substring(0, colon);
      Kind kind =
          switch (colon < 0 ? "text" : inner.substring(colon + 1)) {
            case "text" -> Kind.TEXT;
            case "token" -> Kind.TOKEN;
            case "int" -> Kind.INT;
            default -> throw new IllegalArgumentException("unknown kind of variable: " + template);
          };
      if (name.isEmpty()) {
        throw new IllegalArgumentException("variable without a name: " + template);
      }
      return new Segment(name, kind, text(suffix, template));
    }
    if (part.isEmpty()) {
      throw new IllegalArgumentException("no path template: " + template);
    }
    return new Segment("", Kind.TEXT, text(part, template));
  }

  private static String text(String text, String template) {
    if (text.contains("{") || text.contains("}") || text.contains("%")) {
      throw new IllegalArgumentException("no path template: " + template);
    }
    return text;
  }

  List<Segment> segments() {
    return segments;
  }

  /// Names of the variables, in the order of the path.
  public List<String> variables() {
    return segments.stream().filter(Segment::isVariable).map(Segment::variable).toList();
  }

  /// Without the kinds of the variables, as OpenAPI has it: `/v1/jobs/{token}`.
  public String plain() {
    StringBuilder plain = new StringBuilder();
    for (Segment segment : segments) {
      plain
          .append('/')
          .append(segment.isVariable() ? "{" + segment.variable() + "}" : "")
          .append(segment.text());
    }
    return plain.toString();
  }

  @Override
  public String toString() {
    return template;
  }
}
