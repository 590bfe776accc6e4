package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The pages of a table, and those of them with room for rows. Thread-safe.
///
/// `pages` only grows (by replacing the array, under `roomLock`); an element is written once and published by the volatile write of
/// `pageCount`.
final class PageList {
  private final RowTable table;
  private volatile @Nullable Page[] pages = new Page[4];
  private volatile int pageCount;

  private final Object roomLock = new Object();

  /// Where rows are inserted now; replaced under `roomLock`.
  private volatile @Nullable Page insertPage;

  /// Other pages with room; guarded by `roomLock`.
  private final ArrayDeque<Page> roomy = new ArrayDeque<>();

  PageList(RowTable table) {
    this.table = table;
  }

  int count() {
    return pageCount;
  }

  /// Page by number; null if there never was a row there.
  @Nullable Page page(long number) {
    return number >= 0 && number < pageCount ? pages[(int) number] : null;
  }

  /// A latched page with room.
  Page latchRoom() {
    while (true) {
      Page page = insertPage;
      if (page != null) {
        page.latch();
        if (page.hasRoom()) {
          return page;
        }
        page.unlatch();
      }
      synchronized (roomLock) {
        if (insertPage == page) {
          Page next = roomy.poll();
          if (next == null) {
            next = addPage(pageCount);
          } else {
            next.listed = false;
          }
          insertPage = next;
        }
      }
    }
  }

  /// Puts a page that has got a good deal of room on the list.
  void offerRoom(Page page) {
    if (table.layout.rows - page.occupiedCount < Math.max(1, table.layout.rows / 16)
        || page == insertPage) {
      return;
    }
    synchronized (roomLock) {
      if (!page.listed && page != insertPage) {
        page.listed = true;
        roomy.add(page);
      }
    }
  }

  /// Page `number`, made if it is not there; during recovery.
  Page pageForRecovery(long number) {
    Page page = page(number);
    if (page != null) {
      return page;
    }
    synchronized (roomLock) {
      page = page(number);
      return page != null ? page : addPage(number);
    }
  }

  /// Puts the pages with room on the list; at the end of recovery.
  void finishRecovery() {
    for (int i = 0; i < pageCount; i++) {
      Page page = pages[i];
      if (page != null) {
        offerRoom(page);
      }
    }
  }

  private Page addPage(long number) {
    if (number >= Integer.MAX_VALUE - 8) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "table %d has too many pages".formatted(table.tableId()));
    }
    @Nullable Page[] present = pages;
    if (number >= present.length) {
      present = Arrays.copyOf(present, (int) Math.max(number + 1, present.length * 2L));
    }
    Page page = new Page(table, table.pool.allocatePage(), number);
    present[(int) number] = page;
    pages = present;
    pageCount = (int) Math.max(pageCount, number + 1);
    return page;
  }

  /// Takes all pages off the list, for them to be freed. Nobody uses the table any more.
  List<Page> clear() {
    int count = pageCount;
    pageCount = 0;
    List<Page> taken = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      Page page = pages[i];
      if (page != null) {
        taken.add(page);
      }
    }
    return taken;
  }
}
