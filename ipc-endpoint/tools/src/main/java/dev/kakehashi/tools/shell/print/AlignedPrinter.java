package dev.kakehashi.tools.shell.print;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rows as a table, or one value below the other: forms `aligned` of psql with borders of 0, 1 and 2.
public final class AlignedPrinter {
  private final PrintOptions options;
  private final StringBuilder out = new StringBuilder();

  private AlignedPrinter(PrintOptions options) {
    this.options = options;
  }

  /// The whole text, with the empty line at its end.
  ///
  /// @param footer below the rows, such as `(3 rows)`; null: none
  public static String print(Cells cells, PrintOptions options, @Nullable String footer) {
    AlignedPrinter printer = new AlignedPrinter(options);
    boolean down =
        switch (options.expanded) {
          case OFF -> false;
          case ON -> true;
          case AUTO ->
              options.terminalColumns > 0 && printer.width(cells) > options.terminalColumns;
        };
    if (down && !cells.names().isEmpty()) {
      printer.down(cells, footer);
    } else {
      printer.across(cells, footer);
    }
    return printer.out.toString();
  }

  // ---- shapes ----

  private String[] lines(@Nullable String cell) {
    return Widths.lines(cell == null ? options.nullText : cell);
  }

  private static int widest(String[] lines) {
    int width = 0;
    for (String line : lines) {
      width = Math.max(width, Widths.of(line));
    }
    return width;
  }

  private int[] widths(Cells cells) {
    int[] widths = new int[cells.names().size()];
    for (int i = 0; i < widths.length; i++) {
      widths[i] = widest(Widths.lines(cells.names().get(i)));
    }
    for (@Nullable String[] row : cells.rows()) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], widest(lines(row[i])));
      }
    }
    return widths;
  }

  private int width(Cells cells) {
    int sum = 0;
    for (int width : widths(cells)) {
      sum += width + 3;
    }
    return Math.max(0, sum - 1);
  }

  private void spaces(int count) {
    out.repeat(' ', Math.max(0, count));
  }

  // ---- across ----

  private void across(Cells cells, @Nullable String footer) {
    int[] widths = widths(cells);
    int count = widths.length;
    if (!options.tuplesOnly) {
      if (!options.title.isEmpty()) {
        title(widths);
      }
      if (options.border == 2) {
        rule(widths);
      }
      if (count > 0) {
        header(cells, widths);
      }
      rule(widths);
    } else if (options.border == 2) {
      rule(widths);
    }
    for (@Nullable String[] row : count == 0 ? List.<@Nullable String[]>of() : cells.rows()) {
      row(cells.right(), row, widths, count);
    }
    if (options.border == 2) {
      rule(widths);
    }
    if (footer != null && !options.tuplesOnly && options.footer) {
      out.append(footer).append('\n');
    }
    out.append('\n');
  }

  private void title(int[] widths) {
    int total =
        switch (options.border) {
          case 0 -> widths.length;
          case 1 -> widths.length == 0 ? 0 : widths.length * 3 - 1;
          default -> widths.length * 3 + 1;
        };
    for (int width : widths) {
      total += width;
    }
    int width = Widths.of(options.title);
    if (width < total) {
      spaces((total - width) / 2);
    }
    out.append(options.title).append('\n');
  }

  private void rule(int[] widths) {
    if (options.border == 1) {
      out.append('-');
    } else if (options.border == 2) {
      out.append("+-");
    }
    for (int i = 0; i < widths.length; i++) {
      out.repeat('-', widths[i]);
      if (i < widths.length - 1) {
        out.append(options.border == 0 ? " " : "-+-");
      }
    }
    if (options.border == 2) {
      out.append("-+");
    } else if (options.border == 1) {
      out.append('-');
    }
    out.append('\n');
  }

  private void header(Cells cells, int[] widths) {
    int count = widths.length;
    String[][] names = new String[count][];
    int height = 1;
    for (int i = 0; i < count; i++) {
      names[i] = Widths.lines(cells.names().get(i));
      height = Math.max(height, names[i].length);
    }
    for (int line = 0; line < height; line++) {
      if (options.border == 2) {
        out.append('|');
      }
      for (int i = 0; i < count; i++) {
        if (options.border != 0) {
          out.append(' ');
        }
        boolean there = line < names[i].length;
        if (there) {
          int space = widths[i] - Widths.of(names[i][line]);
          spaces(space / 2);
          out.append(names[i][line]);
          spaces((space + 1) / 2);
        } else {
          spaces(widths[i]);
        }
        out.append(line + 1 < names[i].length ? '+' : ' ');
        if (options.border != 0 && i < count - 1) {
          out.append('|');
        }
      }
      if (options.border == 2) {
        out.append('|');
      }
      out.append('\n');
    }
  }

  private void row(List<Boolean> right, @Nullable String[] row, int[] widths, int count) {
    String[][] texts = new String[count][];
    int height = 1;
    for (int i = 0; i < count; i++) {
      texts[i] = lines(row[i]);
      height = Math.max(height, texts[i].length);
    }
    for (int line = 0; line < height; line++) {
      if (options.border == 2) {
        out.append('|');
      }
      for (int i = 0; i < count; i++) {
        boolean last = i == count - 1;
        boolean more = line + 1 < texts[i].length;
        boolean padded = options.border == 2 || !last;
        if (options.border != 0) {
          out.append(' ');
        }
        if (line >= texts[i].length) {
          if (padded) {
            spaces(widths[i]);
          }
        } else {
          int space = widths[i] - Widths.of(texts[i][line]);
          if (right.get(i)) {
            spaces(space);
            out.append(texts[i][line]);
          } else {
            out.append(texts[i][line]);
            if (padded || more) {
              spaces(space);
            }
          }
        }
        if (more) {
          out.append('+');
        } else if (padded) {
          out.append(' ');
        }
        if (options.border != 0 && !last) {
          out.append('|');
        }
      }
      if (options.border == 2) {
        out.append('|');
      }
      out.append('\n');
    }
  }

  // ---- down ----

  private void down(Cells cells, @Nullable String footer) {
    int count = cells.names().size();
    int headWidth = 0;
    boolean headMultiline = false;
    for (String name : cells.names()) {
      String[] lines = Widths.lines(name);
      headMultiline |= lines.length > 1;
      headWidth = Math.max(headWidth, widest(lines));
    }
    int dataWidth = 0;
    boolean dataMultiline = false;
    for (@Nullable String[] row : cells.rows()) {
      for (int i = 0; i < count; i++) {
        String[] lines = lines(row[i]);
        dataMultiline |= lines.length > 1;
        dataWidth = Math.max(dataWidth, widest(lines));
      }
    }
    if (cells.rows().isEmpty()) {
      if (!options.tuplesOnly && options.footer) {
        out.append("(0 rows)\n");
      }
      out.append('\n');
      return;
    }
    if (!options.tuplesOnly && !options.title.isEmpty()) {
      out.append(options.title).append('\n');
    }
    dataWidth =
        Math.max(
            dataWidth,
            recordWidth(cells.rows().size()) - headWidth - frame(headMultiline, dataMultiline));
    long record = 0;
    for (@Nullable String[] row : cells.rows()) {
      record++;
      if (!options.tuplesOnly) {
        recordLine(record, headWidth, dataWidth);
      } else if (record > 1 || options.border == 2) {
        recordLine(0, headWidth, dataWidth);
      }
      for (int i = 0; i < count; i++) {
        field(cells.names().get(i), row[i], headWidth, headMultiline, dataWidth, dataMultiline);
      }
    }
    if (options.border == 2) {
      recordLine(0, headWidth, dataWidth);
    }
    if (footer != null && !options.tuplesOnly && options.footer && !footer.startsWith("(")) {
      out.append(footer).append('\n');
    }
    out.append('\n');
  }

  /// Columns of the longest record line without what fills it.
  private int recordWidth(int rows) {
    int digits = Integer.toString(rows).length();
    return digits + 9 + 3 * options.border;
  }

  /// Columns beside names and values.
  private int frame(boolean headMultiline, boolean dataMultiline) {
    return switch (options.border) {
      case 0 -> 1 + (headMultiline ? 1 : 0) + (dataMultiline ? 1 : 0);
      case 1 -> 3 + (dataMultiline ? 1 : 0);
      default -> 7;
    };
  }

  private void recordLine(long record, int headWidth, int dataWidth) {
    int length = 0;
    if (options.border == 2) {
      out.append("+-");
    } else if (options.border == 1) {
      out.append('-');
    }
    if (record > 0) {
      String label = options.border == 0 ? "* Record " + record : "[ RECORD " + record + " ]";
      out.append(label);
      length = label.length();
    }
    if (options.border != 2) {
      length++;
    }
    char rule = options.border > 0 ? '-' : ' ';
    for (int i = length; i < headWidth; i++) {
      out.append(rule);
    }
    length -= headWidth;
    if (options.border > 0) {
      if (length-- <= 0) {
        out.append('-');
      }
      if (length-- <= 0) {
        out.append('+');
      }
      if (length-- <= 0) {
        out.append('-');
      }
    } else if (length-- <= 0) {
      out.append(' ');
    }
    for (int i = Math.max(0, length); i < dataWidth; i++) {
      out.append(rule);
    }
    if (options.border == 2) {
      out.append("-+");
    }
    out.append('\n');
  }

  private void field(
      String name,
      @Nullable String value,
      int headWidth,
      boolean headMultiline,
      int dataWidth,
      boolean dataMultiline) {
    String[] head = Widths.lines(name);
    String[] data = lines(value);
    int height = Math.max(head.length, data.length);
    for (int line = 0; line < height; line++) {
      if (options.border == 2) {
        out.append("| ");
      }
      if (line < head.length) {
        out.append(head[line]);
        spaces(headWidth - Widths.of(head[line]));
        if (line + 1 < head.length) {
          out.append(options.border > 0 || headMultiline ? "+" : "");
        } else {
          out.append(options.border > 0 || headMultiline ? " " : "");
        }
      } else {
        spaces(headWidth + (options.border > 0 ? 1 : headMultiline ? 1 : 0));
      }
      if (options.border > 0) {
        out.append('|');
      }
      if (line < data.length) {
        out.append(' ').append(data[line]);
        int space = dataWidth - Widths.of(data[line]);
        if (line + 1 < data.length) {
          if (options.border > 1 || dataMultiline) {
            spaces(space);
            out.append('+');
          }
        } else if (options.border > 1) {
          spaces(space);
          out.append(' ');
        }
      } else if (options.border > 1) {
        spaces(dataWidth + 2);
      }
      if (options.border == 2) {
        out.append('|');
      }
      out.append('\n');
    }
  }
}
