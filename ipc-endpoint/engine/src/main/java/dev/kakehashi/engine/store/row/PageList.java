package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The pages of a table, and those of them with room for rows. Thread-safe.
///
/// A page in which nothing is left gives its memory away, and gets new memory when the table needs a page again. Its number stays, so that
/// a row identifier means nothing else meanwhile.
///
/// `pages` only grows (by replacing the array, under `roomLock`); an element is written once and published by the volatile write of
/// `pageCount`.
public final class PageList {
  private final TableForm form;
  private volatile @Nullable Page[] pages = new Page[4];
  private volatile int pageCount;

  private final Object roomLock = new Object();

  /// Where rows are inserted now; replaced under `roomLock`.
  private volatile @Nullable Page insertPage;

  /// Other pages with room; guarded by `roomLock`.
  private final ArrayDeque<Page> roomy = new ArrayDeque<>();

  /// Pages without memory that are not among `roomy`; guarded by `roomLock`.
  private final ArrayDeque<Page> bare = new ArrayDeque<>();

  /// For readers in other processes; null: there are none. Guarded by `roomLock`.
  private final @Nullable PageDirectory directory;

  /// Changes of the form by transactions that have not ended; guarded by `roomLock`.
  private int formChanges;

  public PageList(TableForm form) {
    this.form = form;
    this.directory = PageDirectory.of(form.pool);
  }

  /// Where readers in other processes find the pages, see [dev.kakehashi.engine.store.memory.StoreHead]; 0: there are none.
  public long cell() {
    return directory == null ? 0 : directory.cell();
  }

  /// Readers in other processes ask from now on, until as many changes have ended as have begun.
  public void beginFormChange() {
    synchronized (roomLock) {
      if (formChanges++ == 0 && directory != null) {
        directory.end();
      }
    }
  }

  public void endFormChange() {
    synchronized (roomLock) {
      if (--formChanges == 0 && directory != null) {
        directory.complete();
      }
    }
  }

  /// The table goes: readers in other processes ask from now on.
  public void endSharing() {
    beginFormChange();
  }

  public int count() {
    return pageCount;
  }

  /// Page by number; null if there never was a row there.
  public @Nullable Page page(long number) {
    return number >= 0 && number < pageCount ? pages[(int) number] : null;
  }

  /// A latched page with room.
  public Page latchRoom() {
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
          insertPage = nextRoomy();
        }
      }
    }
  }

  /// A page with room for one who inserts many rows. Others mostly insert elsewhere until it is offered again.
  public Page takeRoom() {
    synchronized (roomLock) {
      return nextRoomy();
    }
  }

  /// A page that was not listed, or is not any more, with memory; made if there is none. The caller has `roomLock`, under which alone pages
  /// lose their memory.
  private Page nextRoomy() {
    for (Page next = roomy.poll(); next != null; next = roomy.poll()) {
      next.listed = false;
      if (next.hasMemory()) {
        return next;
      }
      bare.add(next);
    }
    Page next = bare.peek();
    if (next == null) {
      return addPage(pageCount);
    }
    long memory = form.pool.allocate(Page.stampBytes(form.layout));
    bare.remove();
    next.latch();
    next.revive(memory);
    next.unlatch();
    return next;
  }

  /// Puts a page that has got a good deal of room on the list. Called without its latch.
  public void offerRoom(Page page) {
    if (form.layout.rows - page.occupiedCount < Math.max(1, form.layout.rows / 16)
        || page == insertPage) {
      return;
    }
    synchronized (roomLock) {
      if (page.occupiedCount == 0 && page != insertPage && freeIfEmpty(page)) {
        return;
      }
      if (!page.listed && page != insertPage) {
        page.listed = true;
        roomy.add(page);
      }
    }
  }

  /// Frees the memory of a page if nothing is in it, under `roomLock`.
  ///
  /// @return whether it has none
  private boolean freeIfEmpty(Page page) {
    boolean had;
    boolean has;
    page.latch();
    try {
      had = page.hasMemory();
      page.freeIfEmpty();
      has = page.hasMemory();
    } finally {
      page.unlatch();
    }
    if (had && !has && !page.listed) {
      bare.add(page);
    }
    return !has;
  }

  /// Page `number`, made if it is not there; during recovery.
  public Page pageForRecovery(long number) {
    Page page = page(number);
    if (page != null) {
      return page;
    }
    synchronized (roomLock) {
      page = page(number);
      return page != null ? page : addPage(number);
    }
  }

  /// Page `number`, latched, with memory; made if it is not there. Rows come to places that are not looked for.
  public Page latchForReplay(long number) {
    while (true) {
      Page page = pageForRecovery(number);
      page.latch();
      if (page.hasMemory()) {
        return page;
      }
      page.unlatch();
      synchronized (roomLock) {
        if (!page.hasMemory()) {
          long memory = form.pool.allocate(Page.stampBytes(form.layout));
          bare.remove(page);
          page.latch();
          page.revive(memory);
          page.unlatch();
        }
      }
    }
  }

  /// Puts the pages with room on the list; at the end of recovery.
  public void finishRecovery() {
    for (int i = 0; i < pageCount; i++) {
      Page page = pages[i];
      if (page != null) {
        offerRoom(page);
      }
    }
  }

  private Page addPage(long number) {
    if (number >= 1L << RowIdentity.PAGE_BITS) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "table %d has too many pages".formatted(form.tableId()));
    }
    @Nullable Page[] present = pages;
    if (number >= present.length) {
      present = Arrays.copyOf(present, (int) Math.max(number + 1, present.length * 2L));
    }
    Page page = newPage(number);
    present[(int) number] = page;
    pages = present;
    pageCount = (int) Math.max(pageCount, number + 1);
    return page;
  }

  private Page newPage(long number) {
    long header = 0;
    long stamps = 0;
    try {
      header = SharedPage.make(form.pool, form.layout.columns);
      if (directory != null) {
        directory.reserve(number);
      }
      stamps = form.pool.allocate(Page.stampBytes(form.layout));
    } finally {
      if (stamps == 0) {
        SharedPage.free(header, form.pool);
      }
    }
    Page page = new Page(form, stamps, header, number);
    if (directory != null) {
      directory.put(number, header);
    }
    return page;
  }

  /// Takes all pages off the list, for them to be freed. Nobody uses the table any more.
  public List<Page> clear() {
    if (directory != null) {
      synchronized (roomLock) {
        directory.free();
      }
    }
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
