package dev.kakehashi.bulk.option;

import dev.kakehashi.bulk.arrow.ArrowFormat;
import dev.kakehashi.bulk.arrow.ArrowOptions;
import dev.kakehashi.bulk.csv.CsvFormat;
import dev.kakehashi.bulk.csv.CsvOptions;
import dev.kakehashi.bulk.format.FileFormat;
import dev.kakehashi.bulk.json.JsonFormat;
import dev.kakehashi.bulk.parquet.ParquetFormat;
import dev.kakehashi.bulk.parquet.page.ParquetCodec;
import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.NearestWord;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The formats that there are. Stateless.
public final class FileFormats implements FormatMaker {
  private static final long ROW_GROUP_ROWS = 122_880;
  private static final long RECORD_BATCH_ROWS = 65_536;

  @Override
  public FileFormat of(CopyOptions options, String fileName) {
    return switch (options.format()) {
      case TEXT, CSV -> new CsvFormat(csv(options, fileName));
      case JSON -> json(options, fileName);
      case PARQUET -> new ParquetFormat(parquet(options));
      case ARROW, ARROW_STREAM -> new ArrowFormat(arrow(options));
    };
  }

  private static CsvOptions csv(CopyOptions options, String fileName) {
    CsvOptions.Builder builder = CsvOptions.builder(options.format() == BulkFormat.CSV);
    String text = options.text(CopyOption.DELIMITER);
    if (text != null) {
      builder.delimiter(text);
    }
    text = options.text(CopyOption.NULL);
    if (text != null) {
      builder.nullText(text);
    }
    text = options.text(CopyOption.DEFAULT);
    if (text != null) {
      builder.defaultText(text);
    }
    text = options.text(CopyOption.QUOTE);
    if (text != null) {
      builder.quote(text);
    }
    text = options.text(CopyOption.ESCAPE);
    if (text != null) {
      builder.escape(text);
    }
    text = options.text(CopyOption.ENCODING);
    if (text != null) {
      builder.encoding(text);
    }
    builder.header(header(options));
    builder.setsNull(options.onError().equals("set_null"));
    builder.forceQuote(columns(options, CopyOption.FORCE_QUOTE));
    builder.forceNotNull(columns(options, CopyOption.FORCE_NOT_NULL));
    builder.forceNull(columns(options, CopyOption.FORCE_NULL));
    builder.compression(compression(options, fileName));
    return builder.build(options.isLoad());
  }

  private static CsvOptions.Header header(CopyOptions options) {
    CsvOptions.Header written = writtenHeader(options);
    if (options.choice(CopyOption.MATCH_BY, "position", "name").equals("position")) {
      return written;
    }
    if (written.equals(CsvOptions.Header.MATCH)) {
      // All names, in their order: by name they belong together, too.
      return written;
    }
    if (!written.equals(CsvOptions.Header.SKIP)) {
      throw options
          .invalid(CopyOption.MATCH_BY, "match_by name needs header")
          .withHint("As header true.");
    }
    return CsvOptions.Header.NAMES;
  }

  private static CsvOptions.Header writtenHeader(CopyOptions options) {
    if (!options.has(CopyOption.HEADER)) {
      return CsvOptions.Header.NONE;
    }
    List<String> values = options.names(CopyOption.HEADER);
    if (values.isEmpty()) {
      return CsvOptions.Header.SKIP;
    }
    String text = values.getFirst();
    Boolean isOn = values.size() == 1 ? CopyOptions.parse(text) : null;
    if (isOn != null) {
      return isOn ? CsvOptions.Header.SKIP : CsvOptions.Header.NONE;
    }
    if (values.size() == 1 && text.equalsIgnoreCase("match")) {
      return CsvOptions.Header.MATCH;
    }
    Integer lines = values.size() == 1 ? lines(text) : null;
    if (lines == null) {
      throw new EngineException(
              ErrorCode.SYNTAX_ERROR,
              "header requires a Boolean value, an integer value greater than or equal to zero, or the string \"match\"")
          .withPosition(options.position(CopyOption.HEADER));
    }
    if (lines < 0) {
      throw options.invalid(
          CopyOption.HEADER, "a negative integer value cannot be specified for header");
    }
    return CsvOptions.Header.skip(lines);
  }

  private static @Nullable Integer lines(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return null;
    }
  }

  private static JsonFormat json(CopyOptions options, String fileName) {
    return new JsonFormat(
        options.isOn(CopyOption.FORCE_ARRAY), compression(options, fileName).coding());
  }

  private static CsvOptions.Columns columns(CopyOptions options, CopyOption option) {
    return options.has(option)
        ? CsvOptions.Columns.of(options.names(option))
        : CsvOptions.Columns.NONE;
  }

  private static CsvOptions.Compression compression(CopyOptions options, String fileName) {
    String chosen = options.choice(CopyOption.COMPRESSION, "auto", "none", "gzip", "zstd");
    return switch (chosen) {
      case "none" -> CsvOptions.Compression.NONE;
      case "gzip" -> CsvOptions.Compression.GZIP;
      case "zstd" -> CsvOptions.Compression.ZSTD;
      default ->
          options.isLoad() ? CsvOptions.Compression.AUTO : CsvOptions.Compression.ofName(fileName);
    };
  }

  private static ParquetOptions parquet(CopyOptions options) {
    ParquetCodec codec = parquetCodec(options, codecOption(options), codecName(options, "zstd"));
    Map<String, ParquetCodec> columnCodecs = new HashMap<>();
    for (String each : options.names(CopyOption.COLUMN_CODEC)) {
      int space = Math.max(each.lastIndexOf(' '), each.lastIndexOf('='));
      if (space < 1) {
        throw options.invalid(
            CopyOption.COLUMN_CODEC, "column_codec needs a codec after \"" + each + "\"");
      }
      columnCodecs.put(
          each.substring(0, space).strip(),
          parquetCodec(options, CopyOption.COLUMN_CODEC, each.substring(space + 1).strip()));
    }
    return new ParquetOptions(
        (int)
            options.count(
                CopyOption.ROW_GROUP_ROWS,
                ParquetOptions.MIN_ROW_GROUP_ROWS,
                ParquetOptions.MAX_ROW_GROUP_ROWS,
                ROW_GROUP_ROWS),
        codec,
        columnCodecs,
        numericType(options),
        new HashSet<>(options.names(CopyOption.TEXT_COLUMNS)),
        switch (options.choice(CopyOption.INFINITY, "error", "text", "null")) {
          case "text" -> ParquetOptions.Infinity.TEXT;
          case "null" -> ParquetOptions.Infinity.NULL;
          default -> ParquetOptions.Infinity.REFUSE;
        },
        isByPosition(options),
        refusesExtra(options),
        options.isOn(CopyOption.TRUNCATE));
  }

  private static CopyOption codecOption(CopyOptions options) {
    return options.has(CopyOption.CODEC) ? CopyOption.CODEC : CopyOption.COMPRESSION;
  }

  private static String codecName(CopyOptions options, String otherwise) {
    String codec = options.text(CopyOption.CODEC);
    String compression = options.text(CopyOption.COMPRESSION);
    if (codec != null && compression != null) {
      throw options.invalid(CopyOption.CODEC, "codec and compression are one option");
    }
    if (codec != null) {
      return codec;
    }
    return compression == null || compression.equalsIgnoreCase("auto") ? otherwise : compression;
  }

  private static ParquetCodec parquetCodec(CopyOptions options, CopyOption option, String name) {
    ParquetCodec codec = ParquetCodec.named(name);
    if (codec == null) {
      throw options
          .invalid(option, "codec \"" + name + "\" not recognized")
          .withHint(NearestWord.hint(name, List.of("none", "snappy", "gzip", "zstd", "lz4")));
    }
    return codec;
  }

  private static ParquetOptions.@Nullable NumericType numericType(CopyOptions options) {
    List<String> values = options.names(CopyOption.NUMERIC_AS);
    if (values.isEmpty() || values.equals(List.of("text"))) {
      return null;
    }
    try {
      return new ParquetOptions.NumericType(
          Integer.parseInt(values.getFirst()),
          values.size() > 1 ? Integer.parseInt(values.get(1)) : 0);
    } catch (IllegalArgumentException e) {
      throw options
          .invalid(
              CopyOption.NUMERIC_AS, "numeric_as has to be a precision from 1 to 76 and a scale")
          .withHint("As numeric_as (38, 10).");
    }
  }

  private static boolean isByPosition(CopyOptions options) {
    return options.choice(CopyOption.MATCH_BY, "name", "position").equals("position");
  }

  private static boolean refusesExtra(CopyOptions options) {
    return options.choice(CopyOption.EXTRA_COLUMNS, "ignore", "error").equals("error");
  }

  private static ArrowOptions arrow(CopyOptions options) {
    String name = codecName(options, "none");
    ArrowOptions.Codec codec =
        switch (name.toLowerCase(Locale.ROOT)) {
          case "none", "uncompressed" -> ArrowOptions.Codec.NONE;
          case "lz4" -> ArrowOptions.Codec.LZ4;
          case "zstd" -> ArrowOptions.Codec.ZSTD;
          default ->
              throw options
                  .invalid(codecOption(options), "codec \"" + name + "\" not recognized")
                  .withHint(NearestWord.hint(name, List.of("none", "lz4", "zstd")));
        };
    return new ArrowOptions(
        options.format() == BulkFormat.ARROW_STREAM,
        codec,
        (int)
            options.count(
                CopyOption.ROW_GROUP_ROWS, 1, ArrowOptions.MAX_BATCH_ROWS, RECORD_BATCH_ROWS),
        new HashSet<>(options.names(CopyOption.TEXT_COLUMNS)),
        switch (options.choice(CopyOption.INFINITY, "error", "text", "null")) {
          case "text" -> ArrowOptions.Infinity.TEXT;
          case "null" -> ArrowOptions.Infinity.NULL;
          default -> ArrowOptions.Infinity.REFUSE;
        },
        isByPosition(options),
        refusesExtra(options),
        options.isOn(CopyOption.TRUNCATE));
  }
}
