package dev.kakehashi.examples.batch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;

/// The job of Spark: each dump is a view of its name, and the result of each query is written as Parquet.
///
/// Knows nothing of Kakehashi: it reads files and writes files.
public final class SparkJob {
  private SparkJob() {}

  /// @param arguments the manifest of the dumps, the directory of queries, the new directory of the results
  public static void main(String[] arguments) throws IOException {
    Path manifest = Path.of(arguments[0]);
    Path queries = Path.of(arguments[1]);
    Path results = Path.of(arguments[2]);
    Map<String, List<String>> dumps = new TreeMap<>();
    for (DumpedFile file : DumpedFile.read(manifest)) {
      dumps.computeIfAbsent(file.dump(), name -> new ArrayList<>()).add(file.path().toString());
    }
    try (SparkSession spark = session()) {
      System.out.println("spark: begun");
      // Files, not directories: the values of partition_by are in the files with their types, and
      // guessed in the names.
      dumps.forEach((name, files) ->
          spark.read().parquet(files.toArray(new String[0])).createOrReplaceTempView(name));
      for (Query query : Query.readAll(queries)) {
        spark
            .sql(query.text())
            .write()
            .mode(SaveMode.ErrorIfExists)
            .parquet(results.resolve(query.name()).toUri().toString());
        System.out.println("spark: wrote " + query.name());
      }
    }
    if (!Files.isDirectory(results)) {
      throw new IOException("there is no query in " + queries);
    }
  }

  private static SparkSession session() {
    return SparkSession.builder()
        .appName("batch")
        .master(System.getProperty("spark.master", "local[2]"))
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "4")
        // Values as they are: no calendar but the Gregorian, no zone but UTC, an error instead of
        // null.
        .config("spark.sql.ansi.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
        .config("spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED")
        .config("spark.sql.parquet.datetimeRebaseModeInWrite", "CORRECTED")
        .config("spark.sql.parquet.int96RebaseModeInRead", "CORRECTED")
        .config("spark.sql.parquet.int96RebaseModeInWrite", "CORRECTED")
        // A job that dies leaves no file under its name before all of its tasks have ended.
        .config("spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version", "1")
        .getOrCreate();
  }
}
