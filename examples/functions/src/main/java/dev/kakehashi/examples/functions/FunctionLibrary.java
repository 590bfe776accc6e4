package dev.kakehashi.examples.functions;

import dev.kakehashi.application.Application;
import dev.kakehashi.application.Definitions;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DayOfWeek;
import java.time.LocalDate;

/// Functions that SQL does not have.
public final class FunctionLibrary implements Application {
  /// Arguments of `workdays`.
  public record Range(LocalDate first, LocalDate last) {}

  /// A row of `workdays`.
  public record Day(LocalDate day, String name) {}

  @Override
  public void define(Definitions it) {
    it.function("luhn_valid", String.class, Boolean.class, FunctionLibrary::isLuhn)
        .immutable()
        .strict()
        .cost(20);
    it.function(
            "with_tax",
            BigDecimal.class,
            BigDecimal.class,
            BigDecimal.class,
            FunctionLibrary::withTax)
        .immutable()
        .strict();
    it.longFunction("mixed", FunctionLibrary::mixed).immutable().cost(2);
    it.doubleFunction("logistic", x -> 1 / (1 + Math.exp(-x))).immutable();
    it.tableFunction("workdays", Range.class, Day.class, FunctionLibrary::workdays)
        .immutable()
        .strict()
        .rows(20);
    it.aggregate("geometric_mean", Double.class, Double.class, new GeometricMean())
        .immutable()
        .strict();
  }

  /// Whether the digits of a text, as of a card's number, have a right check digit; spaces do not count.
  static boolean isLuhn(String text) {
    int sum = 0;
    int digits = 0;
    for (int i = text.length() - 1; i >= 0; i--) {
      char c = text.charAt(i);
      if (c == ' ') {
        continue;
      }
      if (c < '0' || c > '9') {
        return false;
      }
      int digit = (c - '0') << (digits & 1);
      sum += digit > 9 ? digit - 9 : digit;
      digits++;
    }
    return digits > 1 && sum % 10 == 0;
  }

  /// @param percent such as 8.1
  static BigDecimal withTax(BigDecimal net, BigDecimal percent) {
    return net.add(net.multiply(percent).movePointLeft(2)).setScale(2, RoundingMode.HALF_UP);
  }

  /// Spreads numbers over all 64 bits.
  static long mixed(long value) {
    long x = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    x = (x ^ (x >>> 27)) * 0x94d049bb133111ebL;
    return x ^ (x >>> 31);
  }

  /// Days but Saturdays and Sundays.
  static Iterable<Day> workdays(Range range) {
    return () ->
        range
            .first()
            .datesUntil(range.last().plusDays(1))
            .filter(day -> day.getDayOfWeek().compareTo(DayOfWeek.SATURDAY) < 0)
            .map(day -> new Day(day, day.getDayOfWeek().name()))
            .iterator();
  }
}
