package dev.kakehashi.fuzz;

import dev.kakehashi.bulk.csv.CsvFormat;
import dev.kakehashi.bulk.csv.CsvOptions;
import java.util.Arrays;

/// A file of CSV or text format. The first byte chooses options, the rest is the file.
final class DelimitedTarget implements FuzzTarget {
  private final boolean isCsv;

  DelimitedTarget(boolean isCsv) {
    this.isCsv = isCsv;
  }

  @Override
  public void run(byte[] input) {
    if (input.length == 0) {
      return;
    }
    int choice = input[0];
    CsvOptions.Builder options = CsvOptions.builder(isCsv);
    switch (choice & 3) {
      case 1 -> options.header(CsvOptions.Header.MATCH);
      case 2 -> options.header(CsvOptions.Header.SKIP);
      default -> {
        // Without a header.
      }
    }
    if ((choice & 4) != 0) {
      options.delimiter(";");
    }
    if ((choice & 8) != 0) {
      options.nullText("NULL");
    }
    if ((choice & 16) != 0 && isCsv) {
      options.escape("\\");
    }
    if ((choice & 32) != 0) {
      options.compression(CsvOptions.Compression.GZIP);
    }
    byte[] file = Arrays.copyOfRange(input, 1, input.length);
    new RowsTarget(new CsvFormat(options.build(true))).run(file);
  }
}
