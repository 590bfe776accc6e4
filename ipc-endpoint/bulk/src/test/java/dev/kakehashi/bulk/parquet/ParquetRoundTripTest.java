package dev.kakehashi.bulk.parquet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.bulk.parquet.page.ParquetCodec;
import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.bulk.parquet.page.ParquetOptions.Infinity;
import dev.kakehashi.bulk.value.MemoryFile;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ParquetRoundTripTest {
  private static final int TABLES = Integer.getInteger("kakehashi.parquet.tables", 12);

  private static ParquetOptions options(ParquetCodec codec, int rowGroupRows) {
    return new ParquetOptions(
        rowGroupRows, codec, Map.of(), null, Set.of(), Infinity.REFUSE, false, false, false);
  }

  private static List<String> dump(List<MemorySegment> batches, List<LoadColumn> columns) {
    List<String> rows = new ArrayList<>();
    batches.forEach(batch -> rows.addAll(ParquetTable.dump(batch, columns)));
    return rows;
  }

  @Test
  void shouldReadTheSameBitsThatWereWritten() {
    List<LoadColumn> columns = ParquetTable.allTypes();
    ParquetCodec[] codecs = {
      ParquetCodec.UNCOMPRESSED,
      ParquetCodec.SNAPPY,
      ParquetCodec.ZSTD,
      ParquetCodec.GZIP,
      ParquetCodec.LZ4_RAW
    };
    for (int i = 0; i < TABLES; i++) {
      ParquetTable table = new ParquetTable(i);
      int[] nulls = {0, 10, 50, 100};
      int[] varieties = {0, 3, 100};
      List<MemorySegment> batches = new ArrayList<>();
      for (int batch = 0; batch < i % 4; batch++) {
        batches.add(table.rows(columns, 1 + 577 * (i % 3), nulls[i % 4], varieties[i % 3]));
      }
      ParquetOptions options = options(codecs[i % 5], 1024 + i);
      MemoryFile file = ParquetFiles.write(columns, options, batches);
      assertEquals(dump(batches, columns), ParquetFiles.read(file, columns, options), "table " + i);
    }
  }
}
