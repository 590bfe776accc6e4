package dev.kakehashi.tools.shell.print;

/// How results are printed: `\pset` of psql. Not thread-safe.
public final class PrintOptions {
  /// When rows are printed one value below the other.
  public enum Expanded {
    OFF,
    ON,
    /// If a line would not fit the terminal.
    AUTO
  }

  public PrintFormat format = PrintFormat.ALIGNED;
  public Expanded expanded = Expanded.OFF;
  public boolean tuplesOnly;
  public boolean footer = true;
  public int border = 1;
  public String nullText = "";
  public String fieldSeparator = "|";
  public String recordSeparator = "\n";
  public String csvSeparator = ",";
  public String title = "";

  /// Columns of the terminal; 0: it is none.
  public int terminalColumns;

  /// Lines of the terminal; 0: it is none.
  public int terminalLines;

  /// Whether what is longer than the terminal is shown in a pager.
  public boolean pager = true;

  public PrintOptions copy() {
    PrintOptions copy = new PrintOptions();
    copy.format = format;
    copy.expanded = expanded;
    copy.tuplesOnly = tuplesOnly;
    copy.footer = footer;
    copy.border = border;
    copy.nullText = nullText;
    copy.fieldSeparator = fieldSeparator;
    copy.recordSeparator = recordSeparator;
    copy.csvSeparator = csvSeparator;
    copy.title = title;
    copy.terminalColumns = terminalColumns;
    copy.terminalLines = terminalLines;
    copy.pager = pager;
    return copy;
  }
}
