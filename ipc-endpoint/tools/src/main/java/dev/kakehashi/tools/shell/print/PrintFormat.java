package dev.kakehashi.tools.shell.print;

/// Forms of a result.
public enum PrintFormat {
  ALIGNED,
  UNALIGNED,
  CSV,
  JSON
}
