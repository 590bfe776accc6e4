package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.version.RowReader;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.SplittableRandom;

/// A random sample of a table's visible rows: each is taken with the same probability, independently of the others.
///
/// The distances between the row slots that are looked at are drawn (geometric distribution), so that the work is that of the sample and
/// not that of the table; a slot without a visible row gives nothing.
final class SampleCursor implements RowCursor {
  private final RowTable table;
  private final RowReader reader;
  private final RowVersion version;
  private final int[] columns;
  private final double logOfOthers;
  private final SplittableRandom random;
  private final long endSlot;

  /// Slots are counted through all pages.
  private long nextSlot;

  /// @param fraction above 0, below 1
  SampleCursor(RowTable table, ReadView view, double fraction, long seed, int[] columns) {
    this.table = table;
    this.reader = new RowReader(table.store, view);
    this.version = new RowVersion(table.form.layout.columns);
    this.columns = columns;
    this.logOfOthers = Math.log1p(-fraction);
    this.random = new SplittableRandom(seed);
    this.endSlot = table.pageCount() * table.form.layout.rows;
    this.nextSlot = distance();
  }

  /// Slots that are passed over before the next one is taken.
  private long distance() {
    return (long) (Math.log(1 - random.nextDouble()) / logOfOthers);
  }

  @Override
  public boolean next(VectorBatch batch) {
    batch.reset();
    while (batch.size < batch.capacity && nextSlot < endSlot) {
      Page page = table.page(nextSlot / table.form.layout.rows);
      if (page != null
          && reader.read(page, (int) (nextSlot % table.form.layout.rows), version, columns)) {
        version.appendTo(batch, table.form.layout, columns);
      }
      nextSlot += 1 + distance();
    }
    return batch.size > 0;
  }

  @Override
  public void close() {
    nextSlot = endSlot;
    reader.end();
  }
}
