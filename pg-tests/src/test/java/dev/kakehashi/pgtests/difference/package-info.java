/// Random statements over heap tables and over foreign tables of the same rows.
@org.jspecify.annotations.NullMarked
package dev.kakehashi.pgtests.difference;
